//! A node before anything is sent: what each flow is to it, and its neighbours.

use std::sync::Arc;

use super::bins::Bins;
use super::links::Map;
use super::multicast::Multicast;
use super::neighbour::{Neighbour, Reach};
use super::neighbours::Neighbours;
use super::receipts::Receipts;
use super::signals::Signals;
use super::supervision::Supervision;
use super::tcp_proxy::TcpProxy;
use super::together::{Speech, Together};
use super::udp_proxy::UdpProxy;
use super::{Counts, Overlay, Params, Place};
use crate::{ServiceSpec, Utility};
use sojourn_base::packet::FiveTuple;
use sojourn_base::rng::StreamKey;
use sojourn_base::units::Time;
use sojourn_net::node::NodeContext;

impl Overlay {
    /// The node that is `me` among the members.
    pub(super) fn new(
        params: Params,
        me: usize,
        together: Arc<Together>,
        random: StreamKey,
    ) -> Self {
        let members = together.members.len().max(1);
        let most = together.flows.iter().map(|flow| flow.flow as usize + 1).max().unwrap_or(0);
        let mut places = vec![Place::None; most];
        let (mut udp, mut tcp) = (UdpProxy::default(), TcpProxy::default());
        let mut signals = Signals::default();
        let mut receipts = Receipts::default();
        let mut supervision = Supervision::new(params.k, members);
        for flow in &together.flows {
            let [from, to] = flow.ends.map(usize::from);
            for step in flow.service.priority_schedule.iter().filter(|_| from == me) {
                signals.plan(Time::ZERO + step.at, flow.flow, step.value);
            }
            places[flow.flow as usize] =
                match flow.speech {
                    Speech::Udp if from == me => {
                        let chance = random.child("flow").uniform_at(flow.flow.into());
                        Place::UdpIn(udp.add(flow.ends[1], &flow.service, params.k, chance))
                    }
                    Speech::Udp if to == me => {
                        let ServiceSpec { utility, deadline, priority, .. } = flow.service;
                        let reported = deadline.filter(|_| utility == Utility::Strap);
                        Place::UdpOut(reported.map(|deadline| {
                            receipts.add(flow.flow, from as u16, priority, deadline)
                        }))
                    }
                    Speech::Stream { index } if from == me => {
                        let chance = random.child("flow").uniform_at(flow.flow.into());
                        // After the members come the streams.
                        let to = members as u16 + index;
                        Place::UdpIn(udp.add(to, &flow.service, params.k, chance))
                    }
                    Speech::Tcp { mss } if from == me || to == me => {
                        Place::Tcp(tcp.add(flow, mss, from == me, params.k))
                    }
                    _ => Place::None,
                };
            let stream = matches!(flow.speech, Speech::Stream { .. });
            if params.supervised && from == me && !stream {
                supervision.watch(places[flow.flow as usize], to, &flow.service);
            }
        }
        Overlay {
            me,
            places,
            started: false,
            neighbours: Neighbours::default(),
            by_member: vec![None; members],
            bins: Bins::new(members, params.depth),
            multicast: Multicast::new(&together, params.depth, params.search as usize),
            map: Map::new(me, members),
            udp,
            tcp,
            receipts,
            supervision,
            signals,
            counts: Counts::default(),
            timed: together.flows.iter().any(|flow| flow.service.deadline.is_some()),
            outputs: Vec::new(),
            together,
            params,
        }
    }

    /// The neighbours are the members at the other ends of its links.
    #[cold]
    pub(super) fn start(&mut self, now: Time, cx: &NodeContext<'_>) {
        self.started = true;
        let members = self.together.members.len();
        for port in cx.ports() {
            let other = port.to.and_then(|to| self.together.member(to as u16));
            let Some(member) = other.filter(|member| self.by_member[*member].is_none()) else {
                continue;
            };
            let [mine, theirs] = [self.me, member].map(|member| self.together.members[member]);
            let tuple = FiveTuple { source: mine, destination: theirs, ports: 0 };
            let reach = Reach {
                port: *port,
                boxes: [(self.me, member), (member, self.me)]
                    .map(|(from, to)| self.together.mailbox(from, to)),
                tuple,
                controls: self.params.controls.clone(),
                client: self.me < member,
                depths_share: self.params.signalling.fraction(),
            };
            self.by_member[member] = Some(self.neighbours.len());
            self.neighbours.add(Neighbour::new(now, member, members, reach));
        }
        self.signals.start(now);
        self.supervision.start(now);
    }
}
