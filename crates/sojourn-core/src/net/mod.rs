//! The network: nodes, edges, timers and events, driven step by step.
//!
//! The way of a packet:
//!
//! ```text
//! inject -> first edge of its route -> Link: queue, transmitter, losses, delay
//!        -> node at the far end: Router and Host follow the route; another Node decides itself
//!        -> next edge ... -> end of the route -> Hosts::on_packet, who look at its socket
//! ```
//!
//! A network knows no flows: what a packet carries is enough. Whoever sits on top ([`Hosts`]) gets
//! packets that have arrived and the timers it has set, and injects packets; the simulation does so
//! with endpoints, another driver may with real sockets. Packets are handed on at once, from the
//! edge they leave to the next one, without an event in between.

mod alarm;
mod build;
#[doc(hidden)] // for the benchmark of its parts
pub mod event;
mod routes;

pub use alarm::{Alarm, Wake};
pub use build::Builder;

use std::collections::VecDeque;

use crate::edge::{Edge, Link, Medium};
use crate::error::Fault;
use crate::node::{Action, Behaviour, Node, NodeContext, NodeCounters, Port};
use crate::packet::Packet;
use crate::queue::Backlog;
use crate::record::LinkCounters;
use crate::record::histogram::Histogram;
use crate::units::Time;

use event::{EventQueue, Target};
use routes::RouteTable;

/// More steps than this at one instant mean that time stands still.
const MOST_STEPS_AT_AN_INSTANT: u64 = 10_000_000;

/// Outcome of a step, small enough for a register.
pub type Step = Result<(), Box<Fault>>;

/// What sits on a network: gets its packets and the timers it has set.
pub trait Hosts {
    /// A packet has come to the end of its route.
    ///
    /// # Errors
    /// If an invariant is broken; ends the run.
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step;

    /// The time of [`Network::set_timer`] has come.
    ///
    /// # Errors
    /// If an invariant is broken; ends the run.
    fn on_timer(&mut self, net: &mut Network, timer: u32) -> Step;

    /// The component that a timer belongs to, for messages.
    fn component(&self, timer: u32) -> String;
}

/// Collects what arrives: the plainest way to drive a network.
#[derive(Debug, Default)]
pub struct Arrivals(pub Vec<(Time, Packet)>);

impl Hosts for Arrivals {
    fn on_packet(&mut self, net: &mut Network, packet: &Packet) -> Step {
        self.0.push((net.now(), *packet));
        Ok(())
    }

    fn on_timer(&mut self, _net: &mut Network, _timer: u32) -> Step {
        Ok(())
    }

    fn component(&self, timer: u32) -> String {
        format!("timer {timer}")
    }
}

struct NodeSlot {
    name: String,
    behaviour: Behaviour,
    ports: Vec<Port>,
    counters: NodeCounters,
    alarm: Alarm,
}

struct MediumSlot {
    medium: Box<dyn Medium>,
    /// Edges that are its channels.
    channels: Vec<u32>,
    alarm: Alarm,
}

/// What is known of an edge besides what it does.
struct EdgeFacts {
    id: String,
    /// The nodes it leaves and reaches; `None` stands for many hosts.
    ends: [Option<usize>; 2],
}

impl EdgeFacts {
    /// Whether a route that has come over this edge may go on over `next`.
    fn joins(&self, next: &EdgeFacts) -> bool {
        match (self.ends[1], next.ends[0]) {
            (Some(to), Some(from)) => to == from,
            _ => true,
        }
    }
}

/// Nodes, edges, and how far they have been driven.
pub struct Network {
    now: Time,
    /// Events and packets handled at `now`.
    steps: u64,
    events: EventQueue,
    edges: Vec<Edge>,
    edge_alarms: Vec<Alarm>,
    edge_facts: Vec<EdgeFacts>,
    /// For each edge, the node at its far end if that decides itself, else [`PLAIN`].
    deciders: Vec<u32>,
    media: Vec<MediumSlot>,
    nodes: Vec<NodeSlot>,
    routes: RouteTable,
    /// Packets whose route has no edges.
    direct: VecDeque<Packet>,
    /// What the node that was called last wants done.
    actions: Vec<Action>,
}

/// The far end of an edge is a router or a host.
const PLAIN: u32 = u32::MAX;

