//! Bytes of messages: what a node writes into the payload of its path controller, in exactly as many
//! bytes as the simulator counts.
//!
//! A message begins with its kind; numbers are big-endian. The headers that a flow's packet has, and
//! that the overlay counts, are room enough for what the overlay tells of it; zeros follow. Depths of
//! queues become whole bytes, times the lowest 32 bits of their microseconds. Of a packet's address
//! only flow and direction are told: sockets follow from them, and its route lies behind it.
//!
//! The bytes of an application follow the headers of their segment; an IP packet of an application is
//! there whole, in place of headers.
//!
//! What has no bytes, a packet of the erasure code or one with more headers than bytes, is written as
//! nothing, and what cannot be read is read as nothing.
//!
//! | part | module |
//! | --- | --- |
//! | numbers from bytes and to bytes | `bytes` |
//! | a packet's own header, and its transport's | `header` |
//! | packets of flows | `packet` |
//! | zombies, depths of queues, links | `signals` |
//! | which messages a node can take | `bounds` |
//! | times of several nodes' clocks | `times` |

mod bounds;
mod bytes;
mod header;
mod packet;
mod signals;
#[cfg(test)]
mod tests;
mod times;

pub use bounds::Bounds;
pub use times::WireTimes;

use super::Cargo;
use bytes::Reader;
use sojourn_sliq::Payload;

/// Kinds, by their first byte. Zero is nothing.
const PARCEL: u8 = 1;
const TIMED: u8 = 2;
const COPIES: u8 = 3;
const ZOMBIE: u8 = 4;
const DEPTHS: u8 = 5;
const LINK_STATE: u8 = 6;
/// Applications' IP packets: to one member, with a deadline, to several.
const IP: u8 = 7;
const IP_TIMED: u8 = 8;
const COPIES_IP: u8 = 9;

/// Appends a message.
pub(super) fn put(cargo: &Cargo, out: &mut Vec<u8>) {
    let (begin, length) = (out.len(), cargo.len());
    match cargo {
        Cargo::Parcel(parcel) if parcel.packet.ip().is_some() => {
            out.push(if parcel.due.is_some() { IP_TIMED } else { IP });
            packet::put_parcel(parcel, out);
        }
        Cargo::Parcel(parcel) => {
            out.push(if parcel.due.is_some() { TIMED } else { PARCEL });
            packet::put_parcel(parcel, out);
        }
        Cargo::Copies(copies) => {
            out.push(if copies.packet.ip().is_some() { COPIES_IP } else { COPIES });
            packet::put_copies(copies, out);
        }
        Cargo::Zombie(_) => out.push(ZOMBIE),
        Cargo::Depths(depths) => {
            out.push(DEPTHS);
            signals::put_depths(depths, out);
        }
        Cargo::LinkState(state) => {
            out.push(LINK_STATE);
            signals::put_link_state(state, out);
        }
        Cargo::Nothing | Cargo::Coded(..) => {}
    }
    if out.len() - begin > length {
        out.truncate(begin);
    }
    out.resize(begin + length, 0);
}

impl From<&[u8]> for Cargo {
    fn from(bytes: &[u8]) -> Self {
        read(bytes).filter(|cargo| cargo.len() == bytes.len()).unwrap_or_default()
    }
}

fn read(bytes: &[u8]) -> Option<Cargo> {
    let size = u16::try_from(bytes.len()).ok()?.into();
    let mut reader = Reader::new(bytes);
    match reader.u8()? {
        kind @ (PARCEL | TIMED | IP | IP_TIMED) => {
            let (timed, ip) = (matches!(kind, TIMED | IP_TIMED), kind >= IP);
            packet::parcel(size, timed, ip, &mut reader).map(Cargo::Parcel)
        }
        kind @ (COPIES | COPIES_IP) => {
            packet::copies(size, kind == COPIES_IP, &mut reader).map(Cargo::Copies)
        }
        ZOMBIE => signals::zombie(size),
        DEPTHS => signals::depths(&mut reader).map(|depths| Cargo::Depths(depths.into())),
        LINK_STATE => signals::link_state(&mut reader).map(|state| Cargo::LinkState(state.into())),
        _ => None,
    }
}
