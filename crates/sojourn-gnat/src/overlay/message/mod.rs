//! Messages between overlay nodes, as payloads of their path controllers.

mod carried;
mod copies;
mod depths;
mod link_state;
mod parcel;
mod wire;

pub use carried::Carried;
pub(crate) use carried::SHORTEST;
pub use copies::{Copies, NUMBER_AND_SET};
pub use depths::Depths;
pub use link_state::{Delay, LinkState};
pub use parcel::{Class, NUMBER, Parcel, TIMED};
pub use wire::{Bounds, WireTimes};

use std::ops::Range;
use std::sync::Arc;

use sojourn_sliq::{Payload, Received};

/// The IP header that a zombie has at least.
const EMPTY_PACKET: u32 = 20;
/// Bytes that a zombie is longer by in the overlay, as a packet: its number.
const ZOMBIE_NUMBER: u32 = 4;

/// Whether the number of a message comes after another one; after the largest comes zero.
pub(super) fn is_later(number: u32, other: u32) -> bool {
    (1..1 << 31).contains(&number.wrapping_sub(other))
}

/// Content of a message.
#[derive(Clone, Debug, Default)]
pub enum Cargo {
    /// Nothing, as in a lost payload.
    #[default]
    Nothing,
    /// A packet of a flow.
    Parcel(Parcel),
    /// A packet to several receivers.
    Copies(Copies),
    /// A zombie of this many bytes, which only adds depth to queues.
    Zombie(u32),
    /// Depths of queues.
    Depths(Arc<Depths>),
    /// A node's links.
    LinkState(Arc<LinkState>),
    /// A packet of the erasure code: its bytes, and what it is made of.
    Coded(u16, Arc<[(u32, Cargo)]>),
}

impl Payload for Cargo {
    #[inline]
    fn len(&self) -> usize {
        let bytes = match self {
            Cargo::Nothing => 0,
            Cargo::Parcel(parcel) => parcel.message_bytes(),
            Cargo::Copies(copies) => copies.message_bytes(),
            Cargo::Zombie(bytes) => bytes.max(&EMPTY_PACKET) + ZOMBIE_NUMBER,
            Cargo::Depths(depths) => depths.message_bytes(),
            Cargo::LinkState(state) => state.message_bytes(),
            Cargo::Coded(bytes, _) => u32::from(*bytes),
        };
        bytes as usize
    }

    fn put(&self, out: &mut Vec<u8>) {
        wire::put(self, out);
    }

    fn encode(sources: &[(u32, Self)], range: Range<u8>) -> Vec<(Self, u16)> {
        let longest = sources.iter().map(|(_, source)| source.len()).max().unwrap_or(0);
        let bytes = (longest + 4).next_multiple_of(2) as u16;
        let sources: Arc<[_]> = sources.into();
        range.map(|_| (Cargo::Coded(bytes, sources.clone()), bytes)).collect()
    }

    fn decode(sources: u8, received: &[Received<Self>]) -> Option<Vec<(u32, Self)>> {
        if received.len() < sources.into() {
            return None;
        }
        let all = received.iter().find_map(|received| match &received.payload {
            Cargo::Coded(_, sources) => Some(sources.clone()),
            _ => None,
        })?;
        let have = |seq: u32| received.iter().any(|r| r.index < sources && r.seq == seq);
        Some(all.iter().filter(|(seq, _)| !have(*seq)).cloned().collect())
    }
}
