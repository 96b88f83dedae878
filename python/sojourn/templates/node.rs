//! KIND: one sentence that says what it does with packets.
//!
//! Say here what it stands for and where that is described; this header is the documentation page.
//! It holds packets for a time, and sends them on in the order in which they came.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Behaviour, Node, NodeContext, NodeInit, Registered};
use crate::observe::Observer;
use crate::packet::{Backlog, Packet};
use crate::units::{Span, Time};

/// Parameters of KIND.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Params {
    /// How long it holds a packet.
    pub delay: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { delay: Span::from_millis(1) }
    }
}

impl crate::registry::Params for Params {}

/// KIND.
#[derive(Debug)]
pub(super) struct KIND {
    params: Params,
    held: VecDeque<(Time, Packet)>,
    backlog: Backlog,
}

impl Registered for KIND {
    type Params = Params;

    fn behaviour(params: Params, _init: &NodeInit) -> Behaviour {
        Behaviour::of(KIND { params, held: VecDeque::new(), backlog: Backlog::default() })
    }
}

impl Node for KIND {
    fn on_packet(&mut self, now: Time, _from: usize, packet: Packet, _cx: &mut NodeContext<'_>) {
        self.backlog.add(&packet);
        self.held.push_back((now + self.params.delay, packet));
    }

    fn next_timer(&self) -> Option<Time> {
        self.held.front().map(|(due, _)| *due)
    }

    fn on_timer(&mut self, now: Time, cx: &mut NodeContext<'_>) {
        let due = self.held.iter().take_while(|(due, _)| *due <= now).count();
        for (_, packet) in self.held.drain(..due) {
            self.backlog.remove(&packet);
            cx.forward(packet);
        }
    }

    fn held(&self) -> Backlog {
        self.backlog
    }

    fn observe(&self, out: &mut Observer<'_>) {
        out("held", (self.held.len() as f64).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::Link;
    use crate::net::{Arrivals, Builder};
    use crate::packet::{Address, Header};

    #[test]
    fn packets_come_its_delay_later() {
        let mut net = Builder::new();
        let [from, node, to] = ["from", "node", "to"].map(|name| net.plain_node(name));
        let kind = KIND::behaviour(Params::default(), &NodeInit::default());
        net.set_behaviour(node, kind).expect("the node is there");
        let wire = || Link::new(None, None, Span::from_millis(2));
        let first = net.link("first", [Some(from), Some(node)], wire()).expect("both are there");
        let second = net.link("second", [Some(node), Some(to)], wire()).expect("both are there");
        let route = net.route(&[first, second]).expect("they join");
        let mut net = net.build();
        let address = Address { route, ..Address::default() };
        net.inject(&address.packet(0, 1000, Header::opaque(972)));
        let mut arrivals = Arrivals::default();
        net.advance(Time::ZERO + Span::from_secs(1), &mut arrivals).expect("laws are kept");
        let times: Vec<_> = arrivals.0.iter().map(|(time, _)| time.since(Time::ZERO)).collect();
        assert_eq!(times, [Span::from_millis(5)]);
        net.check().expect("packets are conserved");
    }
}
