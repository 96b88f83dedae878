//! STRAP: an inelastic flow gets all of its rate, or none.
//!
//! Every 10 ms its step, of eight, goes up, or down while the queue is deeper than the flow's
//! utility justifies: `Q > K p / (r (1 - d i))`, with the rate `r` of the source, its loss
//! tolerance `d` and its inertia `i`. With a deadline it goes up, or down where the receiver misses
//! more than `d i` of the packets, once per deadline. Steps below the full rate are penalties; when
//! they exceed `d i T` within an interval `T`, the flow is triaged, and tries again six seconds
//! later, sooner the higher its priority. A flow that has been well served gains inertia, which
//! delays triage; one that tries again has none. Flows that supervisory control turns off do not
//! try on their own. Model: IRON's `strap_utility.cc` and `strap_admission_controller.cc`.
//!
//! Deviation: at any step above zero, all waiting data is admitted; the program admits the step's
//! share of it every 2 ms, which gives the same result within 16 ms.

use super::{Source, Standing};
use crate::ServiceSpec;
use sojourn_base::units::{Span, Time};

const STEPS: u8 = 8;
const STEP: Span = Span::from_millis(10);
/// Intervals without a deadline, their random part, and the time until it tries again (whole
/// seconds, as the program keeps it); each scaled by priority.
const INTERVAL: f64 = 0.2;
const SPREAD: f64 = 0.02;
const RESTART: f64 = 6.0;
/// Intervals with a deadline, in multiples of the deadline.
const DEADLINES: u64 = 6;
const INERTIA: f64 = 0.05;
/// Going up this soon after the start is no sign of thrashing.
const STARTUP: Span = Span::from_millis(20);
/// A rate that limits no flow.
const UNLIMITED: f64 = 1e12;

/// The admission of an inelastic flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strap {
    k: f64,
    priority: f64,
    tolerance: f64,
    deadline: Option<Span>,
    interval: Span,
    restart: Span,
    state: Standing,
    since: Time,
    step: u8,
    stepped_at: Time,
    inertia: f64,
    penalty: f64,
    interval_end: Time,
    look_at: Time,
    deepest: (f64, Time),
    /// Rate of the source, and the share of its packets that the receiver misses.
    nominal: f64,
    missing: f64,
    toggles: u32,
}

impl Strap {
    /// The admission control of a service.
    pub(crate) fn new(service: &ServiceSpec, k: f64, chance: f64) -> Self {
        let p = service.priority;
        let scale = (2.0 * p + 10.0) / (p + 10.0);
        let interval = match service.deadline {
            Some(deadline) => deadline * DEADLINES,
            None => Span::from_secs_f64((INTERVAL + SPREAD * chance) * scale),
        };
        Strap {
            k,
            priority: p,
            tolerance: service.loss_tolerance.fraction(),
            deadline: service.deadline,
            interval,
            restart: Span::from_secs_f64((RESTART / scale).floor()),
            state: Standing::On,
            since: Time::ZERO,
            step: 1,
            stepped_at: Time::ZERO,
            inertia: INERTIA,
            penalty: 0.0,
            interval_end: Time::ZERO,
            look_at: Time::ZERO,
            deepest: (0.0, Time::ZERO),
            nominal: 1.0,
            missing: 0.0,
            toggles: 0,
        }
    }

    /// Whether it is admitted.
    pub(crate) fn standing(&self) -> Standing {
        self.state
    }

    /// Number of times that it was admitted or suspended.
    pub(crate) fn toggles(&self) -> u32 {
        self.toggles
    }

    /// Time of the next check.
    pub(crate) fn look_at(&self) -> Time {
        self.look_at
    }

    /// Sets the priority.
    pub(crate) fn set_priority(&mut self, priority: f64) {
        self.priority = priority;
    }

    /// The receiver misses this share of the packets.
    pub(crate) fn on_report(&mut self, missing: f64) {
        self.missing = missing;
    }

    /// Supervisory control turns the flow on or off.
    pub(crate) fn turn(&mut self, now: Time, on: bool) {
        match (on, self.state) {
            (true, Standing::On) => {}
            (true, _) => {
                // Restarts the measurement.
                self.deepest = (0.0, Time::ZERO);
                self.begin(now, INERTIA);
            }
            (false, _) => self.state = Standing::Off,
        }
    }

    fn begin(&mut self, now: Time, inertia: f64) {
        (self.state, self.since, self.step, self.stepped_at) = (Standing::On, now, 1, now);
        (self.penalty, self.inertia, self.missing) = (0.0, inertia, 0.0);
        self.interval_end = now + self.interval;
    }

