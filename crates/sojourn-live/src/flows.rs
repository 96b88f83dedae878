//! The flows of a scenario on a live network: assignment of packets to flows, and recording.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sojourn_base::packet::{Address, Direction, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_net::net::{Network, Step};
use sojourn_net::record::{FlowCounters, FlowFacts, Outcome, Recorder};
use sojourn_sim::sim::arrivals::Entry;

use crate::drive::Tap;
use crate::news::News;
use crate::observed::Observed;
use crate::recorded::Record;
use crate::sys;
use crate::tcp_info::{self, Followed};
use crate::transfers::Transfers;
use crate::wire::{Headers, parse, set_class};

/// Port of the receiver of flow 0; that of flow 1 is the next one, and so on. Those of the variants of
/// arrivals follow.
pub const FIRST_PORT: u16 = 10_000;
/// Maximum number of flows and variants, which have one port each.
pub const MOST_FLOWS: usize = (u16::MAX - FIRST_PORT) as usize;

/// Smallest MTU that IPv4 allows.
const SMALLEST_MTU: u32 = 576;

const SAMPLE: u32 = 0;
const ASK_KERNEL: u32 = 1;
const WARMUP_END: u32 = 2;

/// Columns that neither packets nor the kernel show.
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

/// State of a flow's application, as its thread reports it.
#[derive(Debug)]
pub struct Told {
    /// Payload that the socket has accepted.
    pub written: AtomicU64,
    /// Payload of a flow that has ended, else the largest number.
    pub total: AtomicU64,
}

impl Default for Told {
    fn default() -> Self {
        Told { written: AtomicU64::new(0), total: AtomicU64::new(u64::MAX) }
    }
}

/// A flow's connection.
#[derive(Clone, Debug, Default)]
pub enum Connection {
    /// No connection: it sends datagrams.
    #[default]
    Datagrams,
    /// The connection of a socket of this kernel.
    Socket(Arc<OwnedFd>),
    /// A connection of another kernel, which reports.
    Reported,
}

/// The sending end of a flow that can be queried: its application's state, and its connection.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    /// State of its application.
    pub told: Arc<Told>,
    /// Its connection.
    pub connection: Connection,
}

/// One flow.
struct LiveFlow {
    addresses: [Address; 2],
    /// Packets that entered the network, there and back.
    entered: [u32; 2],
    sender: Sender,
    seen: Observed,
    followed: Followed,
}

impl LiveFlow {
    fn counters(&self) -> FlowCounters {
        let tcp = !matches!(self.sender.connection, Connection::Datagrams);
        self.seen.counters.report(tcp)
    }

    fn update(&mut self, now: Time) {
        let (told, counters) = (&self.sender.told, &mut self.seen.counters);
        if let Connection::Socket(socket) = &self.sender.connection
            && let Ok(info) = sys::tcp_info(socket)
        {
            self.followed.sample(now, &info, counters);
        }
        counters.sent.written_bytes = told.written.load(Ordering::Relaxed);
        let (acked, at) = self.seen.acked();
        if acked >= told.total.load(Ordering::Relaxed) {
            self.seen.counters.completed_at.get_or_insert(at);
        }
    }
}

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
        let flow = |(addresses, sender)| LiveFlow {
            addresses,
            entered: [0; 2],
            sender,
            seen: Observed::default(),
            followed: Followed::default(),
        };
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

    fn update(&mut self, now: Time) {
        self.flows.iter_mut().for_each(|flow| flow.update(now));
    }

    fn sample(&mut self, net: &mut Network) -> Step {
        let now = net.now();
        self.update(now);
        let flows = self.flows.iter().map(LiveFlow::counters);
        let links = (0..self.recorded_links).map(|link| net.report(link));
        self.recorder.sample(now, flows, links);
        if let Some(transfers) = &mut self.transfers {
            transfers.sample(now);
        }
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
        let counters: Vec<FlowCounters> = self.flows.iter().map(LiveFlow::counters).collect();
        let rtts: Vec<_> = self.flows.iter().map(|flow| Some(flow.seen.rtts())).collect();
        let links = 0..self.recorded_links;
        let sojourns: Vec<_> = links.map(|link| net.sojourn_histogram(link)).collect();
        let (recorder, events) = (self.recorder, net.events());
        let all = Outcome::gather(recorder, &self.facts, &counters, &rtts, &sojourns, events);
        let flow_samples = all.flow_samples.without(UNKNOWN);
        let told = self.transfers.map(|transfers| transfers.outcome(net.now()));
        let (transfers, arrival_samples) = told.map(|[rows, samples]| (rows, samples)).unzip();
        Ok(Outcome { flow_samples, transfers, arrival_samples, ..all })
    }
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
                self.flows.iter_mut().for_each(|flow| flow.seen.end_warmup());
            }
        }
        Ok(())
    }
}
