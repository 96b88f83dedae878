//! Construction of a node: its role for each flow, and its neighbours.

use std::sync::Arc;

use super::{Outside, Overlay, Place, Priorities};
use crate::ServiceSpec;
use crate::overlay::config::{FlowTransport, OverlayConfig, OverlayFlow};
use crate::overlay::forwarding::Forwarding;
use crate::overlay::link::{Mailboxes, Neighbour, Reach};
use crate::overlay::params::Params;
use crate::overlay::proxy::{Receipts, TcpProxy, UdpProxy};
use crate::overlay::queue::RELIEF_INTERVAL;
use crate::overlay::routing::Advertising;
use crate::overlay::supervision::Supervision;
use sojourn_base::packet::FiveTuple;
use sojourn_base::rng::StreamKey;
use sojourn_base::units::Time;
use sojourn_net::node::NodeContext;

/// The parts of a node that know flows.
struct Flows {
    me: usize,
    members: usize,
    /// Weighs utility against queues.
    k: f64,
    random: StreamKey,
    udp: UdpProxy,
    tcp: TcpProxy,
    receipts: Receipts,
}

impl Flows {
    /// A flow whose datagrams enter here, to the queue `to`.
    fn datagrams_in(&mut self, flow: &OverlayFlow, to: u16) -> Place {
        let chance = self.random.child("flow").uniform_at(flow.flow.into());
        Place::UdpIn(self.udp.add(to, &flow.service, self.k, chance))
    }

    /// A flow whose datagrams leave here. Reports cover inelastic ones with a deadline.
    fn datagrams_out(&mut self, flow: &OverlayFlow) -> Place {
        let ServiceSpec { utility, deadline, priority, .. } = flow.service;
        let reported = deadline.filter(|_| utility.is_inelastic());
        let add = |deadline| self.receipts.add(flow.flow, flow.ends[0], priority, deadline);
        Place::UdpOut(reported.map(add))
    }

    /// Adds a flow to the part that it is for.
    fn add(&mut self, flow: &OverlayFlow) -> Place {
        let [begins, ends] = flow.ends.map(|end| usize::from(end) == self.me);
        match flow.transport {
            FlowTransport::Udp if begins => self.datagrams_in(flow, flow.ends[1]),
            FlowTransport::Udp if ends => self.datagrams_out(flow),
            // After the members come the streams.
            FlowTransport::Stream { index } if begins => {
                self.datagrams_in(flow, self.members as u16 + index)
            }
            FlowTransport::Tcp { mss } if begins || ends => {
                Place::Tcp(self.tcp.add(flow, mss, begins, self.k))
            }
            _ => Place::None,
        }
    }
}

impl Overlay {
    /// The node that is `me` among the members.
    pub(super) fn new(
        params: Params,
        me: usize,
        config: Arc<OverlayConfig>,
        mailboxes: Arc<Mailboxes>,
        random: StreamKey,
    ) -> Self {
        let members = config.members.len().max(1);
        let most = config.flows.iter().map(|flow| flow.flow as usize + 1).max().unwrap_or(0);
        let timed = config.flows.iter().any(|flow| flow.service.deadline.is_some());
        let (udp, tcp, receipts) = Default::default();
        let mut flows = Flows { me, members, k: params.k, random, udp, tcp, receipts };
        let mut node = Overlay {
            me,
            places: vec![Place::None; most],
            started: false,
            by_member: vec![None; members],
            forwarding: Forwarding::new(params.clone(), me, &config, timed),
            udp: UdpProxy::default(),
            tcp: TcpProxy::default(),
            receipts: Receipts::default(),
            supervision: Supervision::new(params.k, members),
            watched: Vec::new(),
            advertising: Advertising::after(0),
            relieve_at: Time::NEVER,
            priorities: Priorities::default(),
            counts: Default::default(),
            outputs: Vec::new(),
            outside: Outside::default(),
            config: Arc::clone(&config),
            mailboxes,
            params,
        };
        for flow in &config.flows {
            let place = flows.add(flow);
            node.places[flow.flow as usize] = place;
            if usize::from(flow.ends[0]) == me {
                node.plan(flow, place);
            }
        }
        Overlay { udp: flows.udp, tcp: flows.tcp, receipts: flows.receipts, ..node }
    }

    /// Schedules the changes of a flow that begins here.
    fn plan(&mut self, flow: &OverlayFlow, place: Place) {
        for step in &flow.service.priority_schedule {
            self.priorities.plan(Time::ZERO + step.at, flow.flow, step.value);
        }
        let stream = matches!(flow.transport, FlowTransport::Stream { .. });
        let watches = self.params.supervised && !stream;
        if watches && self.supervision.watch(flow.ends[1].into(), &flow.service) {
            self.watched.push(place);
        }
    }

    /// The neighbours are the members at the other ends of its links.
    #[cold]
    pub(super) fn start(&mut self, now: Time, cx: &NodeContext<'_>) {
        self.started = true;
        let members = self.config.members.len();
        for port in cx.ports() {
            let other = port.to.and_then(|to| self.config.member(to as u16));
            let Some(member) = other.filter(|member| self.by_member[*member].is_none()) else {
                continue;
            };
            let [mine, theirs] = [self.me, member].map(|member| self.config.members[member]);
            let tuple = FiveTuple { source: mine, destination: theirs, ports: 0 };
            let reach = Reach {
                port: *port,
                boxes: [(mine, theirs), (theirs, mine)]
                    .map(|(from, to)| self.mailboxes.between(from, to)),
                tuple,
                controls: self.params.controls.clone(),
                client: self.me < member,
                depths_share: self.params.signalling.fraction(),
                largest: self.outside.largest,
                clock: self.outside.clock,
            };
            let neighbours = self.forwarding.neighbours();
            self.by_member[member] = Some(neighbours.len());
            neighbours.add(Neighbour::new(now, member, members, reach));
        }
        self.advertising.start(now);
        self.relieve_at = now + RELIEF_INTERVAL;
        self.supervision.start(now);
    }
}
