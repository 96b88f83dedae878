//! The proxy of TCP flows: ends their connections where they come in and where they go out.
//!
//! A flow is three connections, all of them the core's TCP: from the sending host to the proxy here,
//! from that to the proxy where the flow goes out, and from there to the receiving host. The middle
//! one has no congestion control: path controllers and admission take its place. Data is handed to it
//! at the rate of the flow's utility; until then it stays in the first one's receive buffer and closes
//! its window. A connection request is answered when the next connection stands, so that one that
//! stands leads to the other host.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::admission::Admission;
use super::cargo::Parcel;
use super::together::OverlayFlow;
use sojourn_base::counters::FlowCounters;
use sojourn_base::endpoint::Endpoint;
use sojourn_base::packet::{Address, Direction, FiveTuple, Flags, Header, Packet, Route};
use sojourn_base::quantity::Packets;
use sojourn_base::rng::StreamKey;
use sojourn_base::units::{Span, Time};
use sojourn_sim::spec::BufferSize;
use sojourn_tcp::cc::{
    CongestionControl, EcnMode, INFINITE_SSTHRESH, Registered, cubic, fixed_window,
};
use sojourn_tcp::tcp::{LossDetection, Profile, RFC, Receiver, Relay, Sender, TcpInit};

/// Largest IP packet between proxies: 1,280 bytes of payload, as they ask of their hosts.
const MTU: u32 = 1_332;
/// IP and TCP headers.
const HEADERS: u32 = 52;
/// Bytes that a proxy keeps for a connection to a host, and between proxies.
const HOST_BUFFER: u64 = 1_000_000;
const BETWEEN: u64 = 3_000_000;
/// How long a rate holds at least and at most before it is looked at again.
const SHORTEST_LOOK: Span = Span::from_micros(100);
const LONGEST_LOOK: Span = Span::from_millis(20);

/// TCP between proxies: `iron/tcp_proxy/src/socket.cc` and `send_buffer.cc` of raytheonbbn/IRON. What is
/// retransmitted again waits for two RTTs here, there for one; a flow with nothing new to send does not
/// repeat at once what is missing and has left its node.
static PROXY: Profile =
    Profile { loss_detection: LossDetection::Patient, rto_initial: Span::from_secs(6), ..RFC };

/// What a proxy sends.
#[derive(Clone, Debug)]
pub enum Output {
    /// To its host.
    Host(Packet),
    /// To the other proxy.
    Overlay(Parcel),
}

/// The end of a flow at this node.
enum End {
    /// Where it comes in.
    In(Box<Entrance>),
    /// Where it goes out.
    Out(Box<Relay>),
}

struct Entrance {
    host: Receiver,
    between: Sender,
    admission: Admission,
    credit: f64,
    counted: Time,
    /// Bits handed on.
    admitted: f64,
}

struct Flow {
    peer: u16,
    end: End,
    mss: u32,
    /// A request for a connection that waits until the next one stands.
    request: Option<Packet>,
    look_at: Time,
}

/// The proxy of a node.
#[derive(Default)]
pub struct TcpProxy {
    flows: Vec<Flow>,
    looks: BinaryHeap<Reverse<(Time, u32)>>,
}

impl std::fmt::Debug for TcpProxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TcpProxy of {} flows", self.flows.len())
    }
}

fn init(flow: &OverlayFlow, mss: u32, profile: &'static Profile) -> TcpInit {
    let id = flow.flow;
    let address = |direction, socket| Address {
        flow: id,
        direction,
        route: Route::default(),
        socket,
        tuple: FiveTuple::of_flow(id),
    };
    TcpInit {
        forward: address(Direction::Forward, 2 * id + 1),
        backward: address(Direction::Backward, 2 * id),
        mss,
        profile,
        ecn: EcnMode::Off,
        // `kDefaultLanIfAckBehave`, `kDefaultWanIfAckBehave`.
        ack_every: 1,
        initial_ssthresh: INFINITE_SSTHRESH,
        send_buffer: BufferSize::Bytes(HOST_BUFFER),
        receive_buffer: BufferSize::Bytes(HOST_BUFFER),
        paced: false,
        offload: false,
        gro: None,
        small_queue: false,
        whole_bursts: false,
        nagle: false,
        now: flow.start,
    }
}

