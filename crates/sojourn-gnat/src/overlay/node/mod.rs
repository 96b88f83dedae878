//! The node: dispatches arriving packets to its parts, and does the work that is due.

mod applications;
mod orders;
mod outside;
mod own;
mod place;
mod priorities;
mod setup;
mod signalling;
mod supervise;

use std::sync::Arc;

use super::config::{LastNumber, OverlayConfig};
use super::forwarding::Forwarding;
use super::link::{Mailboxes, Neighbour};
use super::members::bits;
use super::message::{Carried, Copies, Parcel};
use super::params::Params;
use super::proxy::{FlowCounts, Output, REPORT_SIZE, Receipts, Report, TcpProxy, UdpProxy};
use super::queue::Bin;
use super::routing::Advertising;
use super::supervision::Supervision;
use outside::Outside;
use place::Place;
use priorities::Priorities;
use sojourn_base::observe::Observer;
use sojourn_base::packet::{Backlog, Header, Opaque, Packet, Route};
use sojourn_base::units::{Span, Time};
use sojourn_net::node::{Behaviour, Node, NodeContext, NodeInit, Registered};

/// Flow numbers above this are the overlay's own datagrams.
const OWN_FLOWS: u32 = u32::MAX - (1 << 24);

/// Counts of flows' packets, by their treatment here.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    admitted: u64,
    delivered: u64,
}

/// An overlay node.
#[derive(Debug)]
pub struct Overlay {
    params: Params,
    me: usize,
    config: Arc<OverlayConfig>,
    mailboxes: Arc<Mailboxes>,
    /// By flow.
    places: Vec<Place>,
    started: bool,
    /// By member: its place among the neighbours.
    by_member: Vec<Option<usize>>,
    forwarding: Forwarding,
    udp: UdpProxy,
    tcp: TcpProxy,
    receipts: Receipts,
    supervision: Supervision,
    /// Flows that supervisory control watches.
    watched: Vec<Place>,
    advertising: Advertising,
    relieve_at: Time,
    priorities: Priorities,
    counts: Counts,
    outputs: Vec<Output>,
    outside: Outside,
}

impl Registered for Overlay {
    type Params = Params;
    const COUNTERS: &'static [&'static str] = &["signalling_bytes"];

    fn behaviour(params: Params, init: &NodeInit) -> Behaviour {
        let config = init.given.get::<OverlayConfig>().unwrap_or_default();
        let mailboxes = init.given.get::<Mailboxes>().unwrap_or_default();
        let me = config.member(init.number).unwrap_or(0);
        let mut node = Overlay::new(params, me, config, mailboxes, init.random);
        if let Some(LastNumber(number)) = init.given.get().as_deref() {
            node.advertising = Advertising::after(*number);
        }
        node.outside = Outside::new(init);
        node.serve_applications(init);
        Behaviour::of(node)
    }
}

impl Overlay {
    /// The price of admission to the queue of a member or, after the members, of a stream: its depth
    /// in bits.
    fn price(&mut self, now: Time, to: usize) -> f64 {
        match to.checked_sub(self.forwarding.members()) {
            Some(stream) => self.forwarding.stream_price(now, &self.config.streams[stream]),
            None => self.forwarding.price(now, to),
        }
    }

    /// Gives a packet to its socket.
    fn deliver(&mut self, packet: Packet, cx: &mut NodeContext<'_>) {
        self.counts.delivered += 1;
        let packet = cx.create(Packet { route: Route::default(), hop: 0, ..packet });
        cx.forward(packet);
    }

    /// A packet of a host of this node.
    fn on_host(&mut self, now: Time, place: Place, packet: Packet, cx: &mut NodeContext<'_>) {
        match place {
            Place::UdpIn(flow) => {
                cx.absorb(&packet);
                self.udp.push(now, flow, packet);
            }
            Place::Tcp(flow) => {
                cx.absorb(&packet);
                self.tcp.on_packet(now, flow, &packet);
                self.pump_tcp(now, flow, cx);
            }
            _ => cx.forward(packet),
        }
    }

    fn pump_tcp(&mut self, now: Time, flow: usize, cx: &mut NodeContext<'_>) {
        let depth = self.price(now, usize::from(self.tcp.peer(flow)));
        let mut outputs = std::mem::take(&mut self.outputs);
        self.tcp.pump(now, flow, depth, &mut outputs);
        for output in outputs.drain(..) {
            match output {
                Output::Host(packet) => self.deliver(packet, cx),
                Output::Overlay(parcel) => {
                    self.counts.admitted += 1;
                    self.forwarding.push(now, parcel);
                }
            }
        }
        self.outputs = outputs;
    }

    /// Admits packets of datagram flows, as many as their rates allow.
    fn admit(&mut self, now: Time) {
        while let Some((flow, to)) = self.udp.due(now) {
            loop {
                let price = self.price(now, to);
                let Some(mut parcel) = self.udp.admit(now, flow, price) else { break };
                self.counts.admitted += 1;
                if self.params.restamp
                    && let Header::Datagram(datagram) =
                        &mut Arc::make_mut(&mut parcel.packet).packet.header
                {
                    datagram.written_at = now;
                }
                match to.checked_sub(self.forwarding.members()) {
                    Some(stream) => self.admit_copies(now, stream, parcel.packet),
                    None => self.forwarding.push(now, parcel),
                }
            }
        }
    }

    /// A packet that is admitted now joins its group's queue.
    fn admit_copies(&mut self, now: Time, stream: usize, packet: Arc<Carried>) {
        let described = &self.config.streams[stream];
        let copies = Copies::new(packet, stream as u16, described.destinations(now));
        self.forwarding.push_copies(now, described.group, copies);
    }

