//! Active nodes: one copies, one holds, some violate the laws.

use sojourn_base::packet::{Backlog, Packet, Route};
use sojourn_base::units::{Span, Time};
use sojourn_net::net::{Arrivals, Builder, Network};
use sojourn_net::node::{Behaviour, Node, NodeContext, NodeCounters};
use sojourn_net::queue::DropReason;

use super::{drive, ms, packet, wire};

/// Sends every packet out of its first port and a copy out of its second, each to the socket of
/// that number.
struct Copier;

impl Node for Copier {
    fn on_packet(&mut self, _now: Time, _from: usize, packet: Packet, cx: &mut NodeContext<'_>) {
        let [first, second] = cx.ports() else { panic!("two receivers") };
        let copy = cx.copy(&packet, Route::default(), 2);
        cx.send(*first, Packet { socket: 1, ..packet });
        cx.send(*second, copy);
    }
}

#[test]
fn a_node_copies_packets_to_two_receivers() {
    let mut net = Builder::new();
    let source = net.plain_node("source");
    let copier = net.node("copier", Behaviour::of(Copier));
    let receivers = ["near", "far"].map(|name| net.plain_node(name));
    let up = net.link("up", [Some(source), Some(copier)], wire(5)).unwrap();
    for (receiver, delay) in receivers.into_iter().zip([10, 20]) {
        net.link("down", [Some(copier), Some(receiver)], wire(delay)).unwrap();
    }
    let route = net.route(&[up]).unwrap();
    let mut net = net.build();
    (0..100).for_each(|index| net.inject(&packet(route, index)));
    let arrivals = drive(&mut net, ms(50));
    for (socket, delay) in [(1, 15), (2, 25)] {
        let here: Vec<_> = arrivals.iter().filter(|(_, packet)| packet.socket == socket).collect();
        assert!(here.iter().all(|(time, _)| *time == ms(delay)), "{here:?}");
        assert!(here.iter().map(|(_, packet)| packet.index).eq(0..100));
    }
    let counted = NodeCounters { received: 100, copied: 100, sent: 200, ..Default::default() };
    assert_eq!(*net.node_counters(copier), counted);
}

/// Holds packets, and lets them go every 10 ms.
#[derive(Default)]
struct Holder {
    held: Vec<Packet>,
    until: Option<Time>,
}

impl Node for Holder {
    fn on_packet(&mut self, now: Time, _from: usize, packet: Packet, _cx: &mut NodeContext<'_>) {
        let period = Span::from_millis(10).as_nanos();
        let next = (now.as_nanos() / period + 1) * period;
        self.until = Some(Time::from_nanos(next));
        self.held.push(packet);
    }

    fn next_timer(&self) -> Option<Time> {
        self.until
    }

    fn on_timer(&mut self, _now: Time, cx: &mut NodeContext<'_>) {
        self.held.drain(..).for_each(|packet| cx.forward(packet));
        self.until = None;
    }

    fn held(&self) -> Backlog {
        let mut held = Backlog::default();
        self.held.iter().for_each(|packet| held.add(packet));
        held
    }
}

/// A network of one node with a link of 1 ms to it and one from it; the route over both.
fn through(node: impl Node + 'static) -> (Network, Route) {
    let mut net = Builder::new();
    let [source, middle, sink] = ["source", "middle", "sink"].map(|name| net.plain_node(name));
    net.set_behaviour(middle, Behaviour::of(node)).unwrap();
    let to = net.link("to", [Some(source), Some(middle)], wire(1)).unwrap();
    let from = net.link("from", [Some(middle), Some(sink)], wire(1)).unwrap();
    let route = net.route(&[to, from]).unwrap();
    (net.build(), route)
}

#[test]
fn a_node_holds_packets_until_a_timer() {
    let (mut net, route) = through(Holder::default());
    let mut arrivals = Arrivals::default();
    for index in 0..40 {
        net.inject(&packet(route, index));
        net.advance(ms(u64::from(index) + 1), &mut arrivals).unwrap();
        net.check().unwrap();
    }
    net.advance(ms(100), &mut arrivals).unwrap();
    // Sent at 0 to 39 ms, at the node 1 ms later, sent on when 10, 20, ... have come.
    let times = arrivals.0.iter().map(|(time, packet)| (*time, packet.index));
    assert!(times.eq((0..40).map(|index| (ms(u64::from((index + 1) / 10 * 10 + 10 + 1)), index))));
    assert_eq!(net.next_wakeup(), None);
}