fn sender(init: TcpInit, window: Option<u64>) -> Sender {
    let about = Sender::control_init(&init, Span::ZERO, StreamKey::root(0));
    let control: Box<dyn CongestionControl> = match window {
        Some(bytes) => {
            let window = Packets((bytes / u64::from(init.mss)).max(1));
            Box::new(fixed_window::FixedWindow::new(fixed_window::Params { window }, &about))
        }
        None => Box::new(cubic::Cubic::new(Default::default(), &about)),
    };
    Sender::new(init, control)
}

fn stands(end: &mut dyn Endpoint, now: Time) -> bool {
    let mut counters = FlowCounters::default();
    end.report(now, &mut counters);
    counters.established_at.is_some()
}

impl TcpProxy {
    /// Adds a flow that comes in or goes out here; its number here.
    pub fn add(&mut self, flow: &OverlayFlow, mss: u32, comes_in: bool, k: f64) -> usize {
        let profile = Profile::named("linux-6").unwrap_or_else(|| unreachable!());
        let host = init(flow, mss, profile);
        let mss = mss.min(MTU - HEADERS);
        let buffers = (BufferSize::Bytes(BETWEEN), BufferSize::Bytes(2 * BETWEEN));
        let between = TcpInit {
            mss,
            send_buffer: buffers.0,
            receive_buffer: buffers.1,
            profile: &PROXY,
            ..host
        };
        let end = if comes_in {
            End::In(Box::new(Entrance {
                host: Receiver::new(host).with_reader(),
                between: sender(between, Some(BETWEEN)),
                admission: Admission::new(&flow.service, k, 0.0),
                credit: 0.0,
                counted: Time::ZERO,
                admitted: 0.0,
            }))
        } else {
            End::Out(Box::new(Relay::new(Receiver::new(between), sender(host, None))))
        };
        let peer = flow.ends[usize::from(comes_in)];
        self.flows.push(Flow { peer, end, mss, request: None, look_at: Time::NEVER });
        self.flows.len() - 1
    }

    /// The member at a flow's other end.
    pub fn peer(&self, flow: usize) -> u16 {
        self.flows[flow].peer
    }

    /// A flow's priority becomes another, where it comes in.
    pub fn set_priority(&mut self, flow: usize, priority: f64) {
        if let End::In(entrance) = &mut self.flows[flow].end {
            entrance.admission.set_priority(priority);
        }
    }

    /// Bits of a flow that were handed on, where it comes in.
    pub fn admitted(&self, flow: usize) -> f64 {
        match &self.flows[flow].end {
            End::In(entrance) => entrance.admitted,
            End::Out(_) => 0.0,
        }
    }

    /// A packet of a flow, from its host or from the other proxy; to be followed by `pump`.
    pub fn on_packet(&mut self, now: Time, flow: usize, packet: &Packet) {
        let state = &mut self.flows[flow];
        let asks = |packet: &Packet| match packet.header {
            Header::Segment(segment) => segment.flags.has(Flags::SYN),
            _ => false,
        };
        if asks(packet) && !stands(state.next(), now) {
            // Repeated while the next connection is made.
            if state.request.replace(*packet).is_none() {
                state.next().open(now);
            }
            return;
        }
        match &mut state.end {
            End::In(entrance) => match packet.header {
                Header::Segment(_) => entrance.host.on_packet(now, packet),
                _ => entrance.between.on_packet(now, packet),
            },
            End::Out(relay) => relay.on_packet(now, packet),
        }
        if state.request.is_some() && stands(state.next(), now) {
            let Some(request) = state.request.take() else { return };
            match &mut state.end {
                End::In(entrance) => entrance.host.on_packet(now, &request),
                End::Out(relay) => relay.on_packet(now, &request),
            }
        }
    }

