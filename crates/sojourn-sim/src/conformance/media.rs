//! Conformance of shared media, with default parameters: three stations, two of which communicate
//! with the third, in both directions.

use std::sync::Arc;

use super::{Check, Subject};
use crate::edge::Departure;
use crate::edge::link::LinkSpec;
use crate::edge::medium::{Channel, MediumInit};
use crate::net::{Arrivals, Builder, Hosts, Network, Step};
use crate::packet::{Address, Header, Packet, Route};
use crate::queue::QueueInit;
use crate::rng::StreamKey;
use crate::spec::{AccessCategory, Medium};
use crate::units::{Span, Time};

/// Every check.
pub static CHECKS: &[Check] = &[
    Check {
        name: "balance",
        legend: "share of instants at which what came in has gone out, was dropped or is held; 1",
        measure: |medium| {
            let mut air = Air::new(medium);
            let random = StreamKey::root(1);
            let balanced = (0..1000).filter(|index| {
                let micros = (1_000.0 * random.uniform_at(*index)) as u64;
                air.send((*index % 4) as usize, 1 + (*index % 9) as usize);
                air.advance(Span::from_micros(micros));
                air.net.check().is_ok()
            });
            Ok(balanced.count() as f64 / 1000.0)
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "burst",
        legend: "share of 40000 packets at once that have arrived or were dropped a minute later; 1",
        measure: |medium| {
            let mut air = Air::new(medium);
            (0..CHANNELS.len()).for_each(|channel| air.send(channel, 10_000));
            air.advance(Span::from_secs(60));
            Ok(1.0 - air.held() / 40_000.0)
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "light load",
        legend: "share that arrives of 400 packets, one every 10 ms; 1",
        measure: |medium| {
            let mut air = Air::new(medium);
            for index in 0..400 {
                air.send(index % 4, 1);
                air.advance(Span::from_millis(10));
            }
            air.advance(Span::from_secs(1));
            Ok(air.seen.arrivals.0.len() as f64 / 400.0)
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "order",
        legend: "packets that arrive after a later one of their channel; 0",
        measure: |medium| {
            let mut air = Air::new(medium);
            air.saturate(&[0, 1, 2, 3], 100);
            let mut last = [0; CHANNELS.len()];
            let late = air.seen.arrivals.0.iter().filter(|(_, packet)| {
                let last = &mut last[packet.flow as usize];
                let late = packet.index < *last;
                *last = packet.index.max(*last);
                late
            });
            Ok(late.count() as f64)
        },
        required: (0.0, 0.0),
    },
    Check {
        name: "takes time",
        legend: "least time in us from sending to arrival; more than 0",
        measure: |medium| {
            let mut air = Air::new(medium);
            air.saturate(&[0, 1, 2, 3], 100);
            let sent = |packet: &Packet| air.sent[packet.flow as usize].get(packet.index as usize);
            let arrivals = air.seen.arrivals.0.iter();
            let took = arrivals.filter_map(|(at, p)| Some(at.since(*sent(p)?).as_nanos()));
            Ok(took.min().map_or(0.0, |nanos| nanos as f64 / 1e3))
        },
        required: (1e-3, f64::INFINITY),
    },
    Check {
        name: "shared",
        legend: "packets that a station and the one in the middle carry to each other, relative to \
                 what one of them carries alone; at most 1.2",
        measure: |medium| {
            let carried = |channels: &[usize]| {
                let mut air = Air::new(medium);
                air.saturate(channels, 500);
                air.seen.arrivals.0.len() as f64
            };
            Ok(carried(&[0, 1]) / carried(&[0]))
        },
        required: (0.0, 1.2),
    },
    Check {
        name: "departures",
        legend: "bytes that senders are told have left their host, relative to those sent; 1",
        measure: |medium| {
            let mut air = Air::new(medium);
            air.saturate(&[0, 2], 100);
            air.advance(Span::from_secs(60));
            let sent: usize = air.sent.iter().map(Vec::len).sum();
            Ok(air.seen.departed / (sent as f64 * f64::from(SIZE)))
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "same again",
        legend: "1 if the same packets have the same outcome a second time",
        measure: |medium| {
            let once = || {
                let mut air = Air::new(medium);
                air.saturate(&[0, 1, 2, 3], 100);
                format!("{:?}", air.seen.arrivals)
            };
            Ok(f64::from(u8::from(once() == once())))
        },
        required: (1.0, 1.0),
    },
];

/// The channels' names and stations; flow `n` goes over channel `n`.
const CHANNELS: [(&str, [&str; 2]); 4] = [
    ("up", ["a", "middle"]),
    ("down", ["middle", "a"]),
    ("other up", ["b", "middle"]),
    ("other down", ["middle", "b"]),
];
/// Size of a packet in bytes.
const SIZE: u32 = 1500;

/// Arrivals and departures of packets.
#[derive(Default)]
struct Seen {
    arrivals: Arrivals,
    /// Packets that arrived on each channel.
    arrived: [usize; CHANNELS.len()],
    /// Bytes that have left their senders' hosts.
    departed: f64,
}

impl Hosts for Seen {
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
        self.arrived[packet.flow as usize] += 1;
        self.arrivals.on_packet(net, packet)
    }

    fn on_departure(&mut self, _net: &mut Network, departure: Departure) -> Step {
        self.departed += f64::from(departure.bytes);
        Ok(())
    }

    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step {
        self.arrivals.on_timer(net, timer)
    }

    fn component(&self, timer: u32) -> String {
        self.arrivals.component(timer)
    }
}

/// A network that consists of the medium alone.
struct Air {
    net: Network,
    routes: Vec<Route>,
    seen: Seen,
    /// Sending times of packets on each channel.
    sent: [Vec<Time>; CHANNELS.len()],
}

impl Air {
    fn new(subject: &Subject) -> Self {
        let link = LinkSpec::default();
        let mut queue = QueueInit::new(None, StreamKey::root(1));
        (queue.full_packet, queue.base_rtt) = (SIZE, Span::from_millis(10));
        let channel =
            |(id, stations)| Channel { id, stations, link: &link, queue, watch: None, tap: None };
        let init = MediumInit {
            channels: CHANNELS.map(channel).into(),
            categories: vec![AccessCategory::BestEffort; CHANNELS.len()],
            random: StreamKey::root(1).child("medium"),
            watch: None,
        };
        let make = subject.entry::<Medium>().make;
        let medium = make(&subject.params, init, &Arc::clone(&subject.catalogue))
            .unwrap_or_else(|error| panic!("{}: {error}", subject.name));
        let mut net = Builder::new();
        let medium = net.medium(medium);
        let nodes = ["a", "b", "middle"].map(|name| (name, net.plain_node(name)));
        let node = |of: &str| nodes.iter().find(|(name, _)| *name == of).map(|(_, node)| *node);
        let mut routes = Vec::new();
        for (id, stations) in CHANNELS {
            let route = net
                .channel(id, stations.map(node), medium)
                .and_then(|edge| net.route(&[edge]))
                .unwrap_or_else(|error| panic!("{error}"));
            routes.push(route);
        }
        Air { net: net.build(), routes, seen: Seen::default(), sent: Default::default() }
    }

    /// Sends `packets` packets over a channel now.
    fn send(&mut self, channel: usize, packets: usize) {
        let (flow, route) = (channel as u32, self.routes[channel]);
        let address = Address { flow, route, ..Address::default() };
        for _ in 0..packets {
            let index = self.sent[channel].len() as u32;
            self.net.inject(&address.packet(index, SIZE, Header::opaque(SIZE as u16 - 28)));
            self.sent[channel].push(self.net.now());
        }
    }

    /// Keeps `packets` packets in transit over each of these channels for a second.
    fn saturate(&mut self, channels: &[usize], packets: usize) {
        for _ in 0..1000 {
            for channel in channels {
                let under_way = self.sent[*channel].len() - self.seen.arrived[*channel];
                self.send(*channel, packets.saturating_sub(under_way));
            }
            self.advance(Span::from_millis(1));
        }
    }

    /// Packets that have neither arrived nor been dropped.
    fn held(&mut self) -> f64 {
        let edges = 0..CHANNELS.len();
        edges.map(|edge| self.net.held(edge).packets as f64).sum()
    }

    fn advance(&mut self, by: Span) {
        let until = self.net.now() + by;
        self.net.advance(until, &mut self.seen).unwrap_or_else(|fault| panic!("{fault}"));
    }
}
