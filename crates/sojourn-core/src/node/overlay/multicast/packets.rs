//! Packets of a group: in order, and by the destinations that they are still for.
//!
//! A node looks for the packet that suits best whenever a neighbour has room. Those for the same
//! destinations suit alike, so that the oldest of each set is all there is to look at.

use std::collections::{BTreeMap, BTreeSet};

use super::Parcel;
use super::forward::Gradients;
use crate::node::overlay::neighbours::bits as members;

/// Packets in order.
#[derive(Debug)]
pub struct Packets {
    /// By number, which counts those that came.
    all: BTreeMap<u64, Parcel>,
    /// Those for the same destinations, in no order.
    alike: Vec<Alike>,
    next: u64,
    /// How many are searched, how many there are of these, and the number of the last.
    search: usize,
    inside: usize,
    edge: u64,
}

/// Packets for the same destinations.
#[derive(Debug)]
struct Alike {
    to: u64,
    oldest: u64,
    numbers: BTreeSet<u64>,
}

/// A packet that suits.
#[derive(Clone, Copy, Debug)]
struct Found {
    number: u64,
    both: u64,
    score: f64,
}

impl Packets {
    /// None yet; so many are searched.
    pub fn new(search: usize) -> Self {
        let all = BTreeMap::new();
        Packets { all, alike: vec![], next: 0, search, inside: 0, edge: 0 }
    }

    /// Takes a packet in.
    pub fn push(&mut self, parcel: Parcel) {
        let number = self.next;
        self.next += 1;
        self.join(parcel.to, number);
        self.all.insert(number, parcel);
        if self.inside < self.search {
            self.inside += 1;
            self.edge = number;
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        self.all.values().map(|parcel| u64::from(parcel.packet.size)).sum()
    }

    /// The oldest for a member.
    pub fn first(&self, member: usize) -> Option<&Parcel> {
        let sets = self.alike.iter().filter(|alike| alike.to >> member & 1 == 1);
        self.all.get(&sets.map(|alike| alike.oldest).min()?)
    }

    /// Members that a packet is still for, as bits.
    pub fn destinations(&self, number: u64) -> u64 {
        self.all.get(&number).map_or(0, |parcel| parcel.to)
    }

    /// Takes a packet out for some of its destinations; for the others it stays. Also whether it
    /// stays.
    pub fn take(&mut self, number: u64, set: u64) -> Option<(Parcel, bool)> {
        let parcel = self.all.get_mut(&number)?;
        let taken = Parcel { to: parcel.to & set, ..parcel.clone() };
        let (before, rest) = (parcel.to, parcel.to & !set);
        parcel.to = rest;
        self.leave(before, number);
        if rest != 0 {
            self.join(rest, number);
        } else {
            self.all.remove(&number);
            self.draw_in(number);
        }
        Some((taken, rest != 0))
    }

    fn join(&mut self, to: u64, number: u64) {
        match self.alike.iter_mut().find(|alike| alike.to == to) {
            Some(alike) => {
                alike.numbers.insert(number);
                alike.oldest = alike.oldest.min(number);
            }
            None => self.alike.push(Alike { to, oldest: number, numbers: [number].into() }),
        }
    }

    fn leave(&mut self, to: u64, number: u64) {
        let Some(place) = self.alike.iter().position(|alike| alike.to == to) else { return };
        let alike = &mut self.alike[place];
        alike.numbers.remove(&number);
        match alike.numbers.first() {
            Some(oldest) => alike.oldest = *oldest,
            None => drop(self.alike.swap_remove(place)),
        }
    }

    /// One that was searched is gone: another comes to be.
    fn draw_in(&mut self, gone: u64) {
        if gone > self.edge {
            return;
        }
        match self.all.range(self.edge + 1..).next() {
            Some((number, _)) => self.edge = *number,
            None => self.inside -= 1,
        }
    }

    /// The packet whose destinations in a set have most of the gradient, the oldest of those alike,
    /// and which these are. Where none that is searched is for any, the first beyond.
    pub fn suits(&self, set: u64, each: &Gradients) -> Option<(u64, u64)> {
        let mut best: Option<Found> = None;
        let mut beyond: Option<(u64, u64)> = None;
        for Alike { to, oldest: number, .. } in &self.alike {
            let (both, number) = (to & set, *number);
            if both == 0 {
                continue;
            }
            if number > self.edge {
                let nearer = beyond.is_none_or(|(nearest, _)| number < nearest);
                beyond = if nearer { Some((number, both)) } else { beyond };
                continue;
            }
            let score = match best {
                Some(best) if best.both == both => best.score,
                // All gradients are positive: less than the best.
                Some(best) if both & !best.both == 0 => continue,
                _ => members(both).map(|to| each[to]).sum(),
            };
            let better =
                |best: Found| score > best.score || score == best.score && number < best.number;
            if best.is_none_or(better) {
                best = Some(Found { number, both, score });
            }
        }
        best.map(|best| (best.number, best.both)).or(beyond)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::node::overlay::together::MOST_MEMBERS;
    use crate::packet::Packet;

    /// The same by looking at one packet after another.
    fn one_by_one(packets: &Packets, set: u64, each: &Gradients) -> Option<(u64, u64)> {
        let mut best: Option<Found> = None;
        for (place, (number, parcel)) in packets.all.iter().enumerate() {
            if place >= packets.search && best.is_some() {
                break;
            }
            let both = parcel.to & set;
            let score: f64 = members(both).map(|to| each[to]).sum();
            if both != 0 && best.is_none_or(|best| score > best.score) {
                best = Some(Found { number: *number, both, score });
            }
        }
        best.map(|best| (best.number, best.both))
    }

    proptest! {
        /// What is found by sets is what a search through the queue finds.
        #[test]
        fn the_packet_that_suits_is_that_of_a_search_one_by_one(
            search in 1_usize..12,
            gradients in prop::collection::vec(1_u32..5, 6),
            steps in prop::collection::vec((1_u64..64, 1_u64..64, 0_usize..3), 1..80),
        ) {
            let mut each = [0.0; MOST_MEMBERS];
            for (each, gradient) in each.iter_mut().zip(gradients) {
                *each = f64::from(gradient);
            }
            let mut packets = Packets::new(search);
            for (to, set, pushes) in steps {
                for more in 0..pushes as u64 {
                    let to = (to + more) % 63 + 1;
                    packets.push(Parcel::new(Packet::default().into(), 0, to));
                }
                let found = packets.suits(set, &each);
                prop_assert_eq!(found, one_by_one(&packets, set, &each));
                for member in 0..6 {
                    let first = packets.all.values().find(|parcel| parcel.to >> member & 1 == 1);
                    let [first, known] = [first, packets.first(member)].map(|p| p.map(|p| p.to));
                    prop_assert_eq!(first, known);
                }
                if let Some((number, both)) = found {
                    packets.take(number, both);
                }
            }
        }
    }
}
