//! Zombies, depths of queues, and links.
//!
//! | message | bytes after the kind |
//! | --- | --- |
//! | zombie | zeros |
//! | depths | number 4, members told 1, groups told 2; of each member its place 1, all bytes 4, latency-sensitive ones 4; of each group its number 2, members told 1, zeros 2, and of each place 1, bytes 4, zeros 4 |
//! | links | member 1, number 4, zeros 2; of each link the other member 1, mean 2 and deviation 2 of its delay in steps of 100 µs |

use std::sync::Arc;

use super::bytes::Reader;
use crate::overlay::message::{Cargo, Delay, Depths, EMPTY_PACKET, LinkState, ZOMBIE_NUMBER};

/// Reads a zombie from a message of this many bytes.
pub(super) fn zombie(bytes: u32) -> Option<Cargo> {
    let bytes = bytes.checked_sub(ZOMBIE_NUMBER)?;
    (bytes >= EMPTY_PACKET).then_some(Cargo::Zombie(bytes))
}

/// The members whose depth is told, and their places.
fn told<T>(all: &[T], depth: impl Fn(&T) -> f64) -> impl Iterator<Item = (u8, &T)> {
    let told = all.iter().enumerate().filter(move |(_, each)| depth(each) > 0.0);
    // An overlay has at most 64 members.
    told.map(|(place, each)| (place as u8, each))
}

/// A depth in whole bytes; one that is told is none of zero.
fn whole(depth: f64) -> [u8; 4] {
    (depth.ceil() as u32).to_be_bytes()
}

/// Appends depths of queues.
pub(super) fn put_depths(depths: &Depths, out: &mut Vec<u8>) {
    let members = || told(&depths.bytes, |bytes| bytes[0]);
    let of_group = |group| told(group, |depth: &f64| *depth);
    let groups = depths.groups.iter().enumerate();
    let groups = groups.filter(|(_, group)| of_group(group).next().is_some());
    out.extend(depths.number.to_be_bytes());
    out.push(members().count() as u8);
    out.extend((groups.clone().count() as u16).to_be_bytes());
    for (place, [all, timed]) in members() {
        out.push(place);
        out.extend(whole(*all));
        out.extend(whole(*timed));
    }
    for (number, group) in groups {
        out.extend((number as u16).to_be_bytes());
        out.push(of_group(group).count() as u8);
        out.extend([0; 2]);
        for (place, depth) in of_group(group) {
            out.push(place);
            out.extend(whole(*depth));
            out.extend([0; 4]);
        }
    }
}

/// The entry of a place, which comes after all before it, with none of those between.
fn place<T: Clone + Default>(all: &mut Vec<T>, place: usize) -> Option<&mut T> {
    if place < all.len() {
        return None;
    }
    all.resize(place + 1, T::default());
    all.last_mut()
}

/// Reads depths of queues.
pub(super) fn depths(reader: &mut Reader<'_>) -> Option<Depths> {
    let (number, members, told) = (reader.u32()?, reader.u8()?, reader.u16()?);
    let mut bytes = Vec::new();
    for _ in 0..members {
        let entry = place(&mut bytes, reader.u8()?.into())?;
        *entry = [f64::from(reader.u32()?), f64::from(reader.u32()?)];
    }
    let mut groups = Vec::new();
    for _ in 0..told {
        let group = place(&mut groups, reader.u16()?.into())?;
        let members = reader.u8()?;
        reader.u16()?;
        for _ in 0..members {
            let depth = place(group, reader.u8()?.into())?;
            *depth = reader.u32()?.into();
            reader.u32()?;
        }
    }
    reader.is_empty().then(|| Depths::new(number, bytes, Arc::new(groups)))
}

/// Appends an advertisement of links.
pub(super) fn put_link_state(state: &LinkState, out: &mut Vec<u8>) {
    out.push(state.origin as u8);
    out.extend(state.number.to_be_bytes());
    out.extend([0; 2]);
    for (to, delay) in &state.links {
        out.push(*to as u8);
        delay.steps().iter().for_each(|steps| out.extend(steps.to_be_bytes()));
    }
}

/// Reads an advertisement of links.
pub(super) fn link_state(reader: &mut Reader<'_>) -> Option<LinkState> {
    let (origin, number) = (reader.u8()?.into(), reader.u32()?);
    reader.u16()?;
    let mut links = Vec::new();
    while !reader.is_empty() {
        let to = reader.u8()?.into();
        links.push((to, Delay::of_steps([reader.u16()?, reader.u16()?])));
    }
    Some(LinkState { origin, number, links })
}