#[test]
fn the_same_packets_meet_the_same_again() {
    let run = || {
        let (mut net, route) = through(Holder::default());
        (0..1000).for_each(|index| net.inject(&packet(route, index)));
        format!("{:?}", drive(&mut net, ms(30)))
    };
    assert_eq!(run(), run());
}

/// Applies a function to each packet.
struct Does(fn(Packet, &mut NodeContext<'_>));

impl Node for Does {
    fn on_packet(&mut self, _now: Time, _from: usize, packet: Packet, cx: &mut NodeContext<'_>) {
        (self.0)(packet, cx);
    }
}

/// The error reported for a node that does this with a packet.
fn complaint(does: fn(Packet, &mut NodeContext<'_>)) -> Option<String> {
    let (mut net, route) = through(Does(does));
    net.inject(&packet(route, 0));
    let driven = net.advance(ms(10), &mut Arrivals::default());
    driven.and_then(|()| net.check()).err().map(|fault| fault.to_string())
}

#[test]
fn nodes_that_break_laws_are_named() {
    let loses = complaint(|_, _| {}).unwrap();
    assert!(loses.contains("node middle: violates the invariant that it neither"), "{loses}");
    let makes = complaint(|packet, cx| (0..2).for_each(|_| cx.forward(packet))).unwrap();
    assert!(makes.contains("node middle"), "{makes}");
    let back = complaint(|packet, cx| cx.forward(Packet { hop: 0, ..packet })).unwrap();
    assert!(back.contains("node middle") && back.contains("not to"), "{back}");
    let declared = complaint(|packet, cx| cx.drop(packet, DropReason::Overflow));
    assert_eq!(declared, None);
    let copies = complaint(|packet, cx| {
        let copy = cx.copy(&packet, packet.route, 0);
        cx.drop(copy, DropReason::Aqm);
        cx.forward(packet);
    });
    assert_eq!(copies, None);
}

/// Sends packets out of its second port, whatever their routes say.
struct Detour;

impl Node for Detour {
    fn on_packet(&mut self, _now: Time, _from: usize, packet: Packet, cx: &mut NodeContext<'_>) {
        cx.send(cx.ports()[1], packet);
    }
}

/// A node with two links to the next one, and a third to another: result of a route over the first
/// of them, when the node prefers the second.
fn detour(second_to: usize) -> Result<Vec<(Time, Packet)>, String> {
    let mut net = Builder::new();
    let source = net.plain_node("source");
    let node = net.node("chooser", Behaviour::of(Detour));
    let next = ["next", "other"].map(|name| net.plain_node(name));
    let sink = net.plain_node("sink");
    let up = net.link("up", [Some(source), Some(node)], wire(1)).unwrap();
    let slow = net.link("slow", [Some(node), Some(next[0])], wire(50)).unwrap();
    net.link("fast", [Some(node), Some(next[second_to])], wire(2)).unwrap();
    let last = net.link("last", [Some(next[0]), Some(sink)], wire(1)).unwrap();
    let routes = [net.route(&[up, slow, last]).unwrap(), net.route(&[up, slow]).unwrap()];
    let mut net = net.build();
    routes.iter().for_each(|route| net.inject(&packet(*route, 0)));
    let mut arrivals = Arrivals::default();
    net.advance(ms(100), &mut arrivals).map_err(|fault| fault.to_string())?;
    Ok(arrivals.0)
}

#[test]
fn a_node_may_choose_another_edge_where_the_route_can_go_on() {
    let times: Vec<_> = detour(0).unwrap().iter().map(|(time, _)| *time).collect();
    assert_eq!(times, [ms(3), ms(4)]);
    let lost = detour(1).unwrap_err();
    assert!(lost.contains("node chooser") && lost.contains("sends over fast only"), "{lost}");
}
