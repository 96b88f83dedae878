//! A packet of a flow in transit to several members.

use std::sync::Arc;

use super::carried::Carried;
use sojourn_base::units::Time;

use super::parcel::NUMBER;

/// Bytes that a packet is longer by: its number, and its set of destinations.
pub const NUMBER_AND_SET: u32 = NUMBER + 8;

/// A packet to several members.
#[derive(Clone, Debug)]
pub struct Copies {
    /// The packet, as its host sent it.
    pub packet: Arc<Carried>,
    /// Its size in bytes.
    pub size: u32,
    /// The stream that it is of.
    pub stream: u16,
    /// Members that it is still for, as bits.
    pub to: u64,
    /// When it came into the queue that it is in.
    pub since: Time,
}

impl Copies {
    /// A packet of a stream, which has just come.
    pub fn new(packet: Arc<Carried>, stream: u16, to: u64) -> Self {
        Copies { size: packet.size, packet, stream, to, since: Time::ZERO }
    }

    /// Its bytes in a message.
    pub fn message_bytes(&self) -> u32 {
        self.size + NUMBER_AND_SET
    }
}
