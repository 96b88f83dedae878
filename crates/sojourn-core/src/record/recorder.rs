//! The recorder: samples the counters of every flow and of every recorded link.

use super::columns::{FLOW_COLUMNS, LINK_COLUMNS};
use super::table::{Samples, Table};
use super::{FlowCounters, LinkCounters};
use crate::link::Link;
use crate::transport::Endpoint;
use crate::units::Time;

/// Flows are sampled by so many at a time, whose counters fit into the nearest cache.
const BATCH: usize = 16;

/// Samples taken so far.
pub struct Recorder {
    flows: Samples<FlowCounters>,
    links: Samples<LinkCounters>,
    recorded_links: usize,
    last: Time,
}

impl Recorder {
    /// Records `flows` flows, and the first `links` links of the network, most likely for so many
    /// `intervals`.
    pub fn new(flows: usize, links: usize, intervals: usize) -> Self {
        Recorder {
            flows: Samples::new(FLOW_COLUMNS, "flow", flows, intervals),
            links: Samples::new(LINK_COLUMNS, "link", links, intervals),
            recorded_links: links,
            last: Time::ZERO,
        }
    }

    /// Ends a sampling interval at `now`. Endpoints come in pairs: sender and receiver of flow 0,
    /// of flow 1, and so on.
    pub fn sample(&mut self, now: Time, endpoints: &mut [Box<dyn Endpoint>], links: &mut [Link]) {
        let time = now.as_secs_f64();
        let mut batch = Vec::with_capacity(BATCH);
        for ends in endpoints.chunks_mut(2 * BATCH) {
            batch.clear();
            batch.extend(counters(now, ends));
            self.flows.add(time, &batch);
        }
        for link in &mut links[..self.recorded_links] {
            self.links.add(time, &[link.report(now)]);
        }
        self.last = now;
    }

    /// When the last sampling interval ended.
    pub fn last(&self) -> Time {
        self.last
    }

    /// How many links are recorded, the first ones of the network.
    pub fn links(&self) -> usize {
        self.recorded_links
    }

    /// The samples of flows and of links.
    pub fn into_tables(self) -> (Table, Table) {
        (self.flows.into_table(), self.links.into_table())
    }
}

/// The counters of each flow, from its two endpoints.
pub fn counters(
    now: Time,
    endpoints: &mut [Box<dyn Endpoint>],
) -> impl Iterator<Item = FlowCounters> {
    endpoints.chunks_exact_mut(2).map(move |ends| {
        let mut counters = FlowCounters::default();
        ends.iter_mut().for_each(|end| end.report(now, &mut counters));
        counters
    })
}
