//! Result of a scenario's sections for one run.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::endpoint::Datagrams;
use crate::given::Given;

/// Values that nodes and flows get from the sections. It is made anew for each run: nodes may use
/// it for state that they share.
#[derive(Debug, Default)]
pub struct Gift {
    /// Values for all nodes; each takes those of the types it knows.
    pub nodes: Given,
    /// Numbers of flows that send nothing: they only count what another flow delivers.
    pub silent: BTreeSet<u32>,
    /// Numbers of flows whose packets the node where they begin takes in, so that they pass links
    /// between nodes within the nodes' own packets.
    pub carried: BTreeSet<u32>,
    /// The datagrams that nodes send each other, if their packets carry only numbers.
    pub datagrams: Option<Arc<dyn Datagrams>>,
}
