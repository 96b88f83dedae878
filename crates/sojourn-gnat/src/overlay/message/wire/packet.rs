//! Packets of flows: to one member, after the kind its place and the packet's headers, and of one
//! with a deadline before these the deadline (4) and the members passed (8); to several, the stream
//! (2), the set of destinations (8) and the headers. The bytes of an application's segment follow;
//! an IP packet of an application is in place of the headers.

use std::sync::Arc;

use super::bytes::{Reader, of_time};
use super::header;
use crate::overlay::message::{Carried, Copies, NUMBER, NUMBER_AND_SET, Parcel, SHORTEST, TIMED};
use crate::overlay::numbers::opener;
use sojourn_base::packet::{Header, Packet};
use sojourn_base::units::Time;

/// Appends a packet to one member.
pub(super) fn put_parcel(parcel: &Parcel, out: &mut Vec<u8>) {
    // An overlay has at most 64 members.
    out.push(parcel.to as u8);
    if let Some(due) = parcel.due {
        out.extend(of_time(due));
        out.extend(parcel.seen.to_be_bytes());
    }
    put_carried(&parcel.packet, out);
}

/// Reads one of this many bytes as a message, with a deadline or without, an application's IP packet or another one.
pub(super) fn parcel(bytes: u32, timed: bool, ip: bool, reader: &mut Reader<'_>) -> Option<Parcel> {
    let to = reader.u8()?.into();
    let (mut due, mut seen) = (None, 0);
    if timed {
        (due, seen) = (Some(reader.time()?), reader.u64()?);
    }
    let size = bytes.checked_sub(if timed { TIMED } else { NUMBER })?;
    let packet = Arc::new(carried(size, ip, reader)?);
    Some(Parcel { packet, size, to, due, seen })
}

/// Appends a packet to several members.
pub(super) fn put_copies(copies: &Copies, out: &mut Vec<u8>) {
    out.extend(copies.stream.to_be_bytes());
    out.extend(copies.to.to_be_bytes());
    put_carried(&copies.packet, out);
}

/// Reads one of this many bytes as a message, an application's IP packet or another one.
pub(super) fn copies(bytes: u32, ip: bool, reader: &mut Reader<'_>) -> Option<Copies> {
    let (stream, to) = (reader.u16()?, reader.u64()?);
    let size = bytes.checked_sub(NUMBER_AND_SET)?;
    let packet = Arc::new(carried(size, ip, reader)?);
    Some(Copies { packet, size, stream, to, since: Time::ZERO })
}

fn put_carried(carried: &Carried, out: &mut Vec<u8>) {
    if carried.ip().is_none() {
        header::put(carried, out);
    }
    out.extend(carried.bytes.iter().flat_map(|bytes| bytes.iter()));
}

/// Reads a packet of this size: an application's IP packet, or one with headers, after which come the
/// bytes of an application's segment.
fn carried(size: u32, ip: bool, reader: &mut Reader<'_>) -> Option<Carried> {
    if ip {
        let length = (size as usize >= SHORTEST).then_some(size as usize)?;
        return Some(Carried::datagram(reader.bytes(length)?.into()));
    }
    let packet = Packet { size, ..header::packet(reader)? };
    let bytes = match &packet.header {
        Header::Segment(segment) if segment.payload > 0 && opener(packet.flow).is_some() => {
            Some(reader.bytes(segment.payload.into())?.into())
        }
        _ => None,
    };
    Some(Carried { packet, bytes })
}