    /// Sends reports of missing packets to the nodes where flows begin.
    fn report(&mut self, now: Time) {
        if self.receipts.next().is_none_or(|at| now < at) {
            return;
        }
        for Report { flow, from, next, percent } in self.receipts.due(now) {
            let header = Header::Opaque(Opaque { payload: percent, handle: next });
            let packet = Packet { flow, size: REPORT_SIZE, header, ..Packet::default() };
            self.forwarding.push(now, Parcel::new(packet, from, None));
        }
    }

    /// Whether nothing is due now except work that an arriving packet causes, which makes sources
    /// that offer more than is admitted cheap.
    fn is_idle(&self, now: Time) -> bool {
        let known = self.advertising.knows(self.forwarding.reached().working());
        let timed = self.forwarding.is_timed();
        !timed && known && self.next_timer().is_some_and(|at| at > now)
    }

    /// Does all work that is due now.
    fn step(&mut self, now: Time, cx: &mut NodeContext<'_>) {
        self.obey(now);
        self.attend(now);
        self.admit(now);
        while let Some(flow) = self.tcp.due(now) {
            self.pump_tcp(now, flow, cx);
        }
        self.signal(now);
        self.supervise(now);
        self.report(now);
        loop {
            let neighbours = self.forwarding.neighbours();
            for index in bits(neighbours.due(now)) {
                neighbours.change(index, |neighbour| neighbour.transmit(now, cx));
            }
            if !self.forwarding.fill(now) {
                break;
            }
        }
    }
}

impl Node for Overlay {
    fn on_packet(&mut self, now: Time, _from: usize, packet: Packet, cx: &mut NodeContext<'_>) {
        if !self.started {
            self.start(now, cx);
        }
        match self.places.get(packet.flow as usize).copied() {
            _ if packet.flow > OWN_FLOWS => self.on_own(now, &packet, cx),
            None | Some(Place::None) => return cx.forward(packet),
            Some(place) => {
                self.on_host(now, place, packet, cx);
                if matches!(place, Place::UdpIn(_)) && self.is_idle(now) {
                    return;
                }
            }
        }
        self.step(now, cx);
    }

    fn next_timer(&self) -> Option<Time> {
        if !self.started {
            return Some(Time::ZERO);
        }
        if self.outside.waits() {
            return Some(Time::ZERO);
        }
        let neighbours = self.forwarding.reached().next()?;
        let or_never = |at: Option<Time>| at.unwrap_or(Time::NEVER);
        let proxies = or_never(self.udp.next()).min(or_never(self.tcp.next()));
        let signals = self.advertising.next().min(self.relieve_at).min(self.priorities.next());
        let own = signals.min(self.supervision.next()).min(self.outside.next());
        Some(neighbours.min(proxies).min(own).min(or_never(self.receipts.next())))
    }

    fn on_timer(&mut self, now: Time, cx: &mut NodeContext<'_>) {
        if !self.started {
            self.start(now, cx);
        }
        self.step(now, cx);
    }

    fn waiting(&self) -> Backlog {
        self.forwarding.backlog()
    }

    fn observe(&self, out: &mut Observer<'_>) {
        for (bin, number) in self.forwarding.bins().iter().zip(&self.config.members) {
            out(&format!("depth.{number}"), (bin.packet_bytes() as f64).into());
            out(&format!("zombies.{number}"), (bin.zombie_bytes() as f64).into());
            out(&format!("packets.{number}"), (bin.count() as f64).into());
            out(&format!("window.{number}"), bin.windows()[0].into());
        }
        for neighbour in self.forwarding.reached().iter() {
            let number = self.config.members[neighbour.member];
            out(&format!("capacity.{number}"), neighbour.capacity().into());
            let latency = neighbour.delay().map_or(f64::NAN, |delay| delay.mean);
            out(&format!("latency.{number}"), latency.into());
            let rtt = neighbour.rtt().map_or(f64::NAN, Span::as_secs_f64);
            out(&format!("rtt.{number}"), rtt.into());
            out(&format!("works.{number}"), u32::from(neighbour.works()).into());
            if self.outside.orders.is_some() {
                let clock = neighbour.clock().unwrap_or(f64::NAN);
                out(&format!("clock.{number}"), clock.into());
                out(&format!("lost.{number}"), (neighbour.lost() as f64).into());
            }
        }
        for (number, place) in self.places.iter().enumerate() {
            if let Place::UdpIn(flow) = *place {
                let FlowCounts { admitted, refused } = self.udp.counts(flow);
                out(&format!("flow_admitted.{number}"), (admitted as f64).into());
                out(&format!("flow_refused.{number}"), (refused as f64).into());
            }
        }
        let Counts { admitted, delivered } = self.counts;
        let expired = self.forwarding.expired();
        let counts = [("admitted", admitted), ("delivered", delivered), ("expired", expired)];
        let (bins, groups) = (self.forwarding.bins(), self.forwarding.groups());
        let queued: usize = bins.iter().map(Bin::count).sum::<usize>() + groups.packets();
        let neighbours: u64 = self.forwarding.reached().iter().map(Neighbour::packets).sum();
        let held = self.udp.waiting() as u64 + queued as u64 + neighbours;
        let more = [("refused", self.udp.refused()), ("held", held), ("copied", groups.copied())];
        for (name, count) in counts.into_iter().chain(more) {
            out(name, (count as f64).into());
        }
    }
}
