//! The packets of programs that know nothing of the scenario: each connection is a flow, on the way
//! of the scenario's first one.
//!
//! All programs are in one namespace with two devices. Its own address on either is local, and
//! traffic between local addresses would never leave the kernel; so the other end of each device is
//! an address that nobody has, and packets change their addresses on the way.

use std::collections::HashMap;

use sojourn_core::error::Fault;
use sojourn_core::net::{Network, Step};
use sojourn_core::packet::{Address, Direction, FiveTuple, Header, Packet};
use sojourn_core::record::{FlowCounters, FlowFacts, LinkCounters, Outcome, Recorder};
use sojourn_core::units::{Span, Time};

use crate::drive::Tap;
use crate::kernel;
use crate::namespace::{RECEIVERS, SENDERS};
use crate::seen::Seen;
use crate::wire::{Headers, Transport, parse, readdress, set_ecn};

/// Address of the second device.
pub const SERVERS: [u8; 4] = [10, 77, 1, 1];
/// Whom programs that are reached by the second device see.
const CLIENTS: [u8; 4] = [10, 77, 1, 2];
/// The flow of packets that are neither TCP nor UDP: they pass and are not recorded.
const OTHER: u32 = u32::MAX;

const SAMPLE: u32 = 0;
const WARMUP_END: u32 = 1;
const INTEGRATE: u32 = 2;

/// What the packets of a program do not show.
const UNKNOWN: &[&str] = &[
    "written_bytes",
    "spurious_retransmissions",
    "rtos",
    "recoveries",
    "recovery_time",
    "cwnd_time",
    "cwnd",
    "ssthresh",
];

/// Transport and ports: the initiator's, then the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    tcp: bool,
    ports: [u16; 2],
}

impl Key {
    fn of(side: usize, headers: &Headers) -> Self {
        let [source, destination] = headers.ports;
        let ports = if side == 0 { [source, destination] } else { [destination, source] };
        Key { tcp: matches!(headers.transport, Transport::Tcp(_)), ports }
    }
}

struct ForeignFlow {
    key: Key,
    first_seen: Time,
    last_seen: Time,
    entered: [u32; 2],
    seen: Seen,
}

impl ForeignFlow {
    fn counters(&self) -> FlowCounters {
        without_kernel(self.seen.counters.report(self.key.tcp))
    }
}

/// All flows so far, and what has been sampled of them.
pub struct Foreign {
    route: [Address; 2],
    facts: FlowFacts,
    recorded_links: usize,
    sample_interval: Span,
    known: HashMap<Key, usize>,
    flows: Vec<ForeignFlow>,
    samples: Vec<(Time, Vec<FlowCounters>, Vec<LinkCounters>)>,
}

impl Foreign {
    /// No flows yet; they go the way that `route` and `facts` say.
    pub fn new(
        route: [Address; 2],
        facts: FlowFacts,
        recorded_links: usize,
        sample_interval: Span,
    ) -> Self {
        let (known, flows, samples) = (HashMap::new(), Vec::new(), Vec::new());
        Foreign { route, facts, recorded_links, sample_interval, known, flows, samples }
    }

    /// Sets the timers that a run begins with.
    pub fn start(&self, net: &mut Network, warmup: Span) {
        net.set_timer(Time::ZERO + self.sample_interval, SAMPLE);
        net.set_timer(Time::ZERO + warmup, WARMUP_END);
        net.set_timer(Time::ZERO + kernel::INTERVAL, INTEGRATE);
    }

    fn flow(&mut self, now: Time, key: Key) -> usize {
        let next = self.flows.len();
        let flow = *self.known.entry(key).or_insert(next);
        if flow == next {
            let seen = Seen::default();
            let (first_seen, last_seen) = (now, now);
            self.flows.push(ForeignFlow { key, first_seen, last_seen, entered: [0; 2], seen });
        }
        self.flows[flow].last_seen = now;
        flow
    }

    fn sample(&mut self, net: &mut Network) -> Step {
        let flows = self.flows.iter().map(ForeignFlow::counters).collect();
        let links = (0..self.recorded_links).map(|link| net.report(link)).collect();
        self.samples.push((net.now(), flows, links));
        net.check()
    }