    /// The rate in bit/s.
    pub(crate) fn rate(&self) -> f64 {
        if self.state == Standing::On && self.step > 0 { UNLIMITED } else { 0.0 }
    }

    /// Checks the queue, in bits, and the source.
    pub(crate) fn look(&mut self, now: Time, depth: f64, source: &Source) {
        if now < self.look_at {
            return;
        }
        self.look_at = now + STEP;
        // Until its rate is known, no queue is too deep for it.
        self.nominal = source.rate().unwrap_or(1.0).max(1.0);
        match self.state {
            Standing::On => self.go(now, depth),
            Standing::Triaged | Standing::Missed if now.since(self.since) >= self.restart => {
                self.begin(now, 0.0);
            }
            _ => {}
        }
    }

    fn go(&mut self, now: Time, depth: f64) {
        let bearable = self.tolerance * self.inertia;
        if depth > self.deepest.0 {
            self.deepest = (depth, now);
        }
        let before = self.step;
        let worth = self.k * self.priority / (self.nominal * (1.0 - bearable));
        match self.deadline {
            _ if depth > worth => self.go_down(STEP),
            None => self.step = (self.step + 1).min(STEPS),
            Some(deadline) if now.since(self.stepped_at) > deadline => {
                self.stepped_at = now;
                if self.missing > bearable {
                    self.go_down(deadline * 2);
                } else {
                    self.step = (self.step + 1).min(STEPS);
                }
            }
            Some(_) => {}
        }
        let begins = before == 0 && self.step > 0 && now.since(self.since) > STARTUP;
        let ceases = before > 0 && self.step == 0;
        self.toggles += u32::from(begins || ceases);
        if self.penalty > bearable * self.interval.as_secs_f64() {
            let missed = self.deadline.is_some() && self.missing > bearable;
            self.state = if missed { Standing::Missed } else { Standing::Triaged };
            self.since = now;
            self.toggles += 1;
        } else if now > self.interval_end {
            self.penalty = 0.0;
            self.interval_end = now + self.interval;
            if now.since(self.deepest.1) > self.interval {
                self.inertia = (self.inertia + INERTIA).min(1.0);
            }
        }
    }

    /// A step down, which counts as a penalty of `suffers`.
    fn go_down(&mut self, suffers: Span) {
        self.step = self.step.saturating_sub(1);
        let missing = 1.0 - f64::from(self.step) / f64::from(STEPS);
        self.penalty += missing * suffers.as_secs_f64();
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
        while strap.standing() == Standing::On && step < 200 {
            strap.look(at(10 * step), 3e6, &source);
            step += 1;
        }
        assert!(
            strap.standing() == Standing::Triaged && strap.rate() == 0.0,
            "the queue was too deep for it"
        );
        let off = step;
        while strap.standing() != Standing::On {
            strap.look(at(10 * step), 1e6, &source);
            step += 1;
        }
        let seconds = (step - off) as f64 / 100.0;
        assert!((seconds - 5.0).abs() < 0.05, "6 s over 14 / 12, in whole seconds: {seconds} s");
    }

    #[test]
    fn inertia_bears_a_deeper_queue() {
        let (mut strap, source) = flow();
        let deep = 2.2e6;
        let mut fresh = strap;
        (0..100).for_each(|step| fresh.look(at(10 * step), deep, &source));
        assert_eq!(fresh.standing(), Standing::Triaged);
        (0..1_000).for_each(|step| strap.look(at(10 * step), 1e6, &source));
        (1_000..1_100).for_each(|step| strap.look(at(10 * step), deep, &source));
        assert_eq!(strap.standing(), Standing::On);
    }

    #[test]
    fn what_the_receiver_misses_triages_a_flow_with_a_deadline() {
        let (_, source) = flow();
        let deadline = Some(Span::from_millis(50));
        let service = ServiceSpec { priority: 2.0, deadline, ..ServiceSpec::default() };
        let mut strap = Strap::new(&service, 1e12, 0.0);
        (0..100).for_each(|step| strap.look(at(10 * step), 1e5, &source));
        assert_eq!(strap.standing(), Standing::On);
        strap.on_report(0.3);
        (100..200).for_each(|step| strap.look(at(10 * step), 1e5, &source));
        assert_eq!(strap.standing(), Standing::Missed);
        let toggles = strap.toggles();
        strap.turn(at(2_000), false);
        (200..2_000).for_each(|step| strap.look(at(10 * step), 1e5, &source));
        assert_eq!((strap.standing(), strap.toggles()), (Standing::Off, toggles));
        strap.turn(at(20_000), true);
        assert_eq!((strap.standing(), strap.rate()), (Standing::On, UNLIMITED));
    }
}
