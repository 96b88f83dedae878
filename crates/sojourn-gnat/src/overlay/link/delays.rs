//! Delay of packets to a neighbour: mean and variance.
//!
//! Each packet that is acknowledged is a sample: from its entry into the transmit queue until its
//! arrival, by whichever transmission. The program includes the delay of the ACK, up to 40 ms where
//! packets are few: a link without traffic then seems to take four times its 10 ms,
//! latency-sensitive packets that it could serve are not sent, and no sample corrects the estimate.
//! It is left out here because with it the flow of section 4.18 that the report saw served got
//! nothing. Mean and variance are smoothed slowly, those
//! of latency-sensitive packets separately from those of all others except advertisements, which
//! count while there are none of the former. They are reported when the mean has changed, and used
//! once they are advertised: a node with newer values than its neighbours would send packets back
//! and forth. Model: `ProcessRttPddSamples` and `ReportCapEstPddToBpf` of IRON's `sliq_cat.cc`,
//! `ProcessPktDelDelay` and `GenerateLsa` of its `backpressure_fwder.cc`.

use crate::overlay::message::{Class, Delay};
use sojourn_base::units::{Span, Time};

/// Weight of a sample.
const GAIN: f64 = 0.003;
/// Samples that are left out at first; the program's four include the handshake's.
const LEFT_OUT: u32 = 3;
/// Time without latency-sensitive packets after which the others count.
const STALE: Span = Span::from_millis(250);
/// A change of the mean by this share is reported, but not sooner after a report than one time, and
/// any after the other.
const CHANGE: f64 = 0.1;
const SOONEST: Span = Span::from_millis(100);
const LATEST: Span = Span::from_secs(5);

/// Moves a delay toward a sample, in seconds.
fn follow(delay: &mut Delay, sample: f64) {
    let difference = sample - delay.mean;
    let step = GAIN * difference;
    delay.mean += step;
    delay.variance = (1.0 - GAIN) * (delay.variance + difference * step);
}

/// Delays to a neighbour.
#[derive(Debug, Default)]
pub(super) struct Delays {
    samples: u32,
    /// By class.
    measured: [Option<Delay>; 2],
    timed_at: Time,
    reported: Option<(Time, Delay)>,
    used: Option<Delay>,
}

impl Delays {
    /// A packet had the delay `takes`; `class` is `None` for an advertisement.
    pub(super) fn on_packet(&mut self, now: Time, class: Option<Class>, takes: Span) {
        self.samples = self.samples.saturating_add(1);
        let Some(class) = class.filter(|_| self.samples > LEFT_OUT) else { return };
        let sample = takes.as_secs_f64();
        match &mut self.measured[class as usize] {
            Some(delay) => follow(delay, sample),
            first => *first = Some(Delay { mean: sample, variance: 0.0 }),
        }
        if class == Class::Timed {
            self.timed_at = now;
        }
        self.report(now);
    }

    fn current(&self, now: Time) -> Option<Delay> {
        let [normal, timed] = self.measured;
        timed.filter(|_| now.since(self.timed_at) <= STALE).or(normal)
    }

    fn report(&mut self, now: Time) {
        let Some(delay) = self.current(now) else { return };
        let due = self.reported.is_none_or(|(at, last)| {
            let changed = (delay.mean - last.mean).abs() >= CHANGE * last.mean;
            now.since(at) > if changed { SOONEST } else { LATEST }
        });
        if due {
            self.reported = Some((now, delay));
        }
    }

    /// The delay in use, if any has been advertised.
    pub(super) fn used(&self) -> Option<Delay> {
        self.used
    }

    /// Whether a new one has been reported.
    pub(super) fn has_news(&self) -> bool {
        self.reported.map(|(_, delay)| delay) != self.used
    }

    /// The delay is advertised: the reported one is used.
    pub(super) fn adopt(&mut self) {
        self.used = self.reported.map(|(_, delay)| delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Feeds samples in milliseconds, one in each, and uses what is reported.
    fn feed(delays: &mut Delays, from: u64, class: Class, samples: impl Iterator<Item = u64>) {
        for (ms, sample) in (from..).zip(samples) {
            delays.on_packet(at(ms), Some(class), Span::from_millis(sample));
        }
        delays.adopt();
    }

    fn close(measured: f64, expected: f64) {
        assert!((measured / expected - 1.0).abs() < 1e-9, "{measured} is not {expected}");
    }

    #[test]
    fn a_step_is_followed_by_powers_of_the_gain() {
        let mut delay = Delay { mean: 0.010, variance: 0.0 };
        (0..500).for_each(|_| follow(&mut delay, 0.030));
        // The weighted mean and variance of a first value of 10 ms and 500 of 30 ms.
        let first = (1.0 - GAIN).powi(500);
        close(delay.mean, 0.030 - 0.020 * first);
        close(delay.variance, first * (1.0 - first) * 0.020_f64.powi(2));
    }

    #[test]
    fn the_variance_of_two_values_in_turn_is_theirs() {
        let mut delay = Delay { mean: 0.010, variance: 0.0 };
        (0..10_000).for_each(|i| follow(&mut delay, if i % 2 == 0 { 0.030 } else { 0.010 }));
        assert!((delay.mean - 0.020).abs() < 0.000_05, "{delay:?}");
        assert!((delay.variance.sqrt() - 0.010).abs() < 0.000_05, "{delay:?}");
    }

    #[test]
    fn the_first_samples_and_advertisements_do_not_count() {
        let mut delays = Delays::default();
        feed(&mut delays, 0, Class::Normal, [90, 90, 90].into_iter());
        delays.on_packet(at(3), None, Span::from_millis(90));
        assert_eq!((delays.used(), delays.has_news()), (None, false));
        feed(&mut delays, 4, Class::Normal, [20].into_iter());
        assert_eq!(delays.used(), Some(Delay { mean: 0.020, variance: 0.0 }));
    }

    #[test]
    fn latency_sensitive_packets_count_as_long_as_there_are_any() {
        let mut delays = Delays::default();
        feed(&mut delays, 0, Class::Normal, std::iter::repeat_n(50, 101));
        feed(&mut delays, 101, Class::Timed, std::iter::repeat_n(10, 101));
        assert_eq!(delays.used().map(|delay| delay.mean), Some(0.010));
        feed(&mut delays, 451, Class::Normal, [50].into_iter());
        assert_eq!(delays.used().map(|delay| delay.mean), Some(0.010), "within 250 ms");
        feed(&mut delays, 452, Class::Normal, [50].into_iter());
        assert_eq!(delays.used().map(|delay| delay.mean), Some(0.050));
    }

    #[test]
    fn small_changes_are_reported_late_and_large_ones_not_at_once() {
        let mut delays = Delays::default();
        feed(&mut delays, 0, Class::Normal, std::iter::repeat_n(20, 4));
        // 30 samples of 40 ms move the mean by 8.6 %, 40 by 11 %.
        feed(&mut delays, 10, Class::Normal, std::iter::repeat_n(40, 30));
        feed(&mut delays, 110, Class::Normal, [40].into_iter());
        assert_eq!(delays.used().map(|delay| delay.mean), Some(0.020), "a small change");
        delays.on_packet(at(5_004), Some(Class::Normal), Span::from_millis(40));
        assert!(delays.has_news(), "5 s later");
        delays.adopt();
        let used = delays.used();
        feed(&mut delays, 5_005, Class::Normal, std::iter::repeat_n(80, 99));
        assert_eq!(delays.used(), used, "within 100 ms");
        feed(&mut delays, 5_105, Class::Normal, [80].into_iter());
        assert_ne!(delays.used(), used, "a large change");
    }
}
