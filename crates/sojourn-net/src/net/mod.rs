//! The network: nodes, edges, timers and events, driven step by step.
//!
//! The path of a packet:
//!
//! ```text
//! inject -> first edge of its route -> Link: queue, transmitter, losses, delay
//!        -> node at the far end: Router and Host follow the route; an active Node acts itself
//!        -> next edge ... -> end of the route -> Hosts::on_packet, who look at its socket
//! ```
//!
//! A network knows no flows; the fields of a packet suffice. Its user ([`Hosts`]) receives arrived
//! packets and the timers it has set, and injects packets: the simulation with endpoints, another
//! driver with real sockets. Packets are forwarded at once, from the edge they leave to the next
//! one, without an event in between.

mod alarm;
mod build;
#[doc(hidden)] // for the benchmark of its parts
pub mod event;
mod forward;
mod hosts;
mod inspect;
mod nodes;
mod part;
mod regions;
mod routes;
mod split;

pub use alarm::{Alarm, Wake};
pub use build::Builder;
pub use hosts::{Arrivals, Hosts, Step};
pub use part::Links;
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

/// More steps than this at one instant are reported as a fault: time does not advance.
const MOST_STEPS_AT_AN_INSTANT: u64 = 10_000_000;

struct NodeSlot {
    name: String,
    behaviour: Behaviour,
    ports: Vec<Port>,
    counters: NodeCounters,
    /// Names of the counters of its kind.
    named: &'static [&'static str],
    alarm: Alarm,
}

struct MediumSlot {
    medium: Box<dyn Medium>,
    /// Edges that are channels of it.
    channels: Vec<u32>,
    alarm: Alarm,
}

/// Static facts about an edge.
#[derive(Clone)]
struct EdgeFacts {
    id: String,
    /// The nodes it leaves and reaches; `None` stands for many hosts.
    ends: [Option<usize>; 2],
}

impl EdgeFacts {
    /// Whether a route may continue from this edge over `next`.
    fn joins(&self, next: &EdgeFacts) -> bool {
        match (self.ends[1], next.ends[0]) {
            (Some(to), Some(from)) => to == from,
            _ => true,
        }
    }
}

/// Nodes, edges, and the time they have reached.
pub struct Network {
    now: Time,
    /// Events and packets handled at `now`.
    steps: u64,
    events: EventQueue,
    edges: Vec<Edge>,
    edge_turns: Vec<Turn>,
    edge_facts: Vec<EdgeFacts>,
    media: Vec<MediumSlot>,
    nodes: Vec<NodeSlot>,
    routes: RouteTable,
    /// Packets whose route has no edges.
    direct: VecDeque<Packet>,
    /// Actions requested by the node that was called last.
    actions: Vec<Action>,
}

/// When an edge is due, and what becomes of its packets.
#[derive(Clone, Copy)]
struct Turn {
    alarm: Alarm,
    /// The node at its far end if that is active, else [`PLAIN`].
    decider: u32,
}

/// The far end of an edge is a router or a host.
const PLAIN: u32 = u32::MAX;

impl Network {
    /// The time that has been reached.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Runs all events up to and including `until`.
    ///
    /// # Errors
    /// If an invariant is broken; the network cannot be driven on then.
    pub fn advance<H: Hosts>(&mut self, until: Time, hosts: &mut H) -> Step {
        self.hand_over_direct(hosts)?;
        let mut packet = Packet::default();
        while let Some((time, target)) = self.events.pop_until(until) {
            if !self.step_to(time) {
                return Err(self.stuck(time, target, hosts));
            }
            match target {
                Target::Edge(edge) => self.on_edge(edge as usize, &mut packet, hosts)?,
                Target::Timer(timer) => hosts.on_timer(self, timer)?,
                Target::Medium(medium) => self.on_medium(medium as usize, hosts)?,
                Target::Node(node) => self.on_node(node as usize, hosts)?,
            }
            self.hand_over_direct(hosts)?;
        }
        self.now = self.now.max(until);
        Ok(())
    }

    /// Advances time to `now`, before which no event is left.
    pub fn reach(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Time of the next event: no event happens before it, and possibly none then.
    pub fn next_wakeup(&mut self) -> Option<Time> {
        if self.direct.is_empty() { self.events.first() } else { Some(self.now) }
    }

    /// A packet enters the network now, at the beginning of its route.
    #[inline(always)] // once per packet
    pub fn inject(&mut self, packet: &Packet) {
        match self.routes.next(packet) {
            Some(first) => self.offer(first, packet),
            None => self.direct.push_back(*packet),
        }
    }

    /// Calls [`Hosts::on_timer`] with `timer`, a number below 2^24, at `time`. A timer cannot be
    /// cancelled; [`Alarm`] helps components whose timers move.
    #[inline(never)] // mostly an alarm has its event
    pub fn set_timer(&mut self, time: Time, timer: u32) {
        self.events.push(time, Target::Timer(timer));
    }

    /// Counts a packet or an action that `timer`'s component has handled without time advancing.
    ///
    /// # Errors If time has not advanced for too many steps.
    #[inline]
    pub fn count_step(&mut self, hosts: &impl Hosts, timer: u32) -> Step {
        if self.may_step() { Ok(()) } else { Err(self.stays(hosts, timer)) }
    }

    /// Counts it; returns whether there were not too many yet.
    #[inline]
    pub fn may_step(&mut self) -> bool {
        self.steps += 1;
        self.steps <= MOST_STEPS_AT_AN_INSTANT
    }

    /// The fault that `timer`'s component does not let time advance.
    #[cold]
    pub fn stays(&self, hosts: &impl Hosts, timer: u32) -> Box<Fault> {
        self.stuck(self.now, Target::Timer(timer), hosts)
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

    /// To be called when the content of a link's queue was changed by the caller: schedules the
    /// link's next wake-up anew.
    pub fn changed(&mut self, edge: usize) {
        match self.edges[edge] {
            Edge::Channel { medium, .. } => self.arm_medium(medium as usize),
            _ => self.arm_edge(edge),
        }
    }

    /// A function of its own, because mostly nothing needs to be scheduled.
    #[inline(never)]
    fn schedule(&mut self, time: Time, target: Target) {
        self.events.push(time, target);
    }

    /// Counts a step at `time`; returns whether time advances as it should.
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

    /// The fault that `component`, now, does not do what `holds` says.
    #[cold]
    pub fn fault(&self, component: String, holds: &str) -> Box<Fault> {
        Box::new(Fault {
            time: self.now,
            component,
            message: format!("violates the invariant that it {holds}"),
        })
    }
}
