//! FLOG: elastic, but turned off for good when it gets less than it needs.
//!
//! The rate is that of LOG. Every tenth of a second, scaled by priority, three conditions are
//! checked: whether the waiting data would take more than a second and the rate does not grow by a
//! tenth, whether it takes more than a second and grows, and whether the rate is below the floor.
//! When one of them holds more than 15 times in a row the flow is turned off. Model: IRON's
//! `flog_utility.cc`.

use super::{Source, log::Log};
use crate::ServiceSpec;
use sojourn_base::units::{Span, Time};

const EVERY: f64 = 0.1;
const LONGEST_WAIT: f64 = 1.0;
const GROWTH: f64 = 1.1;
const GAIN: f64 = 0.2;
/// Number of checks in a row after which the flow is turned off.
const MOST: u32 = 15;

/// The admission of a flow with a floor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flog {
    log: Log,
    floor: f64,
    every: Span,
    look_at: Time,
    rate: f64,
    waiting: f64,
    in_a_row: [u32; 3],
    off: bool,
}

impl Flog {
    /// The admission control of a service.
    pub(crate) fn new(service: &ServiceSpec, k: f64) -> Self {
        let p = service.priority;
        Flog {
            log: Log::new(service, k),
            floor: service.floor.map_or(0.0, |floor| floor.as_bps() as f64),
            every: Span::from_secs_f64(EVERY * (2.0 * p + 10.0) / (p + 10.0)),
            look_at: Time::ZERO,
            rate: 0.0,
            waiting: 0.0,
            in_a_row: [0; 3],
            off: false,
        }
    }

    /// Sets the priority.
    pub(crate) fn set_priority(&mut self, priority: f64) {
        self.log.set_priority(priority);
    }

    /// Whether the flow is turned off.
    pub(crate) fn is_off(&self) -> bool {
        self.off
    }

    /// Time of the next check.
    pub(crate) fn look_at(&self) -> Option<Time> {
        (!self.off).then_some(self.look_at)
    }

    /// The rate in bit/s when the queue is `depth` bits deep.
    pub(crate) fn rate(&self, depth: f64) -> f64 {
        if self.off { 0.0 } else { self.log.rate(depth) }
    }

    /// Checks the queue, in bits, and the source.
    pub(crate) fn look(&mut self, now: Time, depth: f64, source: &Source) {
        if now < self.look_at || self.off {
            return;
        }
        self.look_at = now + self.every;
        let before = self.rate;
        self.rate = GAIN * self.log.rate(depth) + (1.0 - GAIN) * before;
        let late = source.waiting > LONGEST_WAIT * self.rate;
        let holds = [
            late && self.rate < GROWTH * before,
            late && source.waiting > self.waiting,
            self.rate < self.floor,
        ];
        self.waiting = source.waiting;
        for (count, holds) in self.in_a_row.iter_mut().zip(holds) {
            *count = if holds { *count + 1 } else { 0 };
        }
        self.off = self.in_a_row.iter().any(|count| *count > MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::units::Rate;

    fn off_after(depth: f64, waiting: f64) -> bool {
        let ceiling = Rate::from_bps(100_000_000);
        let service = ServiceSpec { ceiling, ..ServiceSpec::default() };
        let mut flog = Flog::new(&service, 1e12);
        let source = Source::with_waiting(waiting);
        (0..1_000).for_each(|step| {
            flog.look(Time::ZERO + Span::from_millis(10 * step), depth, &source);
        });
        flog.is_off()
    }

    #[test]
    fn it_is_turned_off_when_too_much_waits_for_its_rate() {
        // At a depth of 1e6 bits it gets 1 Mbit/s.
        assert!(!off_after(1e6, 0.9e6));
        assert!(off_after(1e6, 1.2e6));
    }
}
