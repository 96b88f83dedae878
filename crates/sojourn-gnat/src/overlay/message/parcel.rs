//! A packet of a flow in transit through the overlay, to one member.

use std::sync::Arc;

use super::carried::Carried;
use sojourn_base::units::Time;

/// Bytes that a packet is longer by in the overlay: its number.
pub const NUMBER: u32 = 4;
/// The same for packets with a deadline: number, time to the deadline, members passed.
pub const TIMED: u32 = NUMBER + 8 + 12;

/// A packet of a flow in transit through the overlay. It is small, because it waits in many places:
/// in queues, until it is acknowledged, in datagrams in transit; the packet itself is stored once.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The packet, as the flow's host sent it.
    pub packet: Arc<Carried>,
    /// Its size in bytes.
    pub size: u32,
    /// Destination: the overlay node's place in the list of members.
    pub to: u16,
    /// Deadline, which makes it latency-sensitive.
    pub due: Option<Time>,
    /// Members that it has passed, as bits; for packets with a deadline.
    pub seen: u64,
}

impl Parcel {
    /// A packet to a member that has not passed any.
    pub fn new(packet: impl Into<Carried>, to: u16, due: Option<Time>) -> Self {
        let packet = packet.into();
        Parcel { size: packet.size, packet: Arc::new(packet), to, due, seen: 0 }
    }

    /// Its bytes in a message.
    pub fn message_bytes(&self) -> u32 {
        self.size + if self.due.is_some() { TIMED } else { NUMBER }
    }
}

/// Class of packets, by whether they have a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// They have none.
    Normal = 0,
    /// They have one.
    Timed = 1,
}

impl Class {
    /// Latency-sensitive traffic goes first.
    pub const IN_ORDER: [Class; 2] = [Class::Timed, Class::Normal];

    /// The class of a packet.
    pub fn of(parcel: &Parcel) -> Self {
        if parcel.due.is_some() { Class::Timed } else { Class::Normal }
    }
}
