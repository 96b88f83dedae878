//! Supervisory control (AMP): which inelastic flows fit, which of those that do not may try, and which
//! are turned off.
//!
//! Queues alone let every flow try again and again. Twice a second what proxies and queues do is
//! noted; every two seconds all flows that begin at a node are gone through, those first that gain
//! most for their rate (`fit`), and of the flows that miss too many packets one for each destination
//! may try (`probes`). Model: IRON's `amp.cc` and `svcr.cc`, without file transfers and coupled flows.

mod fit;
mod probes;

use super::admission::Standing;
use super::{Overlay, Place};
use crate::{ServiceSpec, Utility};
use sojourn_base::units::{Span, Time};

/// How often things are noted, and weight of what was noted before.
const NOTE_EVERY: Span = Span::from_millis(500);
const OLD: f64 = 0.8;
/// When flows are gone through first, and how often.
const STARTUP: Span = Span::from_secs(10);
const TRIAGE_EVERY: Span = Span::from_secs(2);
/// A queue still grows so many notes after it was deeper than ever since a flow was turned on.
const GROWS_FOR: u8 = 8;

/// What there is to see of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Bits admitted so far.
    pub admitted: f64,
    /// When a packet came last.
    pub came_at: Time,
    /// Whether it is admitted.
    pub standing: Standing,
    /// How often it began or ceased to be.
    pub toggles: u32,
    /// Rate of its source, in bit/s.
    pub nominal: f64,
}

/// A flow that begins here.
#[derive(Clone, Copy, Debug)]
struct Watched {
    place: Place,
    to: usize,
    priority: f64,
    deadline: Span,
    inelastic: bool,
    active: bool,
    admitted: f64,
    /// Rate at which it is admitted, smoothed, and that of its source, in bit/s.
    rate: f64,
    nominal: f64,
    standing: Standing,
    toggles: u32,
    toggled_at: Option<Time>,
    /// Whether it was triaged because packets were missing, and has not been stable since.
    missed: bool,
}

/// The queue of a destination.
#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    sum: f64,
    count: u32,
    highest: f64,
    /// Of the last half second, in bytes.
    mean: f64,
    /// Deepest since a flow was turned on last, in bytes; for how many more notes it is growing.
    top: f64,
    grows: u8,
}

/// A flow to be turned on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    flow: usize,
    on: bool,
}

/// Supervisory control of a node.
#[derive(Debug)]
pub struct Supervision {
    k: f64,
    note_at: Time,
    triage_at: Time,
    flows: Vec<Watched>,
    queues: Vec<Queue>,
    probes: Vec<probes::Probe>,
}

impl Supervision {
    /// Of a node in a network of so many members.
    pub fn new(k: f64, members: usize) -> Self {
        Supervision {
            k,
            note_at: Time::NEVER,
            triage_at: Time::NEVER,
            flows: Vec::new(),
            queues: vec![Queue::default(); members],
            probes: vec![probes::Probe::default(); members],
        }
    }

    /// A flow with this service begins here. Those with a floor turn themselves off for good.
    pub fn watch(&mut self, place: Place, to: usize, service: &ServiceSpec) {
        if service.utility == Utility::Flog {
            return;
        }
        self.flows.push(Watched {
            place,
            to,
            priority: service.priority,
            deadline: service.deadline.unwrap_or(Span::ZERO),
            inelastic: service.utility == Utility::Strap,
            active: false,
            admitted: 0.0,
            rate: 0.0,
            nominal: 0.0,
            standing: Standing::On,
            toggles: 0,
            toggled_at: None,
            missed: false,
        });
    }

    /// Begins, if there is anything to decide.
    pub fn start(&mut self, now: Time) {
        if self.works() {
            self.note_at = now + NOTE_EVERY;
            self.triage_at = now + STARTUP;
        }
    }

    /// Whether there is anything to decide.
    fn works(&self) -> bool {
        self.flows.iter().any(|flow| flow.inelastic)
    }

    /// When something is due.
    pub fn next(&self) -> Time {
        self.note_at.min(self.triage_at)
    }

    /// A flow's priority becomes another.
    pub fn set_priority(&mut self, place: Place, priority: f64) {
        let flow = self.flows.iter_mut().find(|flow| flow.place == place);
        if let Some(flow) = flow {
            flow.priority = priority;
        }
    }

