//! What overlay nodes send each other, as payloads of their path controllers.

use std::ops::Range;
use std::sync::Arc;

use super::links::LinkState;
use super::multicast;
use sojourn_base::packet::Packet;
use sojourn_base::units::Time;
use sojourn_sliq::{Payload, Received};

/// Bytes that a packet is longer by in the overlay: its number.
const PARCEL: u32 = 4;
/// The same for packets with a time to go: number, time to go, where it has been.
const TIMED_PARCEL: u32 = 4 + 8 + 12;
/// The IP header that a zombie has at least.
const EMPTY_PACKET: u32 = 20;
/// Headers of a message about queues: IP and UDP are the path controller's.
const DEPTHS: u32 = 8;
/// A destination's entry there: its number, all bytes, bytes of latency-sensitive traffic.
const DEPTHS_ENTRY: u32 = 9;
/// Headers of an advertisement: type, origin and number; how many links, and three bytes more.
const LINK_STATE: u32 = 4 + 4;
/// An entry for each link: neighbour, mean and deviation of the delay.
const LINK_STATE_ENTRY: u32 = 1 + 2 + 2;

/// A packet of a flow on its way through the overlay. It is small, because it waits in many places: in
/// queues, until it is acknowledged, in datagrams under way; the packet itself lies in one.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The packet, as the flow's host sent it.
    pub packet: Arc<Packet>,
    /// Its size in bytes.
    pub size: u32,
    /// Where it goes: the overlay node's place in the list of members.
    pub to: u16,
    /// When it is worthless; that makes it latency-sensitive.
    pub due: Option<Time>,
    /// Members that it has come through, as bits; of packets with a time to go.
    pub seen: u64,
}

impl Parcel {
    /// A packet to a member that has not come through any.
    pub fn new(packet: Packet, to: u16, due: Option<Time>) -> Self {
        Parcel { size: packet.size, packet: Arc::new(packet), to, due, seen: 0 }
    }
}

/// Depths of a node's queues.
#[derive(Clone, Debug)]
pub struct Depths {
    /// Number of the message, to tell old ones.
    pub number: u32,
    /// For each member: all bytes, bytes of latency-sensitive traffic.
    pub bytes: Vec<[f64; 2]>,
    /// For each group and member.
    pub groups: Arc<Vec<Vec<f64>>>,
    /// What all this takes in a message.
    size: u32,
}

impl Depths {
    /// Those of queues for members, and for groups and members.
    pub fn new(number: u32, bytes: Vec<[f64; 2]>, groups: Arc<Vec<Vec<f64>>>) -> Self {
        let told = bytes.iter().filter(|bytes| bytes[0] > 0.0).count();
        let size = DEPTHS + DEPTHS_ENTRY * told as u32 + multicast::told_bytes(&groups);
        Depths { number, bytes, groups, size }
    }
}

/// What a message carries.
#[derive(Clone, Debug, Default)]
pub enum Cargo {
    /// Nothing: what a lost payload is.
    #[default]
    Nothing,
    /// A packet of a flow.
    Parcel(Parcel),
    /// A packet to several receivers.
    Copies(multicast::Parcel),
    /// A packet of so many bytes that only makes queues deep.
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
            Cargo::Parcel(Parcel { size, due: None, .. }) => size + PARCEL,
            Cargo::Parcel(Parcel { size, .. }) => size + TIMED_PARCEL,
            Cargo::Zombie(bytes) => bytes.max(&EMPTY_PACKET) + PARCEL,
            Cargo::Copies(parcel) => parcel.size + PARCEL + multicast::SET,
            Cargo::Depths(depths) => depths.size,
            Cargo::LinkState(state) => LINK_STATE + LINK_STATE_ENTRY * state.links.len() as u32,
            Cargo::Coded(bytes, _) => u32::from(*bytes),
        };
        bytes as usize
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
