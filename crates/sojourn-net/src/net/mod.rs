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
mod forward;
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

    /// What a link's queue holds has changed from outside: the link says anew when it wants to be
    /// driven.
    pub fn changed(&mut self, edge: usize) {
        self.arm_edge(edge);
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
