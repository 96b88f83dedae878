//! Overlay node: forwards by backpressure over every path, and admits flows by their utility.
//!
//! Model: GNAT (Raytheon BBN, "Generalized Network Assisted Transport", 2021, chapter 4), and where
//! the report is silent the program behind it (raytheonbbn/IRON). The overlay of a
//! [graph](scenario.md#graph) is all its nodes of this kind; links that join two of them carry it.
//! It carries the flows with a [`service`](scenario.md#services) that begin and end at such nodes;
//! other packets are passed on along their routes.
//!
//! A proxy where a flow begins admits its packets at the rate that maximises its utility less the
//! price, the depth of the queue for its destination. Each node has a queue per destination. A packet
//! goes from the queue and to the neighbour with the largest gradient: depth here less depth there,
//! where a destination's hops count 1,100 bytes each. Latency-sensitive packets (with a `deadline`)
//! go first, and only to neighbours by which they can arrive in time and that they have not come through:
//! by any way that does not come back to this node, or (`multipath = "conditioned"`) by ways through no
//! node that the packet has come through. Those that had least time to go when they came are first; one
//! that could arrive only by a neighbour that it has come through goes at once. Neighbours are joined by
//! [SLIQ](sliq.md), which finds out the capacity, retransmits up to five times, and notices
//! outages. Depths are told to neighbours as packets, in 1 % of the capacity. Working links are advertised
//! to all nodes, with mean and standard deviation of how long packets take from when they come into the
//! transmit queue; along a way means and variances add up, and it counts as the mean and 2.2 deviations.
//! Supervisory control turns inelastic flows off that cannot be served, for too little capacity or for
//! packets that come too late, and lets one at a time try.
//!
//! | part | file |
//! | --- | --- |
//! | queues, and what they show | `bin`, `bins`, `depth` |
//! | zombies in the place of standing queues; against starvation | `zombies`, `starvation` |
//! | gradients; links, hops and latencies | `gradient`, `links` |
//! | packets that come too late, or must go at once | `deadlines` |
//! | how long packets take to neighbours | `delays` |
//! | path controllers and transmit queues | `neighbour`, `neighbours` |
//! | what nodes send each other, and its size | `cargo` |
//! | multicast: queues, copies | `multicast/` |
//! | a node before anything is sent | `setup` |
//! | flows; how they are admitted | `udp_proxy`, `tcp_proxy`, `admission/` |
//! | what receivers miss; which inelastic flows fit, and try | `receipts`, `supervision/` |
//!
//! TCP proxies end a flow's connections where it begins and where it ends, and acknowledge each segment.
//! Between them no window limits but buffers, and what is missing goes again an RTT and four deviations
//! after something sent later has arrived, since packets take several ways.
//!
//! Multicast: flows with a `group` in their service. A group has a queue with a depth for each
//! destination. A packet carries the set of its destinations. The gradient of a group to a neighbour
//! is the sum of those destinations' gradients that are positive; of packets and of zombies apart, and
//! the larger one counts. The packet goes whose destinations have most of the gradient, to them alone:
//! what stays behind is a copy. With it go destinations whose gradient is negative but not below -4,000
//! bytes and nowhere better (`opportunistic`). Zombies and relief of starvation are each destination's.
//! A flow's price is the largest depth among its receivers.
//!
//! Deviations from the program: a packet is handled at the instant at which it comes; a flow's
//! priority and utility come with the flow (`service`), not by port; how long a packet takes leaves out how
//! long its ACK waited; of a datagram between nodes that a link delivers twice, the first counts.
//!
//! Observes: `depth.N`, `zombies.N` (bytes, for node N), `window.N` (s); `capacity.N` (bit/s),
//! `latency.N` (mean, s), `works.N` for neighbour N; `admitted`, `delivered`, `expired`, `refused`,
//! `held`, `copied` (packets).

mod admission;
mod bin;
mod bins;
mod cargo;
mod deadlines;
mod delays;
mod depth;
mod forward;
mod gradient;
mod links;
mod multicast;
mod neighbour;
mod neighbours;
mod params;
mod receipts;
mod setup;
mod signals;
mod starvation;
mod supervision;
mod tcp_proxy;
mod together;
mod udp_proxy;
mod zombies;

pub use params::Params;
pub(crate) use zombies::Reduction;

pub use together::{OverlayFlow, Speech, Together};

use std::sync::Arc;

