//! The proxy of TCP flows: terminates their connections where they enter and leave the overlay.
//!
//! A flow is three connections, all of them the core's TCP: from the sending host to the proxy
//! here, from that to the proxy where the flow leaves, and from there to the receiving host. The
//! middle one has no congestion control: path controllers and admission take its place. Data is
//! forwarded to it at the admitted rate; until then it stays in the first one's receive buffer and
//! closes its window. A connection request is answered when the next connection is established, so
//! that an established connection always reaches the other host.

mod connection;
mod entrance;
mod gate;

pub(in crate::overlay) use connection::{BETWEEN, MSS, duplex};
pub(in crate::overlay) use gate::Gate;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ServiceSpec;
use crate::overlay::admission::Admission;
use crate::overlay::config::OverlayFlow;
use crate::overlay::message::Parcel;
use connection::{connections, sender};
use entrance::Entrance;
use sojourn_base::counters::FlowCounters;
use sojourn_base::endpoint::Endpoint;
use sojourn_base::packet::{Flags, Header, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_tcp::tcp::{Receiver, Relay};

/// Packets of a proxy.
#[derive(Clone, Debug)]
pub(crate) enum Output {
    /// To its host.
    Host(Packet),
    /// To the other proxy.
    Overlay(Parcel),
}

/// The end of a flow at this node.
enum End {
    /// The node where it enters.
    In(Box<Entrance>),
    /// The node where it leaves.
    Out(Box<Relay>),
}

struct Flow {
    peer: u16,
    end: End,
    mss: u32,
    /// A request for a connection that waits until the next one is established.
    request: Option<Packet>,
    look_at: Time,
}

/// The proxy of a node.
#[derive(Default)]
pub(crate) struct TcpProxy {
    flows: Vec<Flow>,
    looks: BinaryHeap<Reverse<(Time, u32)>>,
}

impl std::fmt::Debug for TcpProxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TcpProxy of {} flows", self.flows.len())
    }
}

fn stands(end: &mut dyn Endpoint, now: Time) -> bool {
    let mut counters = FlowCounters::default();
    end.report(now, &mut counters);
    counters.established_at.is_some()
}

impl TcpProxy {
    /// Adds a flow that enters or leaves here; returns its number here.
    pub(crate) fn add(&mut self, flow: &OverlayFlow, mss: u32, comes_in: bool, k: f64) -> usize {
        let (host, between) = connections(flow, mss);
        let mss = between.mss;
        let end = if comes_in {
            let admission = Admission::new(&flow.service, k, 0.0);
            End::In(Box::new(Entrance::new(host, between, admission)))
        } else {
            End::Out(Box::new(Relay::new(Receiver::new(between), sender(host, None))))
        };
        let peer = flow.ends[usize::from(comes_in)];
        self.flows.push(Flow { peer, end, mss, request: None, look_at: Time::NEVER });
        self.flows.len() - 1
    }

    /// The member at a flow's other end.
    pub(crate) fn peer(&self, flow: usize) -> u16 {
        self.flows[flow].peer
    }

    /// Sets a flow's service, where it enters.
    pub(crate) fn set_service(&mut self, flow: usize, service: &ServiceSpec, k: f64) {
        if let End::In(entrance) = &mut self.flows[flow].end {
            entrance.gate.admission = Admission::new(service, k, 0.0);
        }
    }

    /// Sets a flow's priority, where it enters.
    pub(crate) fn set_priority(&mut self, flow: usize, priority: f64) {
        if let End::In(entrance) = &mut self.flows[flow].end {
            entrance.gate.admission.set_priority(priority);
        }
    }

    /// Bits of a flow that were forwarded, where it enters.
    pub(crate) fn admitted(&self, flow: usize) -> f64 {
        match &self.flows[flow].end {
            End::In(entrance) => entrance.gate.admitted,
            End::Out(_) => 0.0,
        }
    }

    /// A packet of a flow, from its host or from the other proxy; to be followed by `pump`.
    pub(crate) fn on_packet(&mut self, now: Time, flow: usize, packet: &Packet) {
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
    pub(crate) fn pump(&mut self, now: Time, flow: usize, depth: f64, out: &mut Vec<Output>) {
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
    pub(crate) fn next(&self) -> Option<Time> {
        self.looks.peek().map(|Reverse((at, _))| *at)
    }

    /// The next flow to be pumped now.
    pub(crate) fn due(&mut self, now: Time) -> Option<usize> {
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
    /// The next connection.
    fn next(&mut self) -> &mut dyn Endpoint {
        match &mut self.end {
            End::In(entrance) => &mut entrance.between,
            End::Out(relay) => relay.as_mut(),
        }
    }
}
