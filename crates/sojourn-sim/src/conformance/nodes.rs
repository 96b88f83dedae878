//! Conformance of kinds of nodes, with default parameters: a node between two links of 1 ms,
//! through which packets pass one by one, at random times and in bursts.

use std::sync::Arc;

use super::{Check, Subject};
use crate::edge::Link;
use crate::net::{Arrivals, Builder, Network};
use crate::node::{Behaviour, NodeInit};
use crate::packet::{Address, Header, Packet, Route};
use crate::rng::StreamKey;
use crate::spec::Node;
use crate::units::{Span, Time};

/// Every check.
pub static CHECKS: &[Check] = &[
    Check {
        name: "balance",
        legend: "share of instants at which what came in has gone out, was dropped or is held; 1",
        measure: |node| {
            let mut passage = Passage::new(node);
            let random = StreamKey::root(1);
            let balanced = (0..1000).filter(|index| {
                let micros = (2_000.0 * random.uniform_at(*index)) as u64;
                passage.send(1);
                passage.advance(Span::from_micros(micros));
                passage.net.check().is_ok()
            });
            Ok(balanced.count() as f64 / 1000.0)
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "burst",
        legend: "1 if it is balanced after 10000 packets at once, and time goes on",
        measure: |node| {
            let mut passage = Passage::new(node);
            passage.send(10_000);
            passage.advance(Span::from_secs(60));
            Ok(f64::from(u8::from(passage.net.check().is_ok())))
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "no time travel",
        legend: "least time in ms from sending to arrival; at least the 2 ms of propagation",
        measure: |node| {
            let mut passage = Passage::new(node);
            for _ in 0..1000 {
                passage.send(1);
                passage.advance(Span::from_micros(700));
            }
            passage.advance(Span::from_secs(60));
            let sent = |index: u32| passage.sent.get(index as usize).copied();
            let arrivals = passage.arrivals.0.iter();
            let took = arrivals.filter_map(|(at, p)| Some(at.since(sent(p.index)?).as_nanos()));
            Ok(took.min().map_or(f64::INFINITY, |nanos| nanos as f64 / 1e6))
        },
        required: (2.0, f64::INFINITY),
    },
    Check {
        name: "same again",
        legend: "1 if the same packets have the same outcome a second time",
        measure: |node| {
            let once = || {
                let mut passage = Passage::new(node);
                for burst in 1..30 {
                    passage.send(burst);
                    passage.advance(Span::from_micros(u64::from(burst) * 311));
                }
                format!("{:?}", passage.arrivals)
            };
            Ok(f64::from(u8::from(once() == once())))
        },
        required: (1.0, 1.0),
    },
];

/// A node between two links, and the packets that have passed.
struct Passage {
    net: Network,
    route: Route,
    arrivals: Arrivals,
    /// Sending time of each packet.
    sent: Vec<Time>,
}

impl Passage {
    fn new(subject: &Subject) -> Self {
        let init = NodeInit { random: StreamKey::root(1).child("node"), ..NodeInit::default() };
        let make = subject.entry::<Node>().make;
        let behaviour = make(&subject.params, &init, &Arc::clone(&subject.catalogue));
        let behaviour = behaviour.unwrap_or_else(|error| panic!("{}: {error}", subject.name));
        let (net, route) = between(behaviour);
        Passage { net, route, arrivals: Arrivals::default(), sent: Vec::new() }
    }

    /// Sends `packets` packets now.
    fn send(&mut self, packets: u32) {
        for _ in 0..packets {
            let address = Address { route: self.route, ..Address::default() };
            let index = self.sent.len() as u32;
            let packet: Packet = address.packet(index, 1000, Header::opaque(972));
            self.net.inject(&packet);
            self.sent.push(self.net.now());
        }
    }

    fn advance(&mut self, by: Span) {
        let until = self.net.now() + by;
        self.net.advance(until, &mut self.arrivals).unwrap_or_else(|fault| panic!("{fault}"));
    }
}

fn between(behaviour: Behaviour) -> (Network, Route) {
    let wire = || Link::new(None, None, Span::from_millis(1));
    let mut net = Builder::new();
    let source = net.plain_node("source");
    let node = net.node("node", behaviour);
    let sink = net.plain_node("sink");
    let route = net
        .link("to", [Some(source), Some(node)], wire())
        .and_then(|to| Ok([to, net.link("from", [Some(node), Some(sink)], wire())?]))
        .and_then(|edges| net.route(&edges));
    (net.build(), route.unwrap_or_else(|error| panic!("{error}")))
}
