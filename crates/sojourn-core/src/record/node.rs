//! What is sampled of a node that decides itself.

use crate::packet::Backlog;

/// A node at the end of a sampling interval: what waits there, and packets since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeSample {
    /// What waits in its queues.
    pub waiting: Backlog,
    /// Packets that came over edges.
    pub received_packets: u64,
    /// Packets sent on.
    pub sent_packets: u64,
    /// Packets given to sockets there.
    pub delivered_packets: u64,
    /// Packets dropped, for whatever reason.
    pub drops: u64,
    /// Bytes of packets in which it tells other nodes of its queues and links.
    pub signalling_bytes: u64,
}
