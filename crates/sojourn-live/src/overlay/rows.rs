//! What all members have counted at each sampling instant.

use std::sync::{Mutex, PoisonError};

use sojourn_base::counters::FlowCounters;
use sojourn_base::units::Time;
use sojourn_net::record::NodeSample;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::{Part, Uncarried};

/// Samples of a run, to which each member adds those ends of flows that it has.
pub(super) struct Rows {
    /// When samples are taken: at each interval, and when the run ends.
    pub times: Vec<Time>,
    rows: Mutex<Vec<Row>>,
}

/// The counters at an instant.
#[derive(Clone)]
pub(super) struct Row {
    pub flows: Vec<FlowCounters>,
    /// By member.
    pub nodes: Vec<NodeSample>,
}

impl Rows {
    /// Those of a scenario before it has begun.
    pub(super) fn of(scenario: &Scenario, flows: usize, members: usize) -> Self {
        let end = Time::ZERO + scenario.duration;
        let mut times = Vec::new();
        while times.last().is_none_or(|last| *last < end) {
            let last = times.last().copied().unwrap_or(Time::ZERO);
            times.push((last + scenario.sample_interval).min(end));
        }
        let row = Row {
            flows: vec![FlowCounters::default(); flows],
            nodes: vec![NodeSample::default(); members],
        };
        let rows = Mutex::new(vec![row; times.len()]);
        Rows { times, rows }
    }

    /// Adds what the member at this place has, whose part has reached the time of sample `number`.
    pub(super) fn add(&self, number: usize, place: usize, part: &mut Part) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let row = &mut rows[number];
        for (flow, counters) in row.flows.iter_mut().enumerate() {
            part.report(flow, counters);
        }
        row.nodes[place] = part.sample();
    }

    /// Adds what flows that no member carries have counted until sample `number`, which is now.
    pub(super) fn add_uncarried(&self, number: usize, uncarried: &mut Uncarried) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        for (flow, counters) in rows[number].flows.iter_mut().enumerate() {
            uncarried.report(self.times[number], flow, counters);
        }
    }

    /// All rows, beside their times.
    pub(super) fn all(&self) -> Vec<(Time, Row)> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        self.times.iter().copied().zip(rows.iter().cloned()).collect()
    }
}
