//! Components of disciplines: byte accounting and a FIFO of packets.

use std::collections::VecDeque;

use super::store::filled;
use super::{Backlog, QueueInit};
use crate::packet::Packet;
use crate::quantity::Limit;

/// How a discipline counts bytes: as Linux does, the link's overhead included (1514 bytes for a
/// full packet on Ethernet).
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    overhead: u32,
    /// A full packet with overhead, in bytes (Linux `psched_mtu`).
    pub mtu: u64,
}

impl Framing {
    /// The framing of the link that `init` describes.
    pub fn new(init: &QueueInit) -> Self {
        Framing { overhead: init.overhead, mtu: u64::from(init.full_packet + init.overhead) }
    }

    /// Bytes of `packet` with overhead.
    #[inline]
    pub fn len(self, packet: &Packet) -> u64 {
        u64::from(packet.size + self.overhead)
    }

    /// Bytes of all waiting packets, with overhead.
    #[inline]
    pub fn bytes(self, backlog: Backlog) -> u64 {
        backlog.bytes + u64::from(self.overhead) * backlog.packets
    }

    /// `limit` in bytes; packets count as full ones.
    pub fn limit_in_bytes(self, limit: Limit, init: &QueueInit) -> u64 {
        let (packets, bytes) = init.limit(limit);
        packets.saturating_mul(self.mtu).min(bytes)
    }
}

/// A FIFO of packets, with their number and bytes.
#[derive(Debug)]
pub struct PacketList {
    packets: VecDeque<Packet>,
    backlog: Backlog,
    /// How bytes are counted.
    pub framing: Framing,
}

impl PacketList {
    /// An empty list.
    pub fn new(framing: Framing) -> Self {
        PacketList { packets: VecDeque::new(), backlog: Backlog::default(), framing }
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, packet: Packet) {
        self.backlog.add(&packet);
        self.packets.push_back(packet);
    }

    /// Removes the oldest packet.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        filled(|packet| self.pop_into(packet))
    }

    /// The same, written to `packet`; whether there was one.
    #[inline]
    pub fn pop_into(&mut self, packet: &mut Packet) -> bool {
        let Some(oldest) = self.packets.pop_front() else { return false };
        *packet = oldest;
        self.backlog.remove(packet);
        true
    }

    /// The oldest packet.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// Number of packets.
    #[inline]
    pub fn len(&self) -> u64 {
        self.backlog.packets
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Packets and their IP bytes.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Bytes with overhead.
    #[inline]
    pub fn framed_bytes(&self) -> u64 {
        self.framing.bytes(self.backlog)
    }
}
