//! The flows of a scenario on a live network: assignment of packets to flows, and recording.

mod flow;

use std::sync::atomic::Ordering;

use sojourn_base::packet::{Address, Direction, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_net::net::{Network, Step};
use sojourn_net::record::histogram::Histogram;
use sojourn_net::record::{FlowCounters, FlowFacts, Outcome, Recorder, Table};
use sojourn_sim::sim::arrivals::Entry;

use crate::drive::Tap;
use crate::news::News;
use crate::recorded::Record;
use crate::sys;
use crate::tcp_info;
use crate::transfers::Transfers;
use crate::wire::{Headers, parse, set_class};
use flow::LiveFlow;
pub use flow::{Connection, Sender, Told};

/// Port of the receiver of flow 0; that of flow 1 is the next one, and so on. Those of the variants of
/// arrivals follow.
pub const FIRST_PORT: u16 = 10_000;
/// Maximum number of flows and variants, which have one port each.
pub const MOST_FLOWS: usize = (u16::MAX - FIRST_PORT) as usize;

/// Smallest MTU that IPv4 allows.
const SMALLEST_MTU: u32 = 576;

/// Timers of a run: a sample is due, the kernel is asked, and the warm-up ends.
pub(crate) const SAMPLE: u32 = 0;
pub(crate) const ASK_KERNEL: u32 = 1;
const WARMUP_END: u32 = 2;

/// Columns that neither packets nor any kernel show.
pub const UNKNOWN: &[&str] = &[
    "one_way_delay_sum",
    "one_way_delay_count",
    "sce_received",
    "esce_acks",
    "probes",
    "probe_retransmissions",
    "lost",
    "limited_by_cwnd",
    "limited_by_pacing",
];

/// MTU for the largest packets of the flows and of the entries of arrivals.
pub fn mtu(flows: &[FlowFacts], entries: &[Entry]) -> u32 {
    let largest = flows.iter().map(|flow| flow.full_packet);
    largest.chain(entries.iter().map(Entry::largest_packet)).fold(SMALLEST_MTU, u32::max)
}

/// All flows and transfers of a run, and its recorder.
pub struct Flows {
    flows: Vec<LiveFlow>,
    /// Those of a scenario with arrivals.
    transfers: Option<Transfers>,
    facts: Vec<FlowFacts>,
    recorder: Recorder,
    recorded_links: usize,
    sample_interval: Span,
}

impl Flows {
    /// The flows with these senders, whose addresses are the first ones, and these transfers.
    pub fn new(
        addresses: Vec<[Address; 2]>,
        senders: Vec<Sender>,
        facts: Vec<FlowFacts>,
        transfers: Option<Transfers>,
        recorder: (Recorder, usize, Span),
    ) -> Self {
        let flow = |(addresses, sender)| LiveFlow::new(addresses, sender);
        let flows = addresses.into_iter().zip(senders).map(flow).collect();
        let (recorder, recorded_links, sample_interval) = recorder;
        Flows { flows, transfers, facts, recorder, recorded_links, sample_interval }
    }

    /// The same, with what the kernel tells of the flows' controls recorded.
    pub(crate) fn recorded(mut self, record: &Record) -> Self {
        for (number, flow) in self.flows.iter_mut().enumerate() {
            flow.followed.watch = record.watch(number);
        }
        self
    }

    /// Sets the timers with which a run begins.
    pub fn start(&self, net: &mut Network, warmup: Span) {
        net.set_timer(Time::ZERO + tcp_info::INTERVAL, ASK_KERNEL);
        net.set_timer(Time::ZERO + self.sample_interval, SAMPLE);
        net.set_timer(Time::ZERO + warmup, WARMUP_END);
    }

    /// Report of the other kernel on a flow: payload that the socket has accepted, total payload of
    /// a flow that has ended (else the largest number), and `TCP_INFO`, if it has any.
    pub fn report(&mut self, now: Time, flow: u32, written: u64, total: u64, info: &[u8]) {
        let Some(flow) = self.flows.get_mut(flow as usize) else { return };
        flow.sender.told.written.store(written, Ordering::Relaxed);
        flow.sender.told.total.store(total, Ordering::Relaxed);
        if !info.is_empty() {
            let info = sys::tcp_info_of(info);
            flow.followed.sample(now, &info, &mut flow.seen.counters);
        }
    }

    /// News of a transfer, from the other kernel.
    pub fn hear(&mut self, news: News) {
        if let Some(transfers) = &mut self.transfers {
            transfers.hear(news);
        }
    }

    /// Brings the counters up to `now`.
    pub(crate) fn update(&mut self, now: Time) {
        self.flows.iter_mut().for_each(|flow| flow.update(now));
    }

    /// The counters of all flows.
    pub(crate) fn counters(&self) -> impl Iterator<Item = FlowCounters> {
        self.flows.iter().map(LiveFlow::counters)
    }

    /// Facts about all flows.
    pub(crate) fn facts(&self) -> &[FlowFacts] {
        &self.facts
    }

    /// RTTs of a flow.
    pub(crate) fn rtts(&self, flow: usize) -> &Histogram {
        self.flows[flow].seen.rtts()
    }

    /// The number of recorded links, and the duration of a sample.
    pub(crate) fn recording(&self) -> (usize, Span) {
        (self.recorded_links, self.sample_interval)
    }

    /// Takes a sample of the transfers.
    ///
    /// # Errors
    /// If there were packets of connections of which nothing was told.
    pub(crate) fn sample_transfers(&mut self, now: Time) -> Step {
        self.transfers.as_mut().map_or(Ok(()), |transfers| transfers.sample(now))
    }

    /// Times from when transfers arrived until the senders' side took them up.
    pub(crate) fn lateness(&self) -> Histogram {
        self.transfers.as_ref().map(|transfers| transfers.lateness().clone()).unwrap_or_default()
    }

    /// Columns that neither packets nor this kernel show.
    pub(crate) fn unknown(&self) -> Vec<&'static str> {
        let lacks_timeouts = self.flows.iter().any(|flow| flow.followed.lacks_timeouts);
        UNKNOWN.iter().copied().chain(lacks_timeouts.then_some("rtos")).collect()
    }

    /// The warm-up is over.
    pub(crate) fn end_warmup(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.seen.end_warmup());
    }

    fn sample(&mut self, net: &mut Network) -> Step {
        let now = net.now();
        self.update(now);
        let links = (0..self.recorded_links).map(|link| net.report(link));
        self.recorder.sample(now, self.flows.iter().map(LiveFlow::counters), links);
        self.sample_transfers(now)?;
        net.check()
    }

    /// The recorded tables when the run ends.
    ///
    /// # Errors
    /// If the network lost packets without a reason.
    pub fn outcome(
        mut self,
        net: &mut Network,
    ) -> Result<Outcome, Box<sojourn_base::error::Fault>> {
        if self.recorder.last() < net.now() {
            self.sample(net)?;
        }
        let counters: Vec<FlowCounters> = self.counters().collect();
        let rtts: Vec<_> = self.flows.iter().map(|flow| Some(flow.seen.rtts())).collect();
        let links = 0..self.recorded_links;
        let sojourns: Vec<_> = links.map(|link| net.sojourn_histogram(link)).collect();
        let unknown = self.unknown();
        let (recorder, events) = (self.recorder, net.events());
        let all = Outcome::gather(recorder, &self.facts, &counters, &rtts, &sojourns, events);
        let flow_samples = all.flow_samples.without(&unknown);
        let [transfers, arrival_samples] = of_transfers(self.transfers, net.now());
        Ok(Outcome { flow_samples, transfers, arrival_samples, ..all })
    }

    /// The rows of transfers and their samples when the run ends, if there are any.
    pub(crate) fn into_transfers(self, now: Time) -> [Option<Table>; 2] {
        of_transfers(self.transfers, now)
    }
}

