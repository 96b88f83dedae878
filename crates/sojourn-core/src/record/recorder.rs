//! The recorder: samples the counters of every flow and of every recorded link.

use super::columns::{FLOW_COLUMNS, LINK_COLUMNS};
use super::table::{Samples, Table};
use super::{FlowCounters, LinkCounters};
use crate::units::Time;

/// Flows are sampled by so many at a time, whose counters fit into the nearest cache.
const BATCH: usize = 16;

/// Samples taken so far.
pub struct Recorder {
    flows: Samples<FlowCounters>,
    links: Samples<LinkCounters>,
    last: Time,
}

impl Recorder {
    /// Records so many flows and links, most likely for so many `intervals`.
    pub fn new(flows: usize, links: usize, intervals: usize) -> Self {
        Recorder {
            flows: Samples::new(FLOW_COLUMNS, "flow", flows, intervals),
            links: Samples::new(LINK_COLUMNS, "link", links, intervals),
            last: Time::ZERO,
        }
    }

    /// Ends a sampling interval at `now`: counters of every flow and of every recorded link, brought
    /// up to `now`.
    pub fn sample(
        &mut self,
        now: Time,
        mut flows: impl Iterator<Item = FlowCounters>,
        links: impl Iterator<Item = LinkCounters>,
    ) {
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
        links.for_each(|link| self.links.add(time, &[link]));
        self.last = now;
    }

    /// When the last sampling interval ended.
    pub fn last(&self) -> Time {
        self.last
    }

    /// The samples of flows and of links.
    pub fn into_tables(self) -> (Table, Table) {
        (self.flows.into_table(), self.links.into_table())
    }
}
