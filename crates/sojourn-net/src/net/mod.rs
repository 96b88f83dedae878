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
mod hosts;
mod inspect;
mod nodes;
mod regions;
mod routes;
mod split;

pub use alarm::{Alarm, Wake};
pub use build::Builder;
pub use hosts::{Arrivals, Hosts, Step};
pub use regions::Regions;
pub use split::{Crossing, Split};

use std::collections::VecDeque;

use crate::edge::{Edge, Medium};
use crate::error::Fault;
use crate::node::{Action, Behaviour, NodeCounters, Port};
use crate::packet::Packet;
use crate::units::Time;

use event::{EventQueue, Target};
use routes::RouteTable;

/// More steps than this at one instant mean that time stands still.
const MOST_STEPS_AT_AN_INSTANT: u64 = 10_000_000;

struct NodeSlot {
    name: String,
    behaviour: Behaviour,
    ports: Vec<Port>,
    counters: NodeCounters,
    /// Names of those counters that are its kind's own.
    named: &'static [&'static str],
    alarm: Alarm,
}

struct MediumSlot {
    medium: Box<dyn Medium>,
    /// Edges that are its channels.
    channels: Vec<u32>,
    alarm: Alarm,
}

/// What is known of an edge besides what it does.
#[derive(Clone)]
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

    /// Moves time on to `now`, before which nothing is left to do.
    pub fn reach(&mut self, now: Time) {
        self.now = self.now.max(now);
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

    #[inline(always)] // asked after every event
    fn hand_over_direct<H: Hosts>(&mut self, hosts: &mut H) -> Step {
        if self.direct.is_empty() { Ok(()) } else { self.hand_over(hosts) }
    }

    #[inline(never)]
    fn hand_over<H: Hosts>(&mut self, hosts: &mut H) -> Step {
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
                self.schedule_edge(time, edge);
                return Ok(());
            }
            Wake::Not => return Ok(()),
        }
        let decider = self.deciders[edge];
        let mut packet = Packet::default();
        while self.edges[edge].poll_into(self.now, &mut packet) {
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
        while let Some(departure) = self.media[medium].medium.departure() {
            hosts.on_departure(self, departure)?;
        }
        self.arm_medium(medium);
        Ok(())
    }

    /// A packet goes on along its route, or has arrived.
    #[inline(always)] // once per packet and edge
    fn hand_on<H: Hosts>(&mut self, packet: &Packet, hosts: &mut H) -> Step {
        match self.routes.next(packet) {
            Some(next) => {
                self.offer(next, packet);
                Ok(())
            }
            None => hosts.on_packet(self, packet),
        }
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
        let want = self.edges[edge].next_wakeup().unwrap_or(Time::NEVER);
        if let Some(time) = self.edge_alarms[edge].arm(want.max(self.now)) {
            self.schedule_edge(time, edge);
        }
    }

    /// Apart, because most of the time nothing needs to be scheduled.
    #[inline(never)]
    fn schedule_edge(&mut self, time: Time, edge: usize) {
        let target = Target::Edge(edge as u32);
        match self.edges[edge] {
            Edge::FarEnd(_) => self.events.push_first(time, target),
            _ => self.events.push(time, target),
        }
    }

    /// What a link's queue holds has changed from outside: the link says anew when it wants to be
    /// driven.
    pub fn changed(&mut self, edge: usize) {
        self.arm_edge(edge);
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
}
