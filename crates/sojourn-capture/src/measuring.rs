//! Measuring of flows, packet by packet.
//!
//! A capture at one vantage tells of both ends of a flow what passes there: what is on its way to the
//! receiver counts as delivered. RTTs, and what is in flight, are those of the sender where the vantage
//! is near it, as the handshake shows, and unknown elsewhere. A capture that Sojourn has written has
//! vantages at both ends.

use std::iter;
use std::mem;

use sojourn_base::units::{Span, Time};
use sojourn_net::record::capture::Towards;
use sojourn_net::record::{
    FlowCounters, FlowFacts, LinkCounters, Outcome, Recorder, Table, Values,
};

use crate::connections::Connection;
use crate::flow::Flow;
use crate::observed::Observed;
use crate::packets::Passing;
use crate::wire::Transport;

/// Columns that packets do not show.
const UNKNOWN: &[&str] = &[
    "one_way_delay_sum",
    "one_way_delay_count",
    "sce_received",
    "esce_acks",
    "written_bytes",
    "spurious_retransmissions",
    "rtos",
    "probes",
    "probe_retransmissions",
    "lost",
    "recoveries",
    "recovery_time",
    "limited_by_cwnd",
    "limited_by_pacing",
    "cwnd_time",
    "cwnd",
    "ssthresh",
];
/// What only a vantage at the receiver shows: elsewhere it is a retransmission.
const AT_RECEIVERS: &[&str] = &["duplicates_received"];

/// Both ways of a connection, and until when they have been integrated.
#[derive(Default)]
struct Ways {
    seen: [Observed; 2],
    until: Time,
}

impl Ways {
    fn integrate(&mut self, now: Time) {
        let span = now.since(self.until);
        self.seen.iter_mut().for_each(|seen| seen.integrate(span));
        self.until = now;
    }

    /// A packet passes that side `from` has sent.
    fn pass(&mut self, from: usize, passing: &Passing) {
        let (now, headers) = (passing.now, &passing.packet.headers);
        self.integrate(now);
        if passing.towards != Some(Towards::In) {
            self.seen[from].enters(now, 0, headers);
            self.seen[1 - from].enters(now, 1, headers);
        }
        if passing.towards != Some(Towards::Out) {
            self.seen[from].received(now, headers);
            self.seen[1 - from].acknowledged(now, headers);
        }
    }
}

/// The flows as they are measured.
pub(crate) struct Measuring<'a> {
    flows: &'a [Flow],
    connections: &'a [Connection],
    /// Of each connection that has a flow.
    ways: Vec<Option<Ways>>,
    /// Of each connection and side, whether it began before the capture and has not been seen yet.
    joins: Vec<[bool; 2]>,
    recorder: Recorder,
    interval: Span,
    next: Time,
}

/// What has been seen of a flow.
fn seen<'a>(ways: &'a [Option<Ways>], flow: &Flow) -> &'a Observed {
    let ways = ways[flow.connection].as_ref();
    &ways.expect("the connection of each flow is measured").seen[flow.side]
}

impl<'a> Measuring<'a> {
    pub(crate) fn new(flows: &'a [Flow], connections: &'a [Connection], interval: Span) -> Self {
        let mut ways: Vec<Option<Ways>> = connections.iter().map(|_| None).collect();
        for flow in flows {
            ways[flow.connection].get_or_insert_default();
        }
        let joins = |connection: &Connection| connection.sent.map(|sent| !sent.began);
        let joins = connections.iter().map(joins).collect();
        let recorder = Recorder::new([flows.len(), 1, 0], &[], 0);
        let next = Time::ZERO + interval;
        Measuring { flows, connections, ways, joins, recorder, interval, next }
    }

    /// A packet of a side of a connection passes; whether it is one of a flow that is measured.
    pub(crate) fn pass(&mut self, (number, from): (usize, usize), passing: &Passing) -> bool {
        while self.next < passing.now {
            self.sample(self.next);
            self.next += self.interval;
        }
        let Some(Some(ways)) = self.ways.get_mut(number) else { return false };
        let headers = &passing.packet.headers;
        if let Transport::Tcp(segment) = headers.transport
            && headers.payload > 0
            && mem::take(&mut self.joins[number][from])
        {
            ways.seen[from].join(segment.seq);
        }
        ways.pass(from, passing);
        true
    }

    fn sample(&mut self, now: Time) {
        self.ways.iter_mut().flatten().for_each(|ways| ways.integrate(now));
        let counters = self.counters();
        self.recorder.sample(now, counters.into_iter(), iter::once(LinkCounters::default()));
    }

    fn counters(&self) -> Vec<FlowCounters> {
        self.flows.iter().map(|flow| flow.counters(seen(&self.ways, flow))).collect()
    }

    /// The columns when the capture ends, and the flows with their RTTs; `ours` if it has vantages at
    /// both ends.
    pub(crate) fn outcome(mut self, end: Time, ours: bool, frames: u64) -> (Outcome, Vec<Flow>) {
        if self.recorder.last() < end {
            self.sample(end);
        }
        let counters = self.counters();
        let Measuring { flows, connections, ways, recorder, .. } = self;
        let known = |flow: &Flow| flow.knows_rtt().then(|| seen(&ways, flow));
        let with_rtt =
            |flow: &Flow| Flow { rtt: known(flow).and_then(Observed::least_rtt), ..flow.clone() };
        let flows: Vec<Flow> = flows.iter().map(with_rtt).collect();
        let facts = |flow: &Flow| flow.facts(&connections[flow.connection]);
        let facts: Vec<FlowFacts> = flows.iter().map(facts).collect();
        let rtts: Vec<_> = flows.iter().map(|flow| known(flow).map(Observed::rtts)).collect();
        let all = Outcome::gather(recorder, &facts, &counters, &rtts, &[None], frames);
        let elsewhere: &[&str] = if ours { &[] } else { AT_RECEIVERS };
        let flow_samples = all.flow_samples.without(UNKNOWN).without(elsewhere);
        let link_samples = without_numbers(all.link_samples);
        let table = with_rtts(all.flows, &flows);
        (Outcome { flow_samples, link_samples, flows: table, ..all }, flows)
    }
}

/// Of a table of samples only when and of what they are.
fn without_numbers(samples: Table) -> Table {
    let names: Vec<&str> = samples.columns.iter().map(|column| column.name).skip(2).collect();
    samples.without(&names)
}

/// A table of flows with their base RTTs as far as they are known.
fn with_rtts(mut table: Table, flows: &[Flow]) -> Table {
    let rtts = flows.iter().map(|flow| flow.rtt.map_or(f64::NAN, Span::as_secs_f64)).collect();
    if let Some(column) = table.columns.iter_mut().find(|column| column.name == "base_rtt") {
        column.values = Values::Reals(rtts);
    }
    table
}