    /// What has been recorded, and a name for each flow.
    ///
    /// # Errors
    /// If the network lost packets without a reason.
    pub fn outcome(mut self, net: &mut Network) -> Result<(Outcome, Vec<String>), Box<Fault>> {
        self.sample(net)?;
        let (count, links) = (self.flows.len(), self.recorded_links);
        let mut recorder = Recorder::new([count, links, 0], self.samples.len());
        let unborn: Vec<_> = self.flows.iter().map(|flow| blank(flow.key.tcp)).collect();
        for (time, flows, links) in self.samples {
            let all = flows.iter().chain(&unborn[flows.len()..]).copied();
            recorder.sample(time, all, links.into_iter());
        }
        let facts = |flow: &ForeignFlow| FlowFacts {
            start: flow.first_seen,
            stop: flow.last_seen,
            ..self.facts
        };
        let facts: Vec<_> = self.flows.iter().map(facts).collect();
        let counters: Vec<_> = self.flows.iter().map(ForeignFlow::counters).collect();
        let rtts: Vec<_> = self.flows.iter().map(|flow| Some(flow.seen.rtts())).collect();
        let sojourns: Vec<_> = (0..links).map(|link| net.sojourn_histogram(link)).collect();
        let all = Outcome::gather(recorder, &facts, &counters, &rtts, &sojourns, net.events());
        let unknown = |table: sojourn_core::record::Table| {
            table.without(crate::flows::UNKNOWN).without(UNKNOWN)
        };
        let names = self.flows.iter().map(|flow| name(&flow.key)).collect();
        Ok((Outcome { flow_samples: unknown(all.flow_samples), ..all }, names))
    }
}

/// Counters of a flow before its first packet.
fn blank(tcp: bool) -> FlowCounters {
    without_kernel(crate::seen::Counters::default().report(tcp))
}

fn without_kernel(all: FlowCounters) -> FlowCounters {
    FlowCounters { rate: None, limits: None, ..all }
}

fn name(key: &Key) -> String {
    let transport = if key.tcp { "tcp" } else { "udp" };
    format!("{transport} {}>{}", key.ports[0], key.ports[1])
}

/// Where a packet goes, in the network's headers: bytes 16 to 20 of an IPv4 packet.
fn is_for(bytes: &[u8], side: usize) -> bool {
    let wanted = if side == 0 { RECEIVERS } else { CLIENTS };
    bytes.first().is_some_and(|first| first >> 4 == 4) && bytes.get(16..20) == Some(&wanted)
}

impl Tap for Foreign {
    fn enters(&mut self, now: Time, side: usize, bytes: &[u8]) -> Option<Packet> {
        if !is_for(bytes, side) {
            return None;
        }
        let address = self.route[side];
        let Some(headers) = parse(bytes) else {
            let payload = bytes.len().saturating_sub(20) as u16;
            let packet = address.packet(0, bytes.len() as u32, Header::opaque(payload));
            return Some(Packet { flow: OTHER, ..packet });
        };
        let key = Key::of(side, &headers);
        let number = self.flow(now, key);
        let flow = &mut self.flows[number];
        let header = flow.seen.enters(now, side, &headers);
        let index = flow.entered[side];
        flow.entered[side] += 1;
        let ports = u32::from(key.ports[0]) << 16 | u32::from(key.ports[1]);
        let tuple = FiveTuple { ports, ..address.tuple };
        let packet = address.packet(index, headers.size, header);
        Some(Packet { flow: number as u32, ecn: headers.ecn, tuple, ..packet })
    }

    fn leaves(&mut self, now: Time, packet: &Packet, bytes: &mut [u8]) -> usize {
        let seen = self.flows.get_mut(packet.flow as usize).map(|flow| &mut flow.seen);
        if packet.flow != OTHER {
            set_ecn(bytes, packet.ecn);
        }
        let headers = seen.zip(parse(bytes));
        match packet.direction {
            Direction::Forward => {
                headers.into_iter().for_each(|(seen, headers)| seen.received(now, &headers));
                readdress(bytes, CLIENTS, SERVERS);
                1
            }
            Direction::Backward => {
                headers.into_iter().for_each(|(seen, headers)| seen.acknowledged(now, &headers));
                readdress(bytes, RECEIVERS, SENDERS);
                0
            }
        }
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        match timer {
            SAMPLE => {
                net.set_timer(net.now() + self.sample_interval, SAMPLE);
                return self.sample(net);
            }
            INTEGRATE => {
                net.set_timer(net.now() + kernel::INTERVAL, INTEGRATE);
                self.flows.iter_mut().for_each(|flow| flow.seen.integrate(kernel::INTERVAL));
            }
            _ => {
                net.end_warmup();
                self.flows.iter_mut().for_each(|flow| flow.seen.end_warmup());
            }
        }
        Ok(())
    }
}
