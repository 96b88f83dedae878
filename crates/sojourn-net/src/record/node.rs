//! What is sampled of a node that decides itself.

use crate::packet::Backlog;

/// A node at the end of a sampling interval: what waits there, and counters since the start.
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
    /// What nodes of its kind count besides.
    pub counts: [u64; NodeSample::MOST_COUNTERS],
    /// The names of these counters.
    pub counters: &'static [&'static str],
}

impl NodeSample {
    /// How many counters a kind of node may name.
    pub const MOST_COUNTERS: usize = 4;

    /// The counter of its kind that has this name; 0 of a kind that does not count such.
    pub fn count(&self, name: &str) -> u64 {
        let mut named = self.counters.iter().zip(self.counts);
        named.find(|(known, _)| **known == name).map_or(0, |(_, count)| count)
    }
}
