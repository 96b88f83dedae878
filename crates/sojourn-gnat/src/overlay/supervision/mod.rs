//! Supervisory control (AMP): chooses the inelastic flows that fit, those that may try although
//! they do not, and those that are turned off.
//!
//! Queues alone would let every flow try again and again. Twice a second the state of proxies and
//! queues is recorded; every two seconds all flows that begin at a node are examined in decreasing
//! order of utility per rate (`fit`), and of the flows that miss too many packets one for each
//! destination may try (`probes`). Model: IRON's `amp.cc` and `svcr.cc`, without file transfers and
//! coupled flows.

mod fit;
mod probes;

use super::admission::{Seen, Standing};
use crate::ServiceSpec;
use sojourn_base::units::{Span, Time};

/// Interval of records, and weight of the previous ones.
const NOTE_EVERY: Span = Span::from_millis(500);
const OLD: f64 = 0.8;
/// Time of the first examination of flows, and interval.
const STARTUP: Span = Span::from_secs(10);
const TRIAGE_EVERY: Span = Span::from_secs(2);
/// Number of records for which a queue counts as growing after its largest depth since a flow was
/// turned on.
const GROWS_FOR: u8 = 8;

/// A flow that begins here.
#[derive(Clone, Copy, Debug)]
struct Watched {
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

/// The flow that tries to reach a destination.
#[derive(Clone, Copy, Debug, Default)]
struct Probe {
    flow: Option<usize>,
    since: Option<Time>,
}

/// A flow to be turned on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Index of the flow among those watched.
    pub flow: usize,
    /// Whether it is to be on.
    pub on: bool,
}

/// Supervisory control of a node.
#[derive(Debug)]
pub(super) struct Supervision {
    k: f64,
    note_at: Time,
    triage_at: Time,
    flows: Vec<Watched>,
    queues: Vec<Queue>,
    probes: Vec<Probe>,
}

impl Supervision {
    /// State of a node in a network of `members` members.
    pub(super) fn new(k: f64, members: usize) -> Self {
        Supervision {
            k,
            note_at: Time::NEVER,
            triage_at: Time::NEVER,
            flows: Vec::new(),
            queues: vec![Queue::default(); members],
            probes: vec![Probe::default(); members],
        }
    }

    /// A flow with this service begins here; whether it is watched, as the next. Those with a floor
    /// turn themselves off for good.
    pub(super) fn watch(&mut self, to: usize, service: &ServiceSpec) -> bool {
        if !service.utility.is_supervised() {
            return false;
        }
        self.flows.push(Watched {
            to,
            priority: service.priority,
            deadline: service.deadline.unwrap_or(Span::ZERO),
            inelastic: service.utility.is_inelastic(),
            active: false,
            admitted: 0.0,
            rate: 0.0,
            nominal: 0.0,
            standing: Standing::On,
            toggles: 0,
            toggled_at: None,
            missed: false,
        });
        true
    }

    /// Begins, if there is anything to decide.
    pub(super) fn start(&mut self, now: Time) {
        if self.works() {
            self.note_at = now + NOTE_EVERY;
            self.triage_at = now + STARTUP;
        }
    }

    /// Whether there is anything to decide.
    pub(super) fn works(&self) -> bool {
        self.flows.iter().any(|flow| flow.inelastic)
    }

    /// When something is due.
    pub(super) fn next(&self) -> Time {
        self.note_at.min(self.triage_at)
    }

    /// Whether the state of proxies and queues is to be recorded now; sets the next time.
    pub(super) fn notes(&mut self, now: Time) -> bool {
        let due = now >= self.note_at;
        if due {
            self.note_at = now + NOTE_EVERY;
        }
        due
    }

    /// Whether flows are to be examined now; sets the next time.
    pub(super) fn triages(&mut self, now: Time) -> bool {
        let due = now >= self.triage_at;
        if due {
            self.triage_at = now + TRIAGE_EVERY;
        }
        due
    }

    /// Begins after a flow has come, or become inelastic, while the node runs.
    pub(super) fn begin(&mut self, now: Time) {
        if self.note_at == Time::NEVER {
            self.start(now);
        }
    }

    /// Sets a flow's service. One with a floor counts as elastic.
    pub(super) fn set_service(&mut self, now: Time, flow: usize, service: &ServiceSpec) {
        let flow = &mut self.flows[flow];
        flow.priority = service.priority;
        flow.deadline = service.deadline.unwrap_or(Span::ZERO);
        flow.inelastic = service.utility.is_inelastic();
        self.begin(now);
    }

    /// Sets a flow's priority.
    pub(super) fn set_priority(&mut self, flow: usize, priority: f64) {
        self.flows[flow].priority = priority;
    }

    /// Records the state of a flow.
    pub(super) fn note(&mut self, now: Time, flow: usize, seen: Seen) {
        self.flows[flow].note(now, seen);
    }

    /// Records that the queue of a destination is `bytes` deep.
    pub(super) fn on_depth(&mut self, to: usize, bytes: f64) {
        let queue = &mut self.queues[to];
        queue.sum += bytes;
        queue.count += 1;
        queue.highest = queue.highest.max(bytes);
    }

    /// Records the depths of queues passed in since the last call.
    pub(super) fn note_queues(&mut self) {
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

    /// Decides which flows are to be on; `capacity` is that of the working links, in bit/s.
    pub(super) fn decide(&mut self, now: Time, capacity: f64) -> Vec<Order> {
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

    /// Whether it switches on and off repeatedly.
    fn thrashes(&self, now: Time) -> bool {
        let lately = TRIAGE_EVERY * 3 / 2;
        match self.standing {
            Standing::Triaged => true,
            Standing::On => self.toggled_at.is_some_and(|at| now.since(at) < lately),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