    /// The queue of a destination is so many bytes deep.
    pub fn on_depth(&mut self, to: usize, bytes: f64) {
        let queue = &mut self.queues[to];
        queue.sum += bytes;
        queue.count += 1;
        queue.highest = queue.highest.max(bytes);
    }

    fn note_queues(&mut self) {
        for queue in &mut self.queues {
            if queue.count > 0 {
                queue.mean = queue.sum / f64::from(queue.count);
            }
            if queue.highest > queue.top {
                (queue.top, queue.grows) = (queue.highest, GROWS_FOR);
            } else {
                queue.grows = queue.grows.saturating_sub(1);
            }
            (queue.sum, queue.count, queue.highest) = (0.0, 0, 0.0);
        }
    }

    /// What the flows are to be: `capacity` is that of the working links, in bit/s.
    fn decide(&mut self, now: Time, capacity: f64) -> Vec<Order> {
        let mut orders = Vec::new();
        if let Some(left) = self.fit(now, capacity, &mut orders) {
            self.calibrate(now, left, &mut orders);
        }
        orders
    }

    fn order(&mut self, flow: usize, on: bool, orders: &mut Vec<Order>) {
        self.flows[flow].standing = if on { Standing::On } else { Standing::Off };
        if on {
            let queue = &mut self.queues[self.flows[flow].to];
            queue.top = queue.mean;
        }
        orders.push(Order { flow, on });
    }
}

impl Watched {
    fn note(&mut self, now: Time, seen: Seen) {
        let rate = (seen.admitted - self.admitted) / NOTE_EVERY.as_secs_f64();
        let begins = !self.active || self.admitted == 0.0;
        self.admitted = seen.admitted;
        self.rate = if begins { rate } else { OLD * self.rate + (1.0 - OLD) * rate };
        self.nominal = seen.nominal;
        self.active = now.since(seen.came_at) < NOTE_EVERY * 2;
        if seen.toggles > self.toggles && seen.standing != Standing::Off {
            self.toggled_at = Some(now);
        }
        self.toggles = seen.toggles;
        self.standing = seen.standing;
        self.missed |= seen.standing == Standing::Missed;
    }

    /// Whether it goes on and off.
    fn thrashes(&self, now: Time) -> bool {
        let lately = TRIAGE_EVERY * 3 / 2;
        match self.standing {
            Standing::Triaged => true,
            Standing::On => self.toggled_at.is_some_and(|at| now.since(at) < lately),
            _ => false,
        }
    }
}

impl Overlay {
    /// Does what supervisory control has to do now.
    pub(super) fn supervise(&mut self, now: Time) {
        if now >= self.supervision.note_at {
            self.supervision.note_at = now + NOTE_EVERY;
            self.note(now);
        }
        if now >= self.supervision.triage_at {
            self.supervision.triage_at = now + TRIAGE_EVERY;
            self.triage(now);
        }
    }

    #[cold]
    fn triage(&mut self, now: Time) {
        let working = self.neighbours.iter().filter(|neighbour| neighbour.works());
        let capacity = working.map(|neighbour| neighbour.capacity()).sum();
        for Order { flow, on } in self.supervision.decide(now, capacity) {
            if let Place::UdpIn(flow) = self.supervision.flows[flow].place {
                self.udp.turn(now, flow, on);
            }
        }
    }

    #[cold]
    fn note(&mut self, now: Time) {
        self.supervision.note_queues();
        for watched in &mut self.supervision.flows {
            let seen = match watched.place {
                Place::UdpIn(flow) => self.udp.seen(flow),
                Place::Tcp(flow) => Seen {
                    admitted: self.tcp.admitted(flow),
                    came_at: now,
                    standing: Standing::On,
                    toggles: 0,
                    nominal: 0.0,
                },
                _ => continue,
            };
            watched.note(now, seen);
        }
    }

    /// Shows supervisory control how deep queues are.
    pub(super) fn show_depths(&mut self) {
        if self.supervision.works() {
            for (to, bin) in self.bins.iter().enumerate() {
                self.supervision.on_depth(to, bin.bytes() as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests;
