//! STRAP: an inelastic flow gets all of its rate, or none.
//!
//! Every 10 ms the share of its rate that is admitted goes a step of an eighth up, or down while the
//! queue is deeper than the flow is worth: `Q > K p / (r (1 - d i))`, with the rate `r` of the source,
//! the share `d` that it can do without and its inertia `i`. Steps below all of it are penalties; when
//! they exceed `d i T` within an interval `T`, the flow is turned off, and tries again six seconds
//! later, sooner the higher its priority. A flow that has been well served gains inertia and is not
//! turned off lightly. Model: IRON's `strap_utility.cc`.
//!
//! Choice: at a step below the highest, packets are admitted at that share of the source's rate.

use super::Source;
use crate::spec::ServiceSpec;
use crate::units::{Span, Time};

const STEPS: u8 = 8;
const STEP: Span = Span::from_millis(10);
/// Intervals without a deadline, what chance adds to them, and after how long it tries again; each
/// scaled by priority.
const INTERVAL: f64 = 0.2;
const SPREAD: f64 = 0.02;
const RESTART: f64 = 6.0;
/// Intervals with a deadline: so many of it.
const DEADLINES: u64 = 6;
const INERTIA: f64 = 0.05;
/// A rate that is nobody's limit.
const UNLIMITED: f64 = 1e12;

/// The admission of an inelastic flow.
#[derive(Clone, Copy, Debug)]
pub struct Strap {
    worth: f64,
    tolerance: f64,
    interval: Span,
    restart: Span,
    step: u8,
    inertia: f64,
    penalty: f64,
    interval_end: Time,
    step_at: Time,
    deepest: (f64, Time),
    off_since: Option<Time>,
    /// Rate of the source.
    nominal: f64,
}

impl Strap {
    /// That of a service.
    pub fn new(service: &ServiceSpec, k: f64, chance: f64) -> Self {
        let p = service.priority;
        let scale = (2.0 * p + 10.0) / (p + 10.0);
        let interval = match service.deadline {
            Some(deadline) => deadline * DEADLINES,
            None => Span::from_secs_f64((INTERVAL + SPREAD * chance) * scale),
        };
        Strap {
            worth: k * p,
            tolerance: service.loss_tolerance.fraction(),
            interval,
            restart: Span::from_secs_f64(RESTART / scale),
            step: 0,
            inertia: INERTIA,
            penalty: 0.0,
            interval_end: Time::ZERO,
            step_at: Time::ZERO,
            deepest: (0.0, Time::ZERO),
            off_since: None,
            nominal: 1.0,
        }
    }

    /// Whether the flow is turned off.
    pub fn is_off(&self) -> bool {
        self.off_since.is_some()
    }

    /// When it looks again.
    pub fn look_at(&self) -> Time {
        self.step_at
    }

    /// The rate in bit/s.
    pub fn rate(&self) -> f64 {
        match self.step {
            _ if self.is_off() => 0.0,
            STEPS => UNLIMITED,
            step => f64::from(step) / f64::from(STEPS) * self.nominal,
        }
    }

    /// Looks at the queue, in bits, and at the source.
    pub fn look(&mut self, now: Time, depth: f64, source: &Source) {
        if now < self.step_at {
            return;
        }
        self.step_at = now + STEP;
        // Until its rate is known, no queue is too deep for it.
        self.nominal = source.rate().unwrap_or(1.0).max(1.0);
        if let Some(since) = self.off_since {
            if now.since(since) >= self.restart {
                (self.off_since, self.step, self.penalty) = (None, 1, 0.0);
                self.interval_end = now + self.interval;
            }
            return;
        }
        let bearable = self.tolerance * self.inertia;
        if depth > self.deepest.0 {
            self.deepest = (depth, now);
        }
        if depth > self.worth / (self.nominal * (1.0 - bearable)) {
            self.step = self.step.saturating_sub(1);
            let missing = 1.0 - f64::from(self.step) / f64::from(STEPS);
            self.penalty += missing * STEP.as_secs_f64();
        } else {
            self.step = (self.step + 1).min(STEPS);
        }
        if self.penalty > bearable * self.interval.as_secs_f64() {
            self.off_since = Some(now);
        } else if now > self.interval_end {
            self.penalty = 0.0;
            self.interval_end = now + self.interval;
            if now.since(self.deepest.1) > self.interval {
                self.inertia = (self.inertia + INERTIA).min(1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// 1 Mbit/s at priority 2: worth a queue of 2e6 bits.
    fn flow() -> (Strap, Source) {
        let service = ServiceSpec { priority: 2.0, ..ServiceSpec::default() };
        let mut source = Source::default();
        (0..1_000).for_each(|ms| source.on_arrival(at(ms), 1_000.0));
        (Strap::new(&service, 1e12, 0.0), source)
    }

    #[test]
    fn it_gets_all_or_nothing_and_tries_again() {
        let (mut strap, source) = flow();
        (0..100).for_each(|step| strap.look(at(10 * step), 1e6, &source));
        assert_eq!(strap.rate(), UNLIMITED);
        let mut step = 100;
        while !strap.is_off() && step < 200 {
            strap.look(at(10 * step), 3e6, &source);
            step += 1;
        }
        assert!(strap.is_off() && strap.rate() == 0.0, "the queue was too deep for it");
        let off = step;
        while strap.is_off() {
            strap.look(at(10 * step), 1e6, &source);
            step += 1;
        }
        let seconds = (step - off) as f64 / 100.0;
        assert!((seconds - 6.0 / (14.0 / 12.0)).abs() < 0.05, "{seconds} s");
    }

    #[test]
    fn inertia_bears_a_deeper_queue() {
        let (mut strap, source) = flow();
        let deep = 2.2e6;
        let mut fresh = strap;
        (0..100).for_each(|step| fresh.look(at(10 * step), deep, &source));
        assert!(fresh.is_off());
        (0..1_000).for_each(|step| strap.look(at(10 * step), 1e6, &source));
        (1_000..1_100).for_each(|step| strap.look(at(10 * step), deep, &source));
        assert!(!strap.is_off());
    }
}