fn of_transfers(transfers: Option<Transfers>, now: Time) -> [Option<Table>; 2] {
    transfers.map_or([None, None], |transfers| transfers.outcome(now).map(Some))
}

/// The path of a packet that entered at `side`, by the receiver's port: its flow's, or its variant's.
fn path_of(side: usize, headers: &Headers) -> Option<usize> {
    headers.ports[1 - side].checked_sub(FIRST_PORT).map(usize::from)
}

/// The same of a packet in the network.
pub(crate) fn path(packet: &Packet) -> usize {
    let receiver = (packet.tuple.ports & 0xffff) as u16;
    receiver.saturating_sub(FIRST_PORT).into()
}

impl Tap for Flows {
    fn enters(&mut self, now: Time, side: usize, bytes: &[u8]) -> Option<Packet> {
        let headers = parse(bytes)?;
        let path = path_of(side, &headers)?;
        let Some(flow) = self.flows.get_mut(path) else {
            return self.transfers.as_mut()?.enters(now, side, &headers);
        };
        let header = flow.seen.enters(now, side, &headers);
        let index = flow.entered[side];
        flow.entered[side] += 1;
        Some(headers.packet(&flow.addresses[side], side, index, header))
    }

    fn leaves(&mut self, now: Time, packet: &Packet, bytes: &mut [u8]) -> usize {
        set_class(bytes, packet.dscp(), packet.ecn);
        let forward = packet.direction() == Direction::Forward;
        let Some(headers) = parse(bytes) else { return usize::from(forward) };
        let seen = self.flows.get_mut(packet.flow as usize).map(|flow| &mut flow.seen);
        match (seen, &mut self.transfers) {
            (Some(seen), _) if forward => seen.received(now, &headers),
            (Some(seen), _) => seen.acknowledged(now, &headers),
            (None, Some(transfers)) => transfers.leaves(now, packet, &headers),
            (None, None) => {}
        }
        usize::from(forward)
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        let now = net.now();
        match timer {
            SAMPLE => {
                self.sample(net)?;
                net.set_timer(now + self.sample_interval, SAMPLE);
            }
            ASK_KERNEL => {
                self.update(now);
                net.set_timer(now + tcp_info::INTERVAL, ASK_KERNEL);
            }
            _ => {
                net.end_warmup();
                self.end_warmup();
            }
        }
        Ok(())
    }
}
