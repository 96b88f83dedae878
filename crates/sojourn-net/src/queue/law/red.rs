//! RED's control law (Floyd and Jacobson 1993; Linux `include/net/red.h`).

use crate::units::Span;

/// A probability of 1 in Linux's fixed point.
const WHOLE: f64 = 4_294_967_296.0;

/// Parameters of the law. Lengths are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct RedConfig {
    /// Average below which nothing is signalled.
    pub min: f64,
    /// Average at which the probability is `max_p`.
    pub max: f64,
    /// Probability of a signal at `max`; the starting point if adaptive.
    pub max_p: f64,
    /// The average's weight is 2^-`weight_log`.
    pub weight_log: u32,
    /// Above `max`, let the probability rise to 1 at twice `max` instead of jumping there.
    pub gentle: bool,
    /// Time to send a packet of average size: the averaging goes on at this pace while idle.
    pub packet_time: Span,
}

/// Decision on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedAction {
    /// Accept it.
    Pass,
    /// Mark or drop it: the random signal.
    Early,
    /// The average is beyond the range of probabilities.
    Forced,
}

/// State of one RED queue.
#[derive(Clone, Copy, Debug)]
pub struct Red {
    /// The average queue length, scaled by 2^`weight_log`.
    average: u64,
    /// Packets since the last signal; `None` before the first in range.
    count: Option<u64>,
    /// Value that `count` times the bytes above `min` has to reach, drawn uniformly (Linux `qR`).
    threshold: f64,
    max_p: f64,
}

impl Red {
    /// State of an empty queue.
    pub fn new(config: &RedConfig) -> Self {
        Red { average: 0, count: None, threshold: 0.0, max_p: config.max_p }
    }

    /// The average queue length in bytes.
    pub fn average(&self, config: &RedConfig) -> f64 {
        self.average as f64 / (1u64 << config.weight_log) as f64
    }

    /// Probability of a signal at `max`, as adapted.
    pub fn max_p(&self) -> f64 {
        self.max_p
    }

    /// Updates the average with the present length of a queue that is not idle.
    #[inline]
    pub fn sample(&mut self, config: &RedConfig, backlog: u64) {
        self.average = self.average + backlog - (self.average >> config.weight_log);
    }

    /// Lets the average decay as if empty-queue samples had been taken while `idle`.
    pub fn sample_after_idle(&mut self, config: &RedConfig, idle: Span) {
        let packets = idle.as_nanos() / config.packet_time.as_nanos().max(1);
        let keep = 1.0 - 1.0 / (1u64 << config.weight_log) as f64;
        self.average = (self.average as f64 * power(keep, packets)) as u64;
    }

    /// Probability of a signal for a packet, before the spacing of signals.
    pub fn probability(&self, config: &RedConfig) -> f64 {
        let average = self.average(config);
        if average < config.min {
            0.0
        } else if average < config.max {
            self.max_p * (average - config.min) / (config.max - config.min)
        } else if config.gentle && average < 2.0 * config.max {
            self.max_p + (1.0 - self.max_p) * (average - config.max) / config.max
        } else {
            1.0
        }
    }

    /// Decides on an arriving packet after the average was updated; `random` draws uniformly from
    /// [0, 1).
    #[inline]
    pub fn decide(&mut self, config: &RedConfig, random: impl FnOnce() -> f64) -> RedAction {
        let probability = self.probability(config);
        if probability == 0.0 {
            self.count = None;
            return RedAction::Pass;
        }
        if probability >= 1.0 {
            self.count = None;
            return RedAction::Forced;
        }
        let slope = self.slope(config);
        let draw = || (random() * WHOLE / slope).floor();
        let average = self.average(config);
        let above = if average < config.max {
            average.floor() - config.min
        } else {
            probability * WHOLE / slope
        };
        let Some(count) = &mut self.count else {
            self.count = Some(0);
            self.threshold = draw();
            return RedAction::Pass;
        };
        *count += 1;
        if (*count as f64) * above < self.threshold {
            return RedAction::Pass;
        }
        *count = 0;
        self.threshold = draw();
        RedAction::Early
    }

    /// Probability per byte above `min`, in whole fractions of 2^32 as in Linux.
    fn slope(&self, config: &RedConfig) -> f64 {
        (self.max_p * WHOLE / (config.max - config.min)).floor().max(1.0)
    }

    /// Adaptive RED (Floyd, Gummadi, Shenker 2001), every half second: moves `max_p` so that the
    /// average, now `average` bytes, stays in the middle fifth between `min` and `max`.
    pub fn adapt_to(&mut self, config: &RedConfig, average: f64) {
        let fifth = (config.max - config.min) / 5.0;
        if average > config.min + 3.0 * fifth && self.max_p <= 0.5 {
            self.max_p += (self.max_p / 4.0).min(0.01);
        } else if average < config.min + 2.0 * fifth && self.max_p >= 0.01 {
            self.max_p *= 0.9;
        }
    }
}

/// `base` to the `exponent` by repeated squaring: the same bits on every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 && result > 0.0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