use bin::Bin;
use bins::Bins;
use cargo::{Cargo, Parcel};
use links::Map;
use multicast::Multicast;
use neighbour::Neighbour;
use neighbours::{Neighbours, bits};
use receipts::{Receipts, Report};
use signals::Signals;
use sojourn_base::observe::Observer;
use sojourn_base::packet::{Backlog, Header, Opaque, Packet, Route};
use sojourn_base::units::Time;
use sojourn_net::node::{Behaviour, Node, NodeContext, NodeInit, Registered};
use supervision::Supervision;
use tcp_proxy::{Output, TcpProxy};
use udp_proxy::UdpProxy;

/// The place among its counters of bytes of packets in which it tells others of queues and links.
const SIGNALLING: usize = 0;
/// Flow numbers above this are the overlay's own datagrams.
const OWN_FLOWS: u32 = u32::MAX - (1 << 24);

/// What a flow is to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nothing: it begins and ends elsewhere, or is not the overlay's.
    None,
    /// Its datagrams come in here, to this flow of the proxy.
    UdpIn(usize),
    /// Its datagrams go out here; which of the flows is it that are reported of, if any.
    UdpOut(Option<usize>),
    /// Its connection is ended here, at this flow of the proxy.
    Tcp(usize),
}

/// Packets of flows, by what became of them here.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    admitted: u64,
    delivered: u64,
    expired: u64,
}

/// An overlay node.
#[derive(Debug)]
pub struct Overlay {
    params: Params,
    me: usize,
    together: Arc<Together>,
    places: Vec<Place>,
    started: bool,
    neighbours: Neighbours,
    /// By member: its place among the neighbours.
    by_member: Vec<Option<usize>>,
    bins: Bins,
    multicast: Multicast,
    map: Map,
    udp: UdpProxy,
    tcp: TcpProxy,
    receipts: Receipts,
    supervision: Supervision,
    signals: Signals,
    counts: Counts,
    /// Whether any flow's packets have a time to go.
    timed: bool,
    outputs: Vec<Output>,
}

impl Registered for Overlay {
    type Params = Params;
    const COUNTERS: &'static [&'static str] = &["signalling_bytes"];

    fn behaviour(params: Params, init: &NodeInit) -> Behaviour {
        let together = init.given.get::<Together>().unwrap_or_default();
        let me = together.member(init.number).unwrap_or(0);
        Behaviour::of(Overlay::new(params, me, together, init.random))
    }
}

impl Overlay {
    /// The depth of a queue in bits: the price of admission to it.
    fn price(&mut self, now: Time, to: usize) -> f64 {
        if let Some(stream) = to.checked_sub(self.bins.len()) {
            return 8.0 * self.multicast.price(now, &self.together.streams[stream]);
        }
        8.0 * self.bins.change(to, |bin| bin.shown(now))[0]
    }

    /// A packet of another node of the overlay.
    fn on_own(&mut self, now: Time, packet: &Packet, cx: &mut NodeContext<'_>) {
        cx.absorb(packet);
        let Header::Opaque(opaque) = packet.header else { return };
        let from = self.together.member(packet.tuple.source);
        let Some(from) = from.and_then(|member| self.by_member[member]) else { return };
        let mut stream = None;
        self.neighbours.change(from, |neighbour| {
            stream = neighbour.on_datagram(now, opaque.handle);
        });
        if self.neighbours[from].has_new_delay() {
            self.signals.hasten(now);
        }
        let Some(stream) = stream else { return };
        while let Some(cargo) = self.neighbours.read(from, stream) {
            match cargo {
                Cargo::Parcel(parcel) => self.on_parcel(now, parcel, cx),
                Cargo::Copies(parcel) => self.on_copies(now, parcel, cx),
                Cargo::LinkState(state) if self.map.learn(now, &state) => {
                    self.flood(now, &state, Some(from));
                }
                _ => {}
            }
        }
    }

