//! Metrics of flows: of the intervals that begin after the warm-up and overlap a flow's active time, which
//! goes from its start to its stop, or to the end of its transfer if that comes first.

use serde_json::json;
use sojourn_net::record::{Outcome, Table};
use sojourn_sim::Scenario;

use super::samples::{EPSILON, Samples, facts};
use super::{Metrics, named, ratio};

/// Traffic whose flows end of themselves.
const BOUNDED: &str = "sized";

/// The flows' side of a run.
pub(super) struct Flows<'a> {
    table: &'a Table,
    samples: Samples<'a>,
    /// By interval, of each flow the seconds in which it is active.
    spans: Vec<Vec<f64>>,
    /// Of each flow, the recorded links that its data passes.
    paths: Vec<Vec<usize>>,
    /// Of each flow, the slowest of these.
    bottlenecks: Vec<Option<usize>>,
    /// Whether each flow has a last byte.
    bounded: Vec<bool>,
}

impl<'a> Flows<'a> {
    pub(super) fn new(scenario: &Scenario, outcome: &'a Outcome) -> Self {
        let flows = scenario.flows_expanded();
        let samples = Samples::new(&outcome.flow_samples, flows.len());
        let paths: Vec<Vec<usize>> = paths(scenario, flows.len());
        let links = &scenario.plan().links;
        let rate = |link: &usize| links[*link].spec.rate;
        let slowest = |path: &Vec<usize>| {
            let limits = path.iter().copied().filter(|link| rate(link).is_some());
            limits.min_by_key(|link| rate(link))
        };
        Flows {
            table: &outcome.flows,
            spans: spans(&samples, &outcome.flows, scenario.warmup.as_secs_f64()),
            samples,
            bottlenecks: paths.iter().map(slowest).collect(),
            paths,
            bounded: flows.iter().map(|flow| flow.spec.traffic.kind == BOUNDED).collect(),
        }
    }

    fn active(&self, interval: usize, flow: usize) -> bool {
        self.spans[interval][flow] > 0.0
    }

    /// The sum of a counter over each flow's active time.
    fn total(&self, column: &str) -> Vec<f64> {
        self.samples.total(column, |interval, flow| self.active(interval, flow))
    }

    /// The seconds that the metrics of each flow cover.
    fn active_time(&self) -> Vec<f64> {
        let of = |flow: usize| self.spans.iter().map(|spans| spans[flow]).sum();
        (0..self.samples.members).map(of).collect()
    }

    /// Quotients of totals, each times `factor`.
    fn ratios(&self, factor: f64, column: &str, over: &[f64]) -> Vec<f64> {
        let total = self.total(column).into_iter().zip(over);
        total.map(|(total, over)| ratio(factor * total, *over)).collect()
    }

    /// What each flow delivered, over what all flows through its bottleneck delivered meanwhile.
    fn shares(&self) -> Vec<f64> {
        let column = self.samples.column("delivered_bytes");
        let total = self.total("delivered_bytes");
        let share = |flow: usize| {
            let Some(link) = self.bottlenecks[flow] else { return f64::NAN };
            let passes = |other: &usize| self.paths[*other].contains(&link);
            let others: Vec<usize> = (0..self.samples.members).filter(passes).collect();
            let intervals = (0..self.spans.len()).filter(|interval| self.active(*interval, flow));
            let delivered = |interval: usize| -> f64 {
                let active = others.iter().filter(|other| self.active(interval, **other));
                active.map(|other| column[interval * self.samples.members + other]).sum()
            };
            ratio(total[flow], intervals.map(delivered).sum())
        };
        (0..self.samples.members).map(share).collect()
    }

    /// From the SYN to the acknowledgment of the last byte.
    fn completion_times(&self) -> Vec<f64> {
        let (starts, ends) = (facts(self.table, "start"), facts(self.table, "completed_at"));
        let times = starts.iter().zip(ends).zip(&self.bounded);
        times.map(|((start, end), bounded)| if *bounded { end - start } else { f64::NAN }).collect()
    }

    pub(super) fn metrics(&self) -> Metrics {
        let time = self.active_time();
        let known = self.total("srtt_known");
        named([
            ("mean_throughput_l4", self.ratios(8e-6, "delivered_bytes", &time)),
            ("bottleneck_share_l4", self.shares()),
            ("mean_srtt_l4", self.ratios(1e3, "srtt_time", &known)),
            ("p95_rtt_l4", facts(self.table, "rtt_p95").iter().map(|rtt| 1e3 * rtt).collect()),
            ("mean_cwnd_l4", self.ratios(1.0, "cwnd_time", &time)),
            ("total_retransmissions_l4", self.total("retransmissions")),
            ("total_rtos_l4", self.total("rtos")),
            ("flow_completion_time_l4", self.completion_times()),
        ])
    }

    /// Metrics of the network.
    pub(super) fn together(&self) -> Metrics {
        let busy: f64 =
            self.spans.iter().map(|spans| spans.iter().copied().fold(0.0, f64::max)).sum();
        let delivered = self.total("delivered_bytes");
        let sum = delivered.iter().filter(|bytes| !bytes.is_nan()).sum::<f64>();
        let rates = self.ratios(8e-6, "delivered_bytes", &self.active_time());
        Metrics::from_iter([
            ("mean_agg_throughput_l4".to_owned(), json!(ratio(8e-6 * sum, busy))),
            ("jains_fairness_of_means_throughput_l4".to_owned(), json!(jain(&rates))),
        ])
    }
}

/// Of each flow, the recorded links that its data passes, which come first in the plan.
fn paths(scenario: &Scenario, flows: usize) -> Vec<Vec<usize>> {
    let plan = scenario.plan();
    let path = |forward: &[u32]| -> Vec<usize> {
        let links = forward.iter().map(|link| *link as usize);
        links.filter(|link| plan.links[*link].recorded).collect()
    };
    plan.routes.iter().take(flows).map(|routes| path(&routes.forward)).collect()
}

/// By interval, of each flow the seconds in which it is active.
fn spans(samples: &Samples<'_>, table: &Table, warmup: f64) -> Vec<Vec<f64>> {
    let starts = facts(table, "start");
    // Of a transfer that has not completed, the time is unknown: the other one counts.
    let stops = facts(table, "stop").into_iter().zip(facts(table, "completed_at"));
    let ends: Vec<f64> = stops.map(|(stop, completed)| stop.min(completed)).collect();
    let span = |begin: f64, end: f64, flow: usize| {
        let overlap = end.min(ends[flow]) - begin.max(starts[flow]);
        if begin >= warmup - EPSILON && overlap > EPSILON { overlap } else { 0.0 }
    };
    let of_all = |(begin, end): &(f64, f64)| {
        (0..samples.members).map(|flow| span(*begin, *end, flow)).collect()
    };
    samples.intervals.iter().map(of_all).collect()
}

/// Jain's index: (sum x)^2 / (n sum x^2), NaN left out.
fn jain(values: &[f64]) -> f64 {
    let known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let sum: f64 = known.iter().sum();
    let squares: f64 = known.iter().map(|value| value * value).sum();
    ratio(sum * sum, known.len() as f64 * squares)
}
