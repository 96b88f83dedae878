//! What comes of a scenario's sections for one run.

use std::collections::BTreeSet;

use crate::given::Given;

/// What nodes and flows get of the sections. It is made anew for each run: nodes may leave in it
/// what is under way between them.
#[derive(Debug, Default)]
pub struct Gift {
    /// What all nodes are given; each takes what it knows.
    pub nodes: Given,
    /// Flows that send nothing, by their numbers: they only count what another flow brings.
    pub silent: BTreeSet<u32>,
}
