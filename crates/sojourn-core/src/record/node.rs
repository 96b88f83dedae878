//! What is sampled of a node that decides itself.

use crate::node::NodeCounters;
use crate::packet::Backlog;

/// A node at the end of a sampling interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeSample {
    /// What waits in its queues.
    pub waiting: Backlog,
    /// What it has done with packets.
    pub counters: NodeCounters,
}
