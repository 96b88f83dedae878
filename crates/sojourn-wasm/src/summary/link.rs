//! Metrics of links: of the intervals that begin after the warm-up.

use sojourn_net::record::{Outcome, Table};
use sojourn_sim::Scenario;

use super::samples::{EPSILON, Samples, facts};
use super::{Metrics, named, ratio};

/// The links' side of a run.
pub(super) struct Links<'a> {
    table: &'a Table,
    samples: Samples<'a>,
    /// bit/s, NaN of a link without a rate.
    rates: Vec<f64>,
    warmup: f64,
}

impl<'a> Links<'a> {
    pub(super) fn new(scenario: &Scenario, outcome: &'a Outcome) -> Self {
        let links = scenario.plan().links.iter().filter(|link| link.recorded);
        let rates: Vec<f64> = links
            .map(|link| link.spec.rate.map_or(f64::NAN, |rate| rate.as_bps() as f64))
            .collect();
        Links {
            table: &outcome.links,
            samples: Samples::new(&outcome.link_samples, rates.len()),
            rates,
            warmup: scenario.warmup.as_secs_f64(),
        }
    }

    fn counted(&self, interval: usize) -> bool {
        self.samples.intervals[interval].0 >= self.warmup - EPSILON
    }

    fn total(&self, columns: &[&str]) -> Vec<f64> {
        let mut sum = vec![0.0; self.rates.len()];
        for column in columns {
            let total = self.samples.total(column, |interval, _| self.counted(interval));
            sum.iter_mut().zip(total).for_each(|(sum, total)| *sum += total);
        }
        sum
    }

    pub(super) fn metrics(&self) -> Metrics {
        let intervals = self.samples.intervals.iter().enumerate();
        let counted = intervals.filter(|(interval, _)| self.counted(*interval));
        let time: f64 = counted.map(|(_, (begin, end))| end - begin).sum();
        let sent = self.total(&["sent_bytes"]).into_iter().zip(&self.rates);
        let waited = self.total(&["sojourn_sum"]).into_iter().zip(self.total(&["sojourn_count"]));
        let p95 = facts(self.table, "sojourn_p95");
        named([
            ("utilization_l1", sent.map(|(bytes, rate)| ratio(bytes * 8.0, time) / rate).collect()),
            ("mean_qdisc_delay_l2", waited.map(|(sum, count)| 1e3 * ratio(sum, count)).collect()),
            ("p95_qdisc_delay_l2", p95.iter().map(|delay| 1e3 * delay).collect()),
            ("total_qdisc_drops_l2", self.total(&["drops_overflow", "drops_aqm", "drops_policed"])),
            ("total_qdisc_marks_l2", self.total(&["ce_marks", "sce_marks"])),
        ])
    }
}
