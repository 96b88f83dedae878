//! The recorder: samples the counters of every flow, of every recorded link, and of every active
//! node.

use super::chunks::Chunks;
use super::columns::{FLOW_COLUMNS, LINK_COLUMNS, node_columns};
use super::samples::Samples;
use super::table::Table;
use super::{FlowCounters, LinkCounters, NodeSample};
use crate::units::Time;

/// Flows per batch of sampling: their counters fit into the nearest cache.
const BATCH: usize = 16;

/// Samples taken so far.
pub struct Recorder {
    flows: Samples<FlowCounters>,
    links: Samples<LinkCounters>,
    nodes: Samples<NodeSample>,
    last: Time,
}

impl Recorder {
    /// A recorder of a number of flows, links and active nodes, which expects `intervals` sampling
    /// intervals; kinds of nodes name these `counters`.
    pub fn new(
        [flows, links, nodes]: [usize; 3],
        counters: &[&'static str],
        intervals: usize,
    ) -> Self {
        Recorder {
            flows: Samples::new(FLOW_COLUMNS, "flow", flows, intervals),
            links: Samples::new(LINK_COLUMNS, "link", links, intervals),
            nodes: Samples::new(&node_columns(counters), "node", nodes, intervals),
            last: Time::ZERO,
        }
    }

    /// The same recorder, before it has sampled; samples of whole intervals go to `chunks` when there
    /// are enough.
    #[must_use]
    pub fn streaming(mut self, chunks: &Chunks) -> Self {
        self.flows.pass_to("flow_samples", chunks);
        self.links.pass_to("link_samples", chunks);
        self.nodes.pass_to("node_samples", chunks);
        self
    }

    /// Ends a sampling interval at `now`: counters of every flow and of every recorded link, brought
    /// up to `now`.
    pub fn sample(
        &mut self,
        now: Time,
        flows: impl Iterator<Item = FlowCounters>,
        links: impl Iterator<Item = LinkCounters>,
    ) {
        self.sample_flows(now, flows);
        self.sample_links(now, links);
    }

    /// The same for flows alone.
    pub fn sample_flows(&mut self, now: Time, mut flows: impl Iterator<Item = FlowCounters>) {
        let time = now.as_secs_f64();
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            batch.clear();
            batch.extend(flows.by_ref().take(BATCH));
            if batch.is_empty() {
                break;
            }
            self.flows.add(time, &batch);
        }
        self.last = now;
    }

    /// The same for links alone.
    pub fn sample_links(&mut self, now: Time, links: impl Iterator<Item = LinkCounters>) {
        links.for_each(|link| self.links.add(now.as_secs_f64(), &[link]));
    }

    /// The same for the active nodes.
    pub fn sample_nodes(&mut self, now: Time, nodes: impl Iterator<Item = NodeSample>) {
        nodes.for_each(|node| self.nodes.add(now.as_secs_f64(), &[node]));
    }

    /// When the last sampling interval ended.
    pub fn last(&self) -> Time {
        self.last
    }

    /// The samples of flows, of links and of nodes that have not gone to chunks.
    pub fn into_tables(self) -> [Table; 3] {
        [self.flows.into_table(), self.links.into_table(), self.nodes.into_table()]
    }
}
