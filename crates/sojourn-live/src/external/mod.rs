//! Packets of external programs: the data that a side of a connection sends are a flow, on the path
//! of the scenario's first flow or on its reverse path.
//!
//! All programs are in one namespace with two devices. The address of either device is local, and
//! traffic between local addresses would never leave the kernel; so the other end of each device is
//! an address that no host has, and packets are readdressed on the way.

mod connection;

use std::collections::HashMap;

use sojourn_base::error::Fault;
use sojourn_base::packet::{Address, FiveTuple, Header, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_net::net::{Network, Step};
use sojourn_net::record::{FlowCounters, FlowFacts, LinkCounters, Outcome, Recorder};

use crate::drive::Tap;
use crate::namespace::{RECEIVERS, SENDERS};
use crate::observed::Observed;
use crate::tcp_info;
use crate::wire::{parse, readdress, set_class};
use connection::{Connection, Key};

/// Address of the second device.
pub(crate) const SERVERS: [u8; 4] = [10, 77, 1, 1];
/// Source address that programs reached by the second device observe.
const CLIENTS: [u8; 4] = [10, 77, 1, 2];
/// Flow number of packets that are neither TCP nor UDP: they pass and are not recorded.
const OTHER: u32 = u32::MAX;

const SAMPLE: u32 = 0;
const WARMUP_END: u32 = 1;
const INTEGRATE: u32 = 2;

/// Columns that the packets of a program do not show.
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

/// All connections so far, and their samples.
pub(crate) struct External {
    ways: [Address; 2],
    facts: FlowFacts,
    recorded_links: usize,
    sample_interval: Span,
    known: HashMap<Key, usize>,
    connections: Vec<Connection>,
    samples: Vec<(Time, Vec<[FlowCounters; 2]>, Vec<LinkCounters>)>,
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
        let (known, connections, samples) = (HashMap::new(), Vec::new(), Vec::new());
        External { ways, facts, recorded_links, sample_interval, known, connections, samples }
    }

    /// Sets the timers with which a run begins.
    pub(crate) fn start(&self, net: &mut Network, warmup: Span) {
        net.set_timer(Time::ZERO + self.sample_interval, SAMPLE);
        net.set_timer(Time::ZERO + warmup, WARMUP_END);
        net.set_timer(Time::ZERO + tcp_info::INTERVAL, INTEGRATE);
    }

    fn connection(&mut self, now: Time, key: Key) -> usize {
        let next = self.connections.len();
        let number = *self.known.entry(key).or_insert(next);
        if number == next {
            self.connections.push(Connection::new(key, now));
        }
        self.connections[number].last_seen = now;
        number
    }

    fn sample(&mut self, net: &mut Network) -> Step {
        let connections = self.connections.iter().map(Connection::counters).collect();
        let links = (0..self.recorded_links).map(|link| net.report(link)).collect();
        self.samples.push((net.now(), connections, links));
        net.check()
    }

    /// Observed data of both sides of all connections.
    fn seen(&mut self) -> impl Iterator<Item = &mut Observed> {
        self.connections.iter_mut().flat_map(|connection| &mut connection.seen)
    }

    /// The flows: connections, and the sides that sent their data.
    fn flows(&self) -> Vec<(usize, usize)> {
        let numbered = self.connections.iter().enumerate();
        let of = |(number, connection): (usize, &Connection)| -> Vec<(usize, usize)> {
            connection.senders().map(|side| (number, side)).collect()
        };
        numbered.flat_map(of).collect()
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
        let (flows, links) = (self.flows(), self.recorded_links);
        let connections = &self.connections;
        let mut recorder = Recorder::new([flows.len(), links, 0], counters, self.samples.len());
        for (time, counters, links) in self.samples {
            let known = |&(number, side): &(usize, usize)| {
                let unborn = || connections[number].key.blank();
                counters.get(number).map_or_else(unborn, |sides| sides[side])
            };
            recorder.sample(time, flows.iter().map(known), links.into_iter());
        }
        let facts = |&(number, _): &(usize, usize)| {
            let Connection { first_seen, last_seen, .. } = connections[number];
            FlowFacts { start: first_seen, stop: last_seen, ..self.facts }
        };
        let facts: Vec<_> = flows.iter().map(facts).collect();
        let counters = flows.iter().map(|&(number, side)| connections[number].counters()[side]);
        let counters: Vec<_> = counters.collect();
        let rtts = flows.iter().map(|&(number, side)| Some(connections[number].seen[side].rtts()));
        let rtts: Vec<_> = rtts.collect();
        let sojourns: Vec<_> = (0..links).map(|link| net.sojourn_histogram(link)).collect();
        let all = Outcome::gather(recorder, &facts, &counters, &rtts, &sojourns, net.events());
        let flow_samples = all.flow_samples.without(crate::flows::UNKNOWN).without(UNKNOWN);
        let name = |&(number, side): &(usize, usize)| (side, connections[number].key.name(side));
        let names = flows.iter().map(name).collect();
        Ok((Outcome { flow_samples, ..all }, names))
    }
}

/// Whether a packet that enters at `side` is addressed into the network: bytes 16 to 20 of an IPv4
/// packet.
fn is_for(bytes: &[u8], side: usize) -> bool {
    let wanted = if side == 0 { RECEIVERS } else { CLIENTS };
    bytes.first().is_some_and(|first| first >> 4 == 4) && bytes.get(16..20) == Some(&wanted)
}

impl Tap for External {
    fn enters(&mut self, now: Time, side: usize, bytes: &[u8]) -> Option<Packet> {
        if !is_for(bytes, side) {
            return None;
        }
        let way = self.ways[side];
        let Some(headers) = parse(bytes) else {
            let payload = bytes.len().saturating_sub(20) as u16;
            let packet = way.packet(0, bytes.len() as u32, Header::opaque(payload));
            return Some(Packet { flow: OTHER, ..packet });
        };
        let key = Key::of(side, &headers);
        let number = self.connection(now, key);
        let connection = &mut self.connections[number];
        connection.seen[side].enters(now, 0, &headers);
        let header = connection.seen[1 - side].enters(now, 1, &headers);
        let index = connection.entered[side];
        connection.entered[side] += 1;
        let ports = u32::from(key.ports[0]) << 16 | u32::from(key.ports[1]);
        let tuple = FiveTuple { ports, ..way.tuple };
        let packet = way.packet(index, headers.size, header);
        let way = packet.way.with_dscp(headers.dscp);
        Some(Packet { flow: number as u32, ecn: headers.ecn, way, tuple, ..packet })
    }

    fn leaves(&mut self, now: Time, packet: &Packet, bytes: &mut [u8]) -> usize {
        let from = usize::from(packet.direction() != self.ways[0].direction);
        if packet.flow != OTHER {
            set_class(bytes, packet.dscp(), packet.ecn);
        }
        let connection = self.connections.get_mut(packet.flow as usize);
        if let Some((connection, headers)) = connection.zip(parse(bytes)) {
            connection.seen[from].received(now, &headers);
            connection.seen[1 - from].acknowledged(now, &headers);
        }
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
                self.seen().for_each(|seen| seen.integrate(tcp_info::INTERVAL));
            }
            _ => {
                net.end_warmup();
                self.seen().for_each(Observed::end_warmup);
            }
        }
        Ok(())
    }
}