    /// A packet of a flow has come over the overlay.
    fn on_parcel(&mut self, now: Time, parcel: Parcel, cx: &mut NodeContext<'_>) {
        if usize::from(parcel.to) != self.me {
            return self.bins.push(now, parcel);
        }
        match self.places.get(parcel.packet.flow as usize) {
            Some(Place::UdpOut(reported)) => {
                if let (Some(flow), Header::Datagram(datagram)) = (reported, parcel.packet.header) {
                    let late = parcel.due.is_some_and(|due| now > due);
                    self.receipts.on_packet(now, *flow, datagram.seq, late);
                }
                self.deliver(*parcel.packet, cx);
            }
            Some(Place::UdpIn(flow)) => {
                if let Header::Opaque(report) = parcel.packet.header {
                    self.udp.on_report(*flow, f64::from(report.payload) / 100.0);
                }
            }
            Some(Place::Tcp(flow)) => {
                let flow = *flow;
                self.tcp.on_packet(now, flow, &parcel.packet);
                self.pump_tcp(now, flow, cx);
            }
            _ => {}
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
                    self.bins.push(now, parcel);
                }
            }
        }
        self.outputs = outputs;
    }

    /// Reports to where flows begin what is missing of them.
    fn report(&mut self, now: Time) {
        if self.receipts.next().is_none_or(|at| now < at) {
            return;
        }
        for Report { flow, from, next, percent } in self.receipts.due(now) {
            let header = Header::Opaque(Opaque { payload: percent, handle: next });
            let packet = Packet { flow, size: receipts::SIZE, header, ..Packet::default() };
            self.bins.push(now, Parcel::new(packet, from, None));
        }
    }

    /// Whether nothing is due now but what a packet that comes makes due. Sources that offer more than
    /// is admitted are cheap so.
    fn is_idle(&self, now: Time) -> bool {
        let known = self.signals.knows(self.neighbours.working());
        !self.timed && known && self.next_timer().is_some_and(|at| at > now)
    }

    /// Does all that is due now.
    fn step(&mut self, now: Time, cx: &mut NodeContext<'_>) {
        while let Some((flow, to)) = self.udp.due(now) {
            loop {
                let price = self.price(now, to);
                let Some(mut parcel) = self.udp.admit(now, flow, price) else { break };
                self.counts.admitted += 1;
                if self.params.restamp
                    && let Header::Datagram(datagram) =
                        &mut Arc::make_mut(&mut parcel.packet).header
                {
                    datagram.written_at = now;
                }
                match to.checked_sub(self.bins.len()) {
                    Some(stream) => self.admit_copies(now, stream, parcel.packet),
                    None => self.bins.push(now, parcel),
                }
            }
        }
        while let Some(flow) = self.tcp.due(now) {
            self.pump_tcp(now, flow, cx);
        }
        self.signal(now);
        self.supervise(now);
        self.report(now);
        loop {
            for index in bits(self.neighbours.due(now)) {
                self.neighbours.change(index, |neighbour| neighbour.transmit(now, cx));
            }
            if !self.fill(now) {
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
        let neighbours = self.neighbours.next()?;
        let or_never = |at: Option<Time>| at.unwrap_or(Time::NEVER);
        let proxies = or_never(self.udp.next()).min(or_never(self.tcp.next()));
        let own = self.signals.next().min(self.supervision.next());
        Some(neighbours.min(proxies).min(own).min(or_never(self.receipts.next())))
    }

    fn on_timer(&mut self, now: Time, cx: &mut NodeContext<'_>) {
        if !self.started {
            self.start(now, cx);
        }
        self.step(now, cx);
    }

    fn waiting(&self) -> Backlog {
        let packets: u64 = self.bins.iter().map(|bin| bin.count() as u64).sum();
        let bytes: u64 = self.bins.iter().map(Bin::packet_bytes).sum();
        let groups = &self.multicast;
        Backlog { packets: packets + groups.packets() as u64, bytes: bytes + groups.bytes() }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        for (bin, number) in self.bins.iter().zip(&self.together.members) {
            out(&format!("depth.{number}"), (bin.packet_bytes() as f64).into());
            out(&format!("zombies.{number}"), (bin.zombie_bytes() as f64).into());
            out(&format!("window.{number}"), bin.windows()[0].into());
        }
        for neighbour in self.neighbours.iter() {
            let number = self.together.members[neighbour.member];
            out(&format!("capacity.{number}"), neighbour.capacity().into());
            let latency = neighbour.delay().map_or(f64::NAN, |delay| delay.mean);
            out(&format!("latency.{number}"), latency.into());
            out(&format!("works.{number}"), u32::from(neighbour.works()).into());
        }
        let Counts { admitted, delivered, expired } = self.counts;
        let counts = [("admitted", admitted), ("delivered", delivered), ("expired", expired)];
        let refused = self.udp.refused();
        let queued: usize =
            self.bins.iter().map(Bin::count).sum::<usize>() + self.multicast.packets();
        let neighbours: u64 = self.neighbours.iter().map(Neighbour::packets).sum();
        let held = self.udp.waiting() as u64 + queued as u64 + neighbours;
        let copied = self.multicast.copied();
        let more = [("refused", refused), ("held", held), ("copied", copied)];
        for (name, count) in counts.into_iter().chain(more) {
            out(name, (count as f64).into());
        }
    }
}