impl Network {
    /// How far it has been driven.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Drives it up to and including `until`.
    ///
    /// # Errors
    /// If an invariant is broken; the network cannot be driven on then.
    pub fn advance<H: Hosts>(&mut self, until: Time, hosts: &mut H) -> Step {
        self.hand_over_direct(hosts)?;
        while let Some((time, target)) = self.events.pop_until(until) {
            if !self.step_to(time) {
                return Err(self.stuck(time, target, hosts));
            }
            match target {
                Target::Edge(edge) => self.on_edge(edge as usize, hosts)?,
                Target::Timer(timer) => hosts.on_timer(self, timer)?,
                Target::Medium(medium) => self.on_medium(medium as usize, hosts)?,
                Target::Node(node) => self.on_node(node as usize, hosts)?,
            }
            self.hand_over_direct(hosts)?;
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// When it wants to be driven next: nothing happens before, and nothing may happen then.
    pub fn next_wakeup(&mut self) -> Option<Time> {
        if self.direct.is_empty() { self.events.first() } else { Some(self.now) }
    }

    /// A packet enters the network now, at the beginning of its route.
    #[inline]
    pub fn inject(&mut self, packet: &Packet) {
        match self.routes.next(packet) {
            Some(first) => self.offer(first, packet),
            None => self.direct.push_back(*packet),
        }
    }

    /// Calls [`Hosts::on_timer`] with `timer`, a number below 2^24, at `time`. A timer once set
    /// comes: [`Alarm`] helps those whose wishes change.
    #[inline]
    pub fn set_timer(&mut self, time: Time, timer: u32) {
        self.events.push(time, Target::Timer(timer));
    }

    /// Counts a packet or an action that `timer`'s component has handled without time moving on.
    ///
    /// # Errors
    /// If that has been so for too long.
    #[inline]
    pub fn count_step(&mut self, hosts: &impl Hosts, timer: u32) -> Step {
        self.steps += 1;
        if self.steps <= MOST_STEPS_AT_AN_INSTANT {
            return Ok(());
        }
        Err(self.stuck(self.now, Target::Timer(timer), hosts))
    }

    #[inline]
    fn hand_over_direct<H: Hosts>(&mut self, hosts: &mut H) -> Step {
        while let Some(packet) = self.direct.pop_front() {
            hosts.on_packet(self, &packet)?;
        }
        Ok(())
    }

    /// Packets arrive at the far end of an edge and are handed on.
    fn on_edge<H: Hosts>(&mut self, edge: usize, hosts: &mut H) -> Step {
        match self.edge_alarms[edge].fired(self.now) {
            Wake::Now => {}
            Wake::At(time) => {
                self.schedule(time, Target::Edge(edge as u32));
                return Ok(());
            }
            Wake::Not => return Ok(()),
        }
        let decider = self.deciders[edge];
        let mut packet = Packet::default();
        while let Edge::Link(link) = &mut self.edges[edge]
            && link.poll_into(self.now, &mut packet)
        {
            packet.hop = packet.hop.wrapping_add(1);
            match decider {
                PLAIN => self.hand_on(&packet, hosts)?,
                node => self.receive(node as usize, edge, packet, hosts)?,
            }
        }
        self.arm_edge(edge);
        Ok(())
    }

    fn on_medium<H: Hosts>(&mut self, medium: usize, hosts: &mut H) -> Step {
        match self.media[medium].alarm.fired(self.now) {
            Wake::Now => {}
            Wake::At(time) => {
                self.schedule(time, Target::Medium(medium as u32));
                return Ok(());
            }
            Wake::Not => return Ok(()),
        }
        while let Some((channel, mut packet)) = self.media[medium].medium.poll(self.now) {
            let Some(&edge) = self.media[medium].channels.get(channel) else {
                let holds = format!("delivers from its channels only, not from channel {channel}");
                return Err(self.fault(format!("medium {medium}"), &holds));
            };
            let edge = edge as usize;
            packet.hop = packet.hop.wrapping_add(1);
            match self.deciders[edge] {
                PLAIN => self.hand_on(&packet, hosts)?,
                node => self.receive(node as usize, edge, packet, hosts)?,
            }
        }
        self.arm_medium(medium);
        Ok(())
    }

    /// A packet goes on along its route, or has arrived.
    #[inline]
    fn hand_on<H: Hosts>(&mut self, packet: &Packet, hosts: &mut H) -> Step {
        match self.routes.next(packet) {
            Some(next) => {
                self.offer(next, packet);
                Ok(())
            }
            None => hosts.on_packet(self, packet),
        }
    }

    /// A packet comes to a node that decides itself.
    #[inline(never)]
    fn receive<H: Hosts>(
        &mut self,
        node: usize,
        from: usize,
        packet: Packet,
        hosts: &mut H,
    ) -> Step {
        self.nodes[node].counters.received += 1;
        let now = self.now;
        self.call(node, hosts, |node, cx| node.on_packet(now, from, packet, cx))
    }

    fn on_node<H: Hosts>(&mut self, node: usize, hosts: &mut H) -> Step {
        match self.nodes[node].alarm.fired(self.now) {
            Wake::Now => {
                let now = self.now;
                self.call(node, hosts, |node, cx| node.on_timer(now, cx))
            }
            Wake::At(time) => {
                self.schedule(time, Target::Node(node as u32));
                Ok(())
            }
            Wake::Not => Ok(()),
        }
    }

    /// Calls a node, and does what it wants done.
    fn call<H: Hosts>(
        &mut self,
        node: usize,
        hosts: &mut H,
        tell: impl FnOnce(&mut dyn Node, &mut NodeContext<'_>),
    ) -> Step {
        let mut actions = std::mem::take(&mut self.actions);
        let slot = &mut self.nodes[node];
        if let Behaviour::Other(other) = &mut slot.behaviour {
            let (ports, counters) = (&slot.ports[..], &mut slot.counters);
            let mut cx = NodeContext { ports, counters, actions: &mut actions };
            tell(other.as_mut(), &mut cx);
            let want = other.next_timer().unwrap_or(Time::NEVER).max(self.now);
            if let Some(time) = slot.alarm.arm(want) {
                self.schedule(time, Target::Node(node as u32));
            }
        }
        for action in actions.drain(..) {
            self.carry_out(node, action, hosts)?;
        }
        self.actions = actions;
        Ok(())
    }

    fn carry_out<H: Hosts>(&mut self, node: usize, action: Action, hosts: &mut H) -> Step {
        if !self.step_to(self.now) {
            return Err(self.stuck(self.now, Target::Node(node as u32), hosts));
        }
        let (edge, packet) = match action {
            Action::Send(port, packet) => (port.edge, self.rerouted(node, port, packet)?),
            Action::Forward(packet) => match self.routes.next(&packet) {
                Some(edge) => (edge, packet),
                None => {
                    self.nodes[node].counters.delivered += 1;
                    return hosts.on_packet(self, &packet);
                }
            },
        };
        if !self.nodes[node].ports.iter().any(|port| port.edge == edge) {
            let way = self.edge_facts.get(edge).map_or("an edge there is not", |facts| &facts.id);
            return Err(self.node_fault(node, &format!("sends out of its ports only, not {way}")));
        }
        self.nodes[node].counters.sent += 1;
        self.offer(edge, &packet);
        Ok(())
    }

    /// A packet that leaves by `port` in place of the next edge of its route, of which the end is
    /// never passed.
    fn rerouted(&self, node: usize, port: Port, mut packet: Packet) -> Result<Packet, Box<Fault>> {
        if self.routes.next(&packet).is_none() {
            packet.hop = packet.hop.wrapping_sub(1);
            return Ok(packet);
        }
        let there = Packet { hop: packet.hop.wrapping_add(1), ..packet };
        let (Some(next), Some(out)) = (self.routes.next(&there), self.edge_facts.get(port.edge))
        else {
            return Ok(packet);
        };
        if self.deciders[port.edge] == PLAIN && !out.joins(&self.edge_facts[next]) {
            let (out, next) = (&out.id, &self.edge_facts[next].id);
            let holds = format!("sends out of {out} what can go on there, not over {next}");
            return Err(self.node_fault(node, &holds));
        }
        Ok(packet)
    }

    #[cold]
    fn node_fault(&self, node: usize, holds: &str) -> Box<Fault> {
        self.fault(format!("node {}", self.nodes[node].name), holds)
    }

    #[inline]
    fn offer(&mut self, edge: usize, packet: &Packet) {
        let Edge::Link(link) = &mut self.edges[edge] else {
            return self.offer_to_medium(edge, packet);
        };
        let steady = link.is_steady();
        link.offer(self.now, *packet);
        if !steady {
            return self.arm_edge(edge);
        }
        debug_assert!(
            link.next_wakeup().is_none_or(|t| t >= self.edge_alarms[edge].want()),
            "an offer brought the wake-up forward"
        );
    }

    #[inline(never)]
    fn offer_to_medium(&mut self, edge: usize, packet: &Packet) {
        if let Edge::Channel { medium, channel } = self.edges[edge] {
            let slot = &mut self.media[medium as usize];
            slot.medium.offer(self.now, channel as usize, *packet);
            self.arm_medium(medium as usize);
        }
    }

    #[inline]
    fn arm_edge(&mut self, edge: usize) {
        let Edge::Link(link) = &self.edges[edge] else { return };
        let want = link.next_wakeup().unwrap_or(Time::NEVER);
        if let Some(time) = self.edge_alarms[edge].arm(want.max(self.now)) {
            self.schedule(time, Target::Edge(edge as u32));
        }
    }

    fn arm_medium(&mut self, medium: usize) {
        let slot = &mut self.media[medium];
        let want = slot.medium.next_wakeup().unwrap_or(Time::NEVER);
        if let Some(time) = slot.alarm.arm(want.max(self.now)) {
            self.schedule(time, Target::Medium(medium as u32));
        }
    }

    /// Apart, because most of the time nothing needs to be scheduled.
    #[inline(never)]
    fn schedule(&mut self, time: Time, target: Target) {
        self.events.push(time, target);
    }

    /// Counts a step at `time`; whether time moves on as it should.
    #[inline]
    fn step_to(&mut self, time: Time) -> bool {
        if time > self.now {
            self.now = time;
            self.steps = 0;
            return true;
        }
        self.steps += 1;
        time == self.now && self.steps <= MOST_STEPS_AT_AN_INSTANT
    }

    #[cold]
    fn stuck(&self, time: Time, target: Target, hosts: &impl Hosts) -> Box<Fault> {
        let holds = match time < self.now {
            true => "is not woken for a time that has passed",
            false => "lets time move on",
        };
        let component = match target {
            Target::Edge(edge) => format!("link {}", self.edge_facts[edge as usize].id),
            Target::Medium(medium) => format!("medium {medium}"),
            Target::Node(node) => format!("node {}", self.nodes[node as usize].name),
            Target::Timer(timer) => hosts.component(timer),
        };
        self.fault(component, holds)
    }

    /// What is wrong with `component`, now: it does not do what `holds` says.
    #[cold]
    pub fn fault(&self, component: String, holds: &str) -> Box<Fault> {
        Box::new(Fault {
            time: self.now,
            component,
            message: format!("broken invariant: it {holds}"),
        })
    }

    /// Checks that every edge and every node conserves packets.
    ///
    /// # Errors
    /// Names the first that does not.
    pub fn check(&mut self) -> Step {
        let holds = "neither loses nor makes packets";
        for edge in 0..self.edges.len() {
            let held = self.held(edge);
            if !self.report(edge).is_balanced(held) {
                return Err(self.fault(format!("link {}", self.edge_facts[edge].id), holds));
            }
        }
        for node in &self.nodes {
            if let Behaviour::Other(other) = &node.behaviour
                && !node.counters.is_balanced(other.held())
            {
                return Err(self.fault(format!("node {}", node.name), holds));
            }
        }
        Ok(())
    }

    /// Counters of an edge, brought up to now.
    pub fn report(&mut self, edge: usize) -> LinkCounters {
        match &mut self.edges[edge] {
            Edge::Link(link) => link.report(self.now),
            Edge::Channel { medium, channel } => {
                self.media[*medium as usize].medium.report(self.now, *channel as usize)
            }
        }
    }

    /// What an edge holds.
    pub fn held(&self, edge: usize) -> Backlog {
        match &self.edges[edge] {
            Edge::Link(link) => link.held(),
            Edge::Channel { medium, channel } => {
                self.media[*medium as usize].medium.held(*channel as usize)
            }
        }
    }

    /// Sojourn times in an edge's queue since the end of the warm-up.
    pub fn sojourn_histogram(&self, edge: usize) -> Option<&Histogram> {
        match &self.edges[edge] {
            Edge::Link(link) => link.sojourn_histogram(),
            Edge::Channel { medium, channel } => {
                self.media[*medium as usize].medium.sojourn_histogram(*channel as usize)
            }
        }
    }

    /// What a node has done with packets.
    pub fn node_counters(&self, node: usize) -> &NodeCounters {
        &self.nodes[node].counters
    }

    /// The name of an edge.
    pub fn edge_id(&self, edge: usize) -> &str {
        &self.edge_facts[edge].id
    }

    /// The link that an edge is, unless it is a channel of a shared medium.
    pub fn link(&self, edge: usize) -> Option<&Link> {
        match &self.edges[edge] {
            Edge::Link(link) => Some(link),
            Edge::Channel { .. } => None,
        }
    }

    /// The warm-up is over: distributions (not counters) start afresh.
    pub fn end_warmup(&mut self) {
        for edge in &mut self.edges {
            if let Edge::Link(link) = edge {
                link.end_warmup(self.now);
            }
        }
        self.media.iter_mut().for_each(|slot| slot.medium.end_warmup(self.now));
    }

    /// Events scheduled since the start.
    pub fn events(&self) -> u64 {
        self.events.scheduled()
    }
}