    /// Sends what a flow has to send; `depth` is that of the queue to its peer, in bits.
    pub fn pump(&mut self, now: Time, flow: usize, depth: f64, out: &mut Vec<Output>) {
        let Flow { end, peer, mss, look_at, .. } = &mut self.flows[flow];
        let to = *peer;
        let overlay = |packet| Output::Overlay(Parcel::new(packet, to, None));
        let next = match end {
            End::In(entrance) => {
                let look = entrance.admit(now, *mss, depth);
                let Entrance { host, between, .. } = entrance.as_mut();
                for end in [host as &mut dyn Endpoint, between] {
                    if end.next_timeout().is_some_and(|at| at <= now) {
                        end.on_timeout(now);
                    }
                }
                while let Some(packet) = host.poll_transmit(now) {
                    out.push(Output::Host(packet));
                }
                while let Some(packet) = between.poll_transmit(now) {
                    out.push(overlay(packet));
                }
                [look, host.next_timeout(), between.next_timeout()].into_iter().flatten().min()
            }
            End::Out(relay) => {
                if relay.next_timeout().is_some_and(|at| at <= now) {
                    relay.on_timeout(now);
                }
                while let Some(packet) = relay.poll_transmit(now) {
                    let host = matches!(packet.header, Header::Segment(_));
                    out.push(if host { Output::Host(packet) } else { overlay(packet) });
                }
                relay.next_timeout()
            }
        };
        let next = next.unwrap_or(Time::NEVER).max(now + Span::from_nanos(1));
        if next < *look_at || *look_at <= now {
            *look_at = next;
            if next < Time::NEVER {
                self.looks.push(Reverse((next, flow as u32)));
            }
        }
    }

    /// When a flow is to be pumped next.
    pub fn next(&self) -> Option<Time> {
        self.looks.peek().map(|Reverse((at, _))| *at)
    }

    /// The next flow to be pumped now.
    pub fn due(&mut self, now: Time) -> Option<usize> {
        while let Some(Reverse((at, flow))) = self.looks.peek().copied() {
            if at > now {
                return None;
            }
            self.looks.pop();
            if self.flows[flow as usize].look_at == at {
                return Some(flow as usize);
            }
        }
        None
    }
}

impl Flow {
    /// The connection that leads on.
    fn next(&mut self) -> &mut dyn Endpoint {
        match &mut self.end {
            End::In(entrance) => &mut entrance.between,
            End::Out(relay) => relay.as_mut(),
        }
    }
}

impl Entrance {
    /// Hands data on as far as its rate has paid for it; when to look again.
    fn admit(&mut self, now: Time, mss: u32, depth: f64) -> Option<Time> {
        let rate = self.admission.rate(depth);
        let full = 8.0 * f64::from(mss + HEADERS);
        let passed = now.since(self.counted).as_secs_f64();
        self.credit = (self.credit + rate * passed).min(full + rate * 1e-3);
        self.counted = now;
        loop {
            let bytes = self.host.readable().min(u64::from(mss)).min(self.between.room());
            if bytes == 0 {
                return None;
            }
            let bits = 8.0 * (bytes as f64 + f64::from(HEADERS));
            if self.credit + 1e-6 < bits {
                let wait = Span::from_secs_f64(((bits - self.credit) / rate.max(1.0)).min(1.0));
                return Some(now + (wait + Span::from_nanos(1)).clamp(SHORTEST_LOOK, LONGEST_LOOK));
            }
            self.credit -= bits;
            self.admitted += bits;
            self.host.read(now, bytes);
            self.between.write(now, bytes);
        }
    }
}
