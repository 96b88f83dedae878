//! Sample of an active node.

use crate::packet::Backlog;

/// State of a node at the end of a sampling interval: its backlog, and counters since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeSample {
    /// Backlog of its queues.
    pub waiting: Backlog,
    /// Packets that arrived over edges.
    pub received_packets: u64,
    /// Packets forwarded.
    pub sent_packets: u64,
    /// Packets delivered to sockets there.
    pub delivered_packets: u64,
    /// Packets dropped, for any reason.
    pub drops: u64,
    /// Counters of its kind.
    pub counts: [u64; NodeSample::MOST_COUNTERS],
    /// Names of these counters.
    pub counters: &'static [&'static str],
}

impl NodeSample {
    /// Maximum number of counters of a kind of node.
    pub const MOST_COUNTERS: usize = 4;

    /// The counter of its kind with this name; 0 if the kind has none.
    pub fn count(&self, name: &str) -> u64 {
        let mut named = self.counters.iter().zip(self.counts);
        named.find(|(known, _)| **known == name).map_or(0, |(_, count)| count)
    }
}
