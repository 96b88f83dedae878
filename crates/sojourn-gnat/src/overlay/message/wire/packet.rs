//! Packets of flows: to one member, after the kind its place and the packet's headers, and of one
//! with a deadline before these the deadline (4) and the members passed (8); to several, the stream
//! (2), the set of destinations (8) and the headers.

use std::sync::Arc;

use super::bytes::{Reader, of_time};
use super::header;
use crate::overlay::message::{Copies, NUMBER, NUMBER_AND_SET, Parcel, TIMED};
use sojourn_base::packet::Packet;
use sojourn_base::units::Time;

/// Appends a packet to one member.
pub(super) fn put_parcel(parcel: &Parcel, out: &mut Vec<u8>) {
    // An overlay has at most 64 members.
    out.push(parcel.to as u8);
    if let Some(due) = parcel.due {
        out.extend(of_time(due));
        out.extend(parcel.seen.to_be_bytes());
    }
    header::put(&parcel.packet, out);
}

/// Reads one of this many bytes as a message, with a deadline or without.
pub(super) fn parcel(bytes: u32, timed: bool, reader: &mut Reader<'_>) -> Option<Parcel> {
    let to = reader.u8()?.into();
    let (mut due, mut seen) = (None, 0);
    if timed {
        (due, seen) = (Some(reader.time()?), reader.u64()?);
    }
    let size = bytes.checked_sub(if timed { TIMED } else { NUMBER })?;
    let packet = Arc::new(Packet { size, ..header::packet(reader)? });
    Some(Parcel { packet, size, to, due, seen })
}

/// Appends a packet to several members.
pub(super) fn put_copies(copies: &Copies, out: &mut Vec<u8>) {
    out.extend(copies.stream.to_be_bytes());
    out.extend(copies.to.to_be_bytes());
    header::put(&copies.packet, out);
}

/// Reads one of this many bytes as a message.
pub(super) fn copies(bytes: u32, reader: &mut Reader<'_>) -> Option<Copies> {
    let (stream, to) = (reader.u16()?, reader.u64()?);
    let size = bytes.checked_sub(NUMBER_AND_SET)?;
    let packet = Arc::new(Packet { size, ..header::packet(reader)? });
    Some(Copies { packet, size, stream, to, since: Time::ZERO })
}
