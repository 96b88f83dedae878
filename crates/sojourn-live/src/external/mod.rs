//! Packets of external programs: the data that a side of a connection sends are a flow, on the path
//! of the scenario's first flow or on its reverse path.
//!
//! All programs are in one namespace with two devices. The address of either device is local, and
//! traffic between local addresses would never leave the kernel; so the other end of each device is
//! an address that no host has, and packets are readdressed on the way.

mod connection;
mod connections;

use sojourn_base::error::Fault;
use sojourn_base::packet::{Address, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_net::net::{Network, Step};
use sojourn_net::record::{FlowCounters, FlowFacts, LinkCounters, Outcome, Recorder};

use crate::drive::Tap;
use crate::namespace::{RECEIVERS, SENDERS};
use crate::tcp_info;
use crate::wire::{destination, readdress};
pub(crate) use connections::{Connections, Data};

/// Address of the second device.
pub(crate) const SERVERS: [u8; 4] = [10, 77, 1, 1];
/// Source address that programs reached by the second device observe.
const CLIENTS: [u8; 4] = [10, 77, 1, 2];

const SAMPLE: u32 = 0;
const WARMUP_END: u32 = 1;
const INTEGRATE: u32 = 2;

/// Columns that the packets of a program do not show.
pub(crate) const UNKNOWN: &[&str] = &[
    "written_bytes",
    "spurious_retransmissions",
    "rtos",
    "recoveries",
    "recovery_time",
    "cwnd_time",
    "cwnd",
    "ssthresh",
];

/// A sample: when, of both sides of all connections, and of the links.
type Sample = (Time, Vec<[FlowCounters; 2]>, Vec<LinkCounters>);

/// All connections so far, and their samples.
pub(crate) struct External {
    ways: [Address; 2],
    facts: FlowFacts,
    recorded_links: usize,
    sample_interval: Span,
    connections: Connections,
    samples: Vec<Sample>,
}

/// The sending side of a flow, and a name.
pub(crate) type Named = (usize, String);

impl External {
    /// No connections yet; packets that enter at a side take that side's route in `ways`.
    pub(crate) fn new(
        ways: [Address; 2],
        facts: FlowFacts,
        recorded_links: usize,
        sample_interval: Span,
    ) -> Self {
        let (connections, samples) = (Connections::on(1), Vec::new());
        External { ways, facts, recorded_links, sample_interval, connections, samples }
    }

    /// Sets the timers with which a run begins.
    pub(crate) fn start(&self, net: &mut Network, warmup: Span) {
        net.set_timer(Time::ZERO + self.sample_interval, SAMPLE);
        net.set_timer(Time::ZERO + warmup, WARMUP_END);
        net.set_timer(Time::ZERO + tcp_info::INTERVAL, INTEGRATE);
    }

    fn sample(&mut self, net: &mut Network) -> Step {
        let links = (0..self.recorded_links).map(|link| net.report(link)).collect();
        self.samples.push((net.now(), self.connections.sample(), links));
        net.check()
    }

    /// The recorded tables; of each flow the sending side, and a name. Kinds of nodes name these
    /// `counters`.
    ///
    /// # Errors
    /// If the network lost packets without a reason.
    pub(crate) fn outcome(
        mut self,
        net: &mut Network,
        counters: &[&'static str],
    ) -> Result<(Outcome, Vec<Named>), Box<Fault>> {
        self.sample(net)?;
        let (flows, links) = (self.connections.data(), self.recorded_links);
        let connections = &self.connections;
        let mut recorder = Recorder::new([flows.len(), links, 0], counters, self.samples.len());
        for (time, sample, links) in &self.samples {
            let known = |data: &Data| connections.counters(sample, data);
            recorder.sample(*time, flows.iter().map(known), links.iter().copied());
        }
        let facts: Vec<_> = flows.iter().map(|data| connections.facts(data, self.facts)).collect();
        let last = connections.sample();
        let counters: Vec<_> = flows.iter().map(|data| connections.counters(&last, data)).collect();
        let rtts: Vec<_> = flows.iter().map(|data| Some(connections.rtts(data))).collect();
        let sojourns: Vec<_> = (0..links).map(|link| net.sojourn_histogram(link)).collect();
        let all = Outcome::gather(recorder, &facts, &counters, &rtts, &sojourns, net.events());
        let flow_samples = all.flow_samples.without(crate::flows::UNKNOWN).without(UNKNOWN);
        let name = |data: &Data| (data.side, connections.name(data, [""; 2]));
        let names = flows.iter().map(name).collect();
        Ok((Outcome { flow_samples, ..all }, names))
    }
}

/// Whether a packet that enters at `side` is addressed into the network.
fn is_for(bytes: &[u8], side: usize) -> bool {
    let wanted = if side == 0 { RECEIVERS } else { CLIENTS };
    destination(bytes) == Some(&wanted[..])
}

impl Tap for External {
    fn enters(&mut self, now: Time, side: usize, bytes: &[u8]) -> Option<Packet> {
        if !is_for(bytes, side) {
            return None;
        }
        Some(self.connections.enters(now, (0, side), &self.ways[side], bytes))
    }

    fn leaves(&mut self, now: Time, packet: &Packet, bytes: &mut [u8]) -> usize {
        let from = usize::from(packet.direction() != self.ways[0].direction);
        self.connections.leaves(now, from, packet, bytes);
        match from {
            0 => readdress(bytes, CLIENTS, SERVERS),
            _ => readdress(bytes, RECEIVERS, SENDERS),
        }
        1 - from
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        match timer {
            SAMPLE => {
                net.set_timer(net.now() + self.sample_interval, SAMPLE);
                return self.sample(net);
            }
            INTEGRATE => {
                net.set_timer(net.now() + tcp_info::INTERVAL, INTEGRATE);
                self.connections.integrate(tcp_info::INTERVAL);
            }
            _ => {
                net.end_warmup();
                self.connections.end_warmup();
            }
        }
        Ok(())
    }
}