/// The weight of the average that lets a burst of `burst` packets pass (`tc red`): the largest
/// 2^-n with burst + 1 - min/packet <= (1 - (1 - W)^burst) / W. `None` if there is none.
pub fn weight_log_for_burst(min: u64, burst: u64, average_packet: u64) -> Option<u32> {
    let wanted = burst as f64 + 1.0 - min as f64 / average_packet as f64;
    if wanted < 1.0 {
        return None;
    }
    (1..32).find(|log| {
        let weight = 1.0 / (1u64 << log) as f64;
        wanted <= (1.0 - power(1.0 - weight, burst)) / weight
    })
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    const CONFIG: RedConfig = RedConfig {
        min: 30_000.0,
        max: 90_000.0,
        max_p: 0.02,
        weight_log: 9,
        gentle: false,
        packet_time: Span::from_micros(800),
    };

    fn at_average(bytes: f64, config: &RedConfig) -> Red {
        let mut law = Red::new(config);
        law.average = (bytes * (1u64 << config.weight_log) as f64) as u64;
        law
    }

    #[test]
    fn average_is_the_exponential_filter() {
        let mut law = Red::new(&CONFIG);
        let mut expected = 0.0;
        for n in 0..5_000u64 {
            let backlog = 40_000 + 20_000 * (n % 7);
            law.sample(&CONFIG, backlog);
            expected += (backlog as f64 - expected) / 512.0;
            assert!((law.average(&CONFIG) - expected).abs() < 2.0, "{n}");
        }
    }

    #[test]
    fn idle_time_counts_as_empty_samples() {
        let mut by_time = at_average(60_000.0, &CONFIG);
        let mut by_samples = by_time;
        by_time.sample_after_idle(&CONFIG, Span::from_millis(400));
        (0..500).for_each(|_| by_samples.sample(&CONFIG, 0));
        let (a, b) = (by_time.average(&CONFIG), by_samples.average(&CONFIG));
        assert!((a / b - 1.0).abs() < 1e-3, "{a} {b}");
    }

    #[test]
    fn marking_curve_is_linear_and_signals_are_spaced_uniformly() {
        let mut random = crate::rng::StreamKey::root(1).stream();
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        for average in [30_600.0, 45_000.0, 60_000.0, 89_999.0] {
            let mut law = at_average(average, &CONFIG);
            let p = 0.02 * (average - 30_000.0) / 60_000.0;
            assert!((law.probability(&CONFIG) - p).abs() < 1e-6);
            let packets = 4_000_000;
            let (mut signals, mut gap, mut longest) = (0u64, 0u64, 0u64);
            for _ in 0..packets {
                gap += 1;
                if law.decide(&CONFIG, &mut uniform) == RedAction::Early {
                    signals += 1;
                    longest = longest.max(gap);
                    gap = 0;
                }
            }
            // Gaps are uniform on 1..=1/p, so their mean is half of 1/p: signals at twice p.
            let rate = signals as f64 / packets as f64;
            assert!((rate / (2.0 * p) - 1.0).abs() < 0.05, "{average}: {rate}");
            assert!(longest as f64 <= 1.0 / p + 2.0, "{longest}");
        }
    }

    #[test]
    fn gentle_rises_to_certainty_at_twice_max() {
        let gentle = RedConfig { gentle: true, ..CONFIG };
        let p = |average, config: &RedConfig| at_average(average, config).probability(config);
        assert_eq!(p(29_999.0, &CONFIG), 0.0);
        assert_eq!(p(90_000.0, &CONFIG), 1.0);
        assert!((p(90_000.0, &gentle) - 0.02).abs() < 1e-9);
        assert!((p(135_000.0, &gentle) - 0.51).abs() < 1e-6);
        assert_eq!(p(180_000.0, &gentle), 1.0);
        assert_eq!(at_average(90_000.0, &CONFIG).decide(&CONFIG, || 0.0), RedAction::Forced);
    }

    #[test]
    fn adaptation_stays_in_bounds_and_in_the_right_direction() {
        let mut law = Red::new(&CONFIG);
        law.adapt_to(&CONFIG, 80_000.0);
        assert!((law.max_p() - 0.025).abs() < 1e-12);
        (0..1000).for_each(|_| law.adapt_to(&CONFIG, 80_000.0));
        assert!((0.5..0.52).contains(&law.max_p()), "{}", law.max_p());
        (0..1000).for_each(|_| law.adapt_to(&CONFIG, 0.0));
        assert!((0.009..0.01).contains(&law.max_p()), "{}", law.max_p());
    }

    #[test]
    fn weights_are_those_of_the_kernel_table() {
        // include/net/red.h lists the bursts that each weight allows if min is 32 packets.
        let table = [33, 35, 39, 46, 57, 75, 101, 135, 190];
        for (log, burst) in (1..).zip(table) {
            assert_eq!(weight_log_for_burst(32_000, burst - 1, 1000), Some(log));
            assert!(weight_log_for_burst(32_000, burst + 3, 1000) > Some(log));
        }
        assert_eq!(weight_log_for_burst(30_000, 10, 1000), None);
    }
}
