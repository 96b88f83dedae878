//! Choice of the inelastic flows that fit.
//!
//! A flow does not fit if its rate exceeds the rate that its destination receives now, or the
//! remaining capacity of the node's links, or if its rate together with the elastic flows makes a
//! queue deeper than its utility, or that of a flow that fits already, justifies. One that does not
//! fit may still try while the queue does not grow and no flow thrashes: links may have become
//! faster.

use super::{Order, Supervision, Watched};
use crate::overlay::admission::Standing;
use sojourn_base::units::Time;

/// Below this capacity in bit/s nothing is decided: links that carry little are not known well.
const LEAST_CAPACITY: f64 = 750_000.0;
/// An elastic flow that takes less than this share of what it might have, and of the capacity, is not
/// elastic: it sends no more.
const OF_DUE: f64 = 0.25;
const OF_CAPACITY: f64 = 0.01;
/// Flows to a destination that may begin to try at a time.
const MOST_AT_A_TIME: u32 = 1;

/// State of a destination while flows are examined.
#[derive(Clone, Copy, Debug)]
struct Destination {
    /// What is admitted and not yet given to a flow, in bit/s.
    admitted: f64,
    thrashing: u32,
    elastic: f64,
    small: f64,
    /// The queue in bits at which a flow that fits would begin to suffer.
    bearable: f64,
    tries: u32,
}

impl Supervision {
    /// Examines all flows; returns the remaining capacity, if that is known.
    pub(super) fn fit(&mut self, now: Time, capacity: f64, orders: &mut Vec<Order>) -> Option<f64> {
        if capacity < LEAST_CAPACITY {
            return None;
        }
        let mut left = capacity;
        let mut destinations = self.destinations(now);
        for flow in self.by_worth() {
            let watched = self.flows[flow];
            let destination = &mut destinations[watched.to];
            if !watched.inelastic {
                self.add_elastic(&watched, capacity, destination);
                continue;
            }
            let fits = self.fits(&watched, left, destination);
            if fits && watched.standing != Standing::Off {
                left -= watched.nominal;
                destination.admitted -= watched.nominal;
            }
            if watched.missed {
                continue;
            }
            let quiet = self.queues[watched.to].grows == 0 && destination.thrashing == 0;
            let off = watched.standing == Standing::Off;
            if fits {
                if off && quiet {
                    left -= watched.nominal;
                    destination.admitted -= watched.nominal;
                    destination.tries = destination.tries.saturating_sub(1);
                    self.order(flow, true, orders);
                } else if watched.standing == Standing::Triaged && destination.thrashing > 1 {
                    self.order(flow, true, orders);
                }
            } else if destination.tries > 0 && quiet && watched.nominal <= left {
                if off {
                    self.order(flow, true, orders);
                }
                left -= watched.nominal;
                destination.admitted -= watched.nominal;
                destination.tries -= 1;
            } else if !off && (destination.thrashing > 1 || watched.nominal > left) {
                self.order(flow, false, orders);
            }
        }
        Some(left)
    }

    fn destinations(&self, now: Time) -> Vec<Destination> {
        let none = Destination {
            admitted: 0.0,
            thrashing: 0,
            elastic: 0.0,
            small: 0.0,
            bearable: f64::INFINITY,
            tries: MOST_AT_A_TIME,
        };
        let mut destinations = vec![none; self.queues.len()];
        for flow in self.flows.iter().filter(|flow| flow.active) {
            let destination = &mut destinations[flow.to];
            if flow.standing != Standing::Off {
                destination.admitted += flow.rate;
            }
            destination.thrashing += u32::from(flow.thrashes(now) && !flow.missed);
        }
        destinations
    }

    /// Active flows: elastic ones, then those that gain most for their rate.
    pub(super) fn by_worth(&self) -> Vec<usize> {
        let worth = |flow: &Watched| match flow.inelastic {
            false => f64::INFINITY,
            true => flow.priority / flow.nominal.max(1.0),
        };
        let mut order: Vec<usize> =
            (0..self.flows.len()).filter(|flow| self.flows[*flow].active).collect();
        order.sort_by(|a, b| worth(&self.flows[*b]).total_cmp(&worth(&self.flows[*a])));
        order
    }

    fn add_elastic(&self, flow: &Watched, capacity: f64, destination: &mut Destination) {
        let bits = 8.0 * self.queues[flow.to].mean;
        let of_one = if bits > 0.0 { self.k / bits } else { capacity };
        let small =
            flow.rate < OF_DUE * of_one * flow.priority && flow.rate < OF_CAPACITY * capacity;
        if small {
            destination.small += flow.rate;
        } else {
            destination.elastic += flow.priority;
        }
    }

    fn fits(&self, flow: &Watched, left: f64, destination: &mut Destination) -> bool {
        if flow.nominal > destination.admitted || flow.nominal > left {
            return false;
        }
        let beside = left - flow.nominal - destination.small;
        let queue = match destination.elastic {
            0.0 => 0.0,
            _ if beside <= 0.0 => f64::INFINITY,
            elastic => self.k * elastic / beside,
        };
        let bearable = destination.bearable.min(self.k * flow.priority / flow.nominal.max(1.0));
        if queue > bearable {
            return false;
        }
        destination.bearable = bearable;
        true
    }
}
