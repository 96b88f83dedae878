//! Results of a run: samples, and one row per flow and per link.

use super::FlowCounters;
use super::histogram::Histogram;
use super::reception::ReceptionFigures;
use super::recorder::Recorder;
use super::table::Table;
use crate::units::{Span, Time};

/// Static facts about a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowFacts {
    /// Round-trip propagation delay.
    pub base_rtt: Span,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Size in bytes of the IP packet that carries a full segment.
    pub full_packet: u32,
    /// When it is opened.
    pub start: Time,
    /// When it stops offering data.
    pub stop: Time,
}

/// The columns of a run; names and units are listed in `docs/reference/results.md`. Of a run that streams
/// ([`Chunks`](super::Chunks)), tables of samples and of transfers have the last rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One row per flow and sampling interval.
    pub flow_samples: Table,
    /// One row per flow.
    pub flows: Table,
    /// One row per recorded link and sampling interval.
    pub link_samples: Table,
    /// One row per recorded link.
    pub links: Table,
    /// One row per active node and sampling interval.
    pub node_samples: Table,
    /// If transfers arrive: one row per transfer, in the order in which they ended; those that have
    /// not ended when the run does come last. Whoever makes the rows passes them on as `transfers`.
    pub transfers: Option<Table>,
    /// If transfers arrive: one row per entry of arrivals and sampling interval, passed on as
    /// `arrival_samples`.
    pub arrival_samples: Option<Table>,
    /// One row.
    pub totals: Table,
}

impl Outcome {
    /// The tables that there are, and their names.
    pub fn into_tables(self) -> Vec<(&'static str, Table)> {
        let always = [
            ("flow_samples", self.flow_samples),
            ("flows", self.flows),
            ("link_samples", self.link_samples),
            ("links", self.links),
            ("node_samples", self.node_samples),
            ("totals", self.totals),
        ];
        let of_arrivals =
            [("transfers", self.transfers), ("arrival_samples", self.arrival_samples)];
        let arrived = of_arrivals.into_iter().filter_map(|(name, table)| Some((name, table?)));
        always.into_iter().chain(arrived).collect()
    }

    /// Builds the tables at the end of a run of `events` events, from the counters of each flow at
    /// its end, RTT samples of each flow and sojourn times of each recorded link. No transfers
    /// arrive.
    pub fn gather(
        recorder: Recorder,
        facts: &[FlowFacts],
        counters: &[FlowCounters],
        rtts: &[Option<&Histogram>],
        sojourns: &[Option<&Histogram>],
        events: u64,
    ) -> Self {
        let data_packets: u64 = counters
            .iter()
            .filter_map(|flow| flow.received)
            .map(|received| received.delivered_packets)
            .sum();
        let totals = Table::default()
            .with("simulated_seconds", vec![recorder.last().as_secs_f64()])
            .integers("events", vec![events as i64])
            .integers("data_packets", vec![data_packets as i64]);
        let flows = flow_table(facts, counters, rtts);
        let links = link_table(sojourns);
        let [flow_samples, link_samples, node_samples] = recorder.into_tables();
        Outcome {
            flow_samples,
            flows,
            link_samples,
            links,
            node_samples,
            transfers: None,
            arrival_samples: None,
            totals,
        }
    }

    /// The same with what the receiver of each flow has measured of its packets.
    #[must_use]
    pub fn measured(self, receivers: &[ReceptionFigures]) -> Self {
        Outcome { flows: measured_table(self.flows, receivers), ..self }
    }
}

fn flow_table(
    facts: &[FlowFacts],
    counters: &[FlowCounters],
    rtts: &[Option<&Histogram>],
) -> Table {
    let secs = |time: Option<Time>| time.map_or(f64::NAN, Time::as_secs_f64);
    let table = Table::default()
        .integers("flow", (0..facts.len() as i64).collect())
        .with("base_rtt", facts.iter().map(|flow| flow.base_rtt.as_secs_f64()).collect())
        .integers("mss", facts.iter().map(|flow| flow.mss.into()).collect())
        .integers("full_packet", facts.iter().map(|flow| flow.full_packet.into()).collect())
        .with("start", facts.iter().map(|flow| flow.start.as_secs_f64()).collect())
        .with("stop", facts.iter().map(|flow| flow.stop.as_secs_f64()).collect())
        .with("established_at", counters.iter().map(|flow| secs(flow.established_at)).collect())
        .with("completed_at", counters.iter().map(|flow| secs(flow.completed_at)).collect());
    percentiles(table, ["rtt_p50", "rtt_p95", "rtt_p99"], rtts)
}

/// Adds what receivers measured; NaN where they did not.
fn measured_table(flows: Table, receivers: &[ReceptionFigures]) -> Table {
    let arrival = |n: usize| told(receivers, |of| Some(of.arrival?[n].as_secs_f64()));
    let delivery = |n: usize| told(receivers, |of| Some(of.delivery?[n].as_secs_f64()));
    flows
        .with("arrival_p50", arrival(0))
        .with("arrival_p95", arrival(1))
        .with("arrival_p99", arrival(2))
        .with("delivery_p50", delivery(0))
        .with("delivery_p95", delivery(1))
        .with("delivery_p99", delivery(2))
        .with("jitter", told(receivers, |of| of.jitter))
        .with("expected_packets", told(receivers, |of| Some(of.losses?.expected as f64)))
        .with("lost_packets", told(receivers, |of| Some(of.losses?.packets as f64)))
        .with("loss_runs", told(receivers, |of| Some(of.losses?.runs as f64)))
        .with("longest_loss_run", told(receivers, |of| Some(of.losses?.longest as f64)))
}

fn told(
    receivers: &[ReceptionFigures],
    figure: impl Fn(&ReceptionFigures) -> Option<f64>,
) -> Vec<f64> {
    receivers.iter().map(|of| figure(of).unwrap_or(f64::NAN)).collect()
}

fn link_table(sojourns: &[Option<&Histogram>]) -> Table {
    let table = Table::default().integers("link", (0..sojourns.len() as i64).collect());
    percentiles(table, ["sojourn_p50", "sojourn_p95", "sojourn_p99"], sojourns)
}

fn percentiles(table: Table, names: [&'static str; 3], histograms: &[Option<&Histogram>]) -> Table {
    let column = |share| {
        let value = |histogram: &Option<&Histogram>| {
            histogram.and_then(|h| h.percentile(share)).map_or(f64::NAN, Span::as_secs_f64)
        };
        histograms.iter().map(value).collect()
    };
    table.with(names[0], column(0.5)).with(names[1], column(0.95)).with(names[2], column(0.99))
}
