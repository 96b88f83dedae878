//! PIE's control law (RFC 8033), as two Linux versions compute it.
//!
//! Integer arithmetic as in Linux `include/net/pie.h` and `net/sched/sch_pie.c`, so that its
//! rounding (which matters: the drain rate of linux-4 at 1 Mbit/s is the number 2) is kept. Time is
//! in ticks of 64 ns. [`Era`] lists the differences of the versions.

use crate::units::{Span, Time};

/// Scheduler ticks per second: Linux counts time in units of 64 ns.
const TICKS_PER_SECOND: u64 = 15_625_000;
/// Fixed point of the drain rate.
const RATE_SHIFT: u32 = 8;

fn ticks(nanos: u64) -> u64 {
    nanos >> 6
}

/// Differences between versions of Linux's PIE.
#[derive(Clone, Copy, Debug)]
pub struct Era {
    /// The number that represents probability 1; one less than a power of two.
    max_prob: u64,
    /// Bits in which the probability and its change wrap round.
    bits: u32,
    /// Below one over the first number, gains are shifted right by the second; last match wins.
    scaling: &'static [(u64, u32)],
    /// Share of the probability kept while the queue stays empty, as a fraction: (98, 100); or
    /// `None` for 63/64, computed by subtraction.
    idle_share: Option<(u64, u64)>,
    /// Bytes after which the drain rate is measured.
    rate_threshold: u64,
    /// Whether drops are spread out (RFC 8033, section 5.3).
    derandomise: bool,
}

/// Linux since 5.1: 64-bit arithmetic, RFC 8033's table of gains, drops spread out. The
/// probability may exceed 1, up to 256, under a load that does not give way.
pub const LINUX_6: Era = Era {
    max_prob: u64::MAX >> 8,
    bits: 64,
    scaling: &[(10, 1), (100, 3), (1_000, 5), (10_000, 7), (100_000, 9), (1_000_000, 11)],
    idle_share: None,
    rate_threshold: 16_384,
    derandomise: true,
};

/// Linux 3.14 to 4.20: 32-bit arithmetic with two steps of gain. The decay of an idle queue
/// multiplies by 98 before it divides by 100, which wraps round above a probability of 1 %.
pub const LINUX_4: Era = Era {
    max_prob: u32::MAX as u64,
    bits: 32,
    scaling: &[(10, 1), (100, 3)],
    idle_share: Some((98, 100)),
    rate_threshold: 10_000,
    derandomise: false,
};

/// Parameters of the law.
#[derive(Clone, Copy, Debug)]
pub struct PieConfig {
    /// Arithmetic and constants.
    pub era: Era,
    /// Reference queueing delay.
    pub target: Span,
    /// Queueing time after an idle phase during which nothing is dropped.
    pub burst: Span,
    /// Integral gain in sixteenths of 1/s.
    pub alpha: u64,
    /// Proportional gain in sixteenths of 1/s.
    pub beta: u64,
    /// Estimate the delay as backlog over drain rate instead of taking packets' sojourn times.
    pub rate_estimator: bool,
    /// Bytes of a full packet.
    pub mtu: u64,
}

/// State of one PIE queue.
#[derive(Clone, Copy, Debug)]
pub struct Pie {
    prob: u64,
    accumulated: u64,
    delay: u64,
    old_delay: u64,
    burst_left: u64,
    /// Time of the last dequeue, or the start of a measurement of the drain rate.
    mark: Option<u64>,
    /// Bytes dequeued in the present measurement of the drain rate.
    measured: Option<u64>,
    drain_rate: u64,
}

impl Pie {
    /// State of an empty queue.
    pub fn new(config: &PieConfig) -> Self {
        Pie {
            prob: 0,
            accumulated: 0,
            delay: 0,
            old_delay: 0,
            burst_left: ticks(config.burst.as_nanos()),
            mark: None,
            measured: None,
            drain_rate: 0,
        }
    }

    /// The drop probability.
    pub fn probability(&self, config: &PieConfig) -> f64 {
        self.prob as f64 / config.era.max_prob as f64
    }

    /// Queueing delay as last measured.
    pub fn delay(&self) -> Span {
        Span::from_nanos(self.delay << 6)
    }

    /// Remaining time without drops.
    pub fn burst_allowance(&self) -> Span {
        Span::from_nanos(self.burst_left << 6)
    }

    /// Whether an update would change nothing: no probability, no delay, a full burst allowance.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.prob == 0 && self.delay == 0 && self.old_delay == 0 && self.mark.is_none()
    }

    /// Whether to signal on a packet that arrives while `backlog` bytes wait; `random` is drawn
    /// uniformly from all 64-bit numbers.
    #[inline]
    pub fn drops_early(
        &mut self,
        config: &PieConfig,
        backlog: u64,
        random: impl FnOnce() -> u64,
    ) -> bool {
        let max = config.era.max_prob;
        let calm = self.delay < ticks(config.target.as_nanos()) / 2 && self.prob < max / 5;
        if self.burst_left > 0 || calm || backlog < 2 * config.mtu {
            return false;
        }
        let prob = self.prob;
        let chance = || random() >> max.leading_zeros() < prob;
        if !config.era.derandomise {
            return chance();
        }
        self.accumulated = if prob == 0 { 0 } else { self.accumulated.wrapping_add(prob) };
        if self.accumulated < max / 100 * 85 {
            return false;
        }
        if self.accumulated >= max / 2 * 17 {
            return true;
        }
        let hit = chance();
        if hit {
            self.accumulated = 0;
        }
        hit
    }

    /// A packet was dropped on arrival, for any reason.
    #[inline]
    pub fn on_drop(&mut self) {
        self.accumulated = 0;
    }

    /// A packet of `bytes` leaves; `backlog` bytes stay.
    #[inline]
    pub fn on_dequeue(
        &mut self,
        config: &PieConfig,
        now: Time,
        enqueued_at: Time,
        bytes: u64,
        backlog: u64,
    ) {
        let now = ticks(now.as_nanos());
        let elapsed = if config.rate_estimator {
            self.measure_rate(config, now, bytes, backlog)
        } else {
            let sojourn = now - ticks(enqueued_at.as_nanos());
            self.delay = if backlog == 0 { 0 } else { sojourn };
            now - self.mark.replace(now).unwrap_or(now)
        };
        self.burst_left = self.burst_left.saturating_sub(elapsed);
    }

    /// Measures the drain rate over stretches of `rate_threshold` bytes while at least as many
    /// wait; returns the length of a stretch that has just ended.
    fn measure_rate(&mut self, config: &PieConfig, now: u64, bytes: u64, backlog: u64) -> u64 {
        let threshold = config.era.rate_threshold;
        if backlog >= threshold && self.measured.is_none() {
            self.mark = Some(now);
            self.measured = Some(0);
        }
        let Some(measured) = &mut self.measured else { return 0 };
        *measured += bytes;
        let elapsed = now - self.mark.unwrap_or(now);
        if *measured < threshold || elapsed == 0 {
            return 0;
        }
        let rate = (*measured << RATE_SHIFT) / elapsed;
        self.drain_rate = match self.drain_rate {
            0 => rate,
            old => old - (old >> 3) + (rate >> 3),
        };
        if backlog < threshold {
            self.measured = None;
        } else {
            self.measured = Some(0);
            self.mark = Some(now);
        }
        elapsed
    }

    /// The periodic update of the probability while `backlog` bytes wait.
    pub fn update(&mut self, config: &PieConfig, backlog: u64) {
        let (delay, old_delay) = if config.rate_estimator {
            self.old_delay = self.delay;
            let estimate = (backlog << RATE_SHIFT).checked_div(self.drain_rate).unwrap_or(0);
            (estimate, self.delay)
        } else {
            (self.delay, self.old_delay)
        };
        let saturated = self.add_to_probability(config, self.change(config, delay, old_delay));
        if delay == 0 && old_delay == 0 && backlog == 0 && !saturated {
            self.decay(config);
        }
        self.delay = delay;
        let half = ticks(config.target.as_nanos()) / 2;
        let rate_known = !config.rate_estimator || self.drain_rate > 0;
        if self.prob == 0 && self.delay < half && self.old_delay < half && rate_known {
            *self = Pie { delay: self.delay, old_delay: self.old_delay, ..Pie::new(config) };
        }
        if !config.rate_estimator {
            self.old_delay = delay;
        }
    }

    /// alpha (delay - target) + beta (delay - old delay), with gains by probability and steps
    /// limited as RFC 8033 says.
    fn change(&self, config: &PieConfig, delay: u64, old_delay: u64) -> i64 {
        let Era { max_prob: max, scaling, bits, .. } = config.era;
        let shift = scaling.iter().rfind(|(part, _)| self.prob < max / part).map_or(0, |s| s.1);
        let gain = |sixteenths: u64| (sixteenths * (max / TICKS_PER_SECOND)) >> (4 + shift);
        let error = delay.wrapping_sub(ticks(config.target.as_nanos()));
        let growth = delay.wrapping_sub(old_delay);
        let sum = gain(config.alpha)
            .wrapping_mul(error)
            .wrapping_add(gain(config.beta).wrapping_mul(growth)) as i64;
        // Sign-extends the lower `bits` of the sum.
        let mut delta = (sum << (64 - bits)) >> (64 - bits);
        if delta > (max / 50) as i64 && self.prob >= max / 10 {
            delta = (max / 100 * 2) as i64;
        }
        if delay > ticks(Span::from_millis(250).as_nanos()) {
            delta += (max / 50) as i64;
        }
        delta
    }

    /// Returns whether the probability was cut off at its maximum.
    fn add_to_probability(&mut self, config: &PieConfig, delta: i64) -> bool {
        let old = self.prob;
        self.prob = old.wrapping_add_signed(delta) & (u64::MAX >> (64 - config.era.bits));
        if delta > 0 && self.prob < old {
            self.prob = config.era.max_prob;
            return true;
        }
        if delta <= 0 && self.prob > old {
            self.prob = 0;
        }
        false
    }

    fn decay(&mut self, config: &PieConfig) {
        self.prob = match config.era.idle_share {
            None => self.prob - self.prob / 64,
            Some((keep, of)) => {
                (self.prob.wrapping_mul(keep) & (u64::MAX >> (64 - config.era.bits))) / of
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(era: Era, target_ms: u64) -> PieConfig {
        PieConfig {
            era,
            target: Span::from_millis(target_ms),
            burst: Span::from_millis(150),
            alpha: 2,
            beta: 20,
            rate_estimator: false,
            mtu: 1514,
        }
    }

    /// RFC 8033, section 4.2, in real numbers. Rows of the table: below which probability, alpha,
    /// beta.
    fn rfc_step(p: f64, delay: f64, old: f64, target: f64, table: &[(f64, f64, f64)]) -> f64 {
        let (_, alpha, beta) =
            *table.iter().find(|row| p < row.0).expect("the last row has no bound");
        let mut change = alpha * (delay - target) + beta * (delay - old);
        if p >= 0.1 && change > 0.02 {
            change = 0.02;
        }
        if delay > 0.25 {
            change += 0.02;
        }
        let p = (p + change).max(0.0);
        if delay == 0.0 && old == 0.0 { p * (1.0 - 1.0 / 64.0) } else { p }
    }

    /// The divisors of RFC 8033, section 4.2, on 0.125 and 1.25.
    fn rfc_table() -> Vec<(f64, f64, f64)> {
        let divisors = [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 1.0];
        let below = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, f64::INFINITY];
        below.into_iter().zip(divisors).map(|(p, d)| (p, 0.125 / d, 1.25 / d)).collect()
    }

    /// A delay that rises, oscillates, jumps and vanishes.
    fn delay_ms(step: u64) -> f64 {
        match step {
            0..300 => 15.0 + 20.0 * (step as f64 / 300.0),
            300..600 => 20.0 + 10.0 * (step as f64 / 20.0).sin(),
            600..620 => 300.0,
            620..800 => 10.0,
            _ => 0.0,
        }
    }

    fn feed(law: &mut Pie, config: &PieConfig, now: Time, delay_ms: f64) -> u64 {
        let sojourn = Span::from_secs_f64(delay_ms / 1e3);
        let backlog = if delay_ms == 0.0 { 0 } else { 50_000 };
        law.on_dequeue(config, now, now - sojourn, 1514, backlog);
        law.update(config, backlog);
        backlog
    }

    #[test]
    fn probability_follows_the_recursion_of_rfc_8033() {
        let config = config(LINUX_6, 15);
        let mut law = Pie::new(&config);
        let (mut p, mut old) = (0.0, 0.0);
        let mut now = Time::from_nanos(1_000_000_000);
        for step in 0..1200 {
            let delay = delay_ms(step);
            feed(&mut law, &config, now, delay);
            p = rfc_step(p, delay / 1e3, old, 0.015, &rfc_table());
            old = delay / 1e3;
            let measured = law.probability(&config);
            assert!((measured - p).abs() <= 2e-3 * p + 2e-7, "step {step}: {measured} not {p}");
            now += Span::from_millis(15);
        }
        assert_eq!(p, 0.0, "decayed in the end");
    }

    #[test]
    fn gains_shrink_by_the_table_of_rfc_8033() {
        let config = config(LINUX_6, 15);
        let max = config.era.max_prob as f64;
        for (below, alpha, beta) in rfc_table() {
            let law = Pie { prob: (below.min(1.0) * 0.99 * max) as u64, ..Pie::new(&config) };
            let of = |nanos: u64, old: u64| law.change(&config, ticks(nanos), ticks(old)) as f64;
            let rise = of(25_000_000, 25_000_000) / max;
            assert!((rise / (alpha * 0.010) - 1.0).abs() < 1e-4, "alpha below {below}: {rise}");
            let fall = of(15_000_000, 20_000_000) / max;
            assert!((fall / (beta * -0.005) - 1.0).abs() < 1e-4, "beta below {below}: {fall}");
        }
    }

    #[test]
    fn from_a_tenth_on_the_probability_rises_by_a_fiftieth_at_most() {
        let config = config(LINUX_6, 15);
        let max = config.era.max_prob as f64;
        let rise = |p: f64| {
            let law = Pie { prob: (p * max) as u64, ..Pie::new(&config) };
            law.change(&config, ticks(200_000_000), ticks(20_000_000)) as f64 / max
        };
        // 0.125 x 0.185 + 1.25 x 0.18, half of it below a tenth.
        assert!((rise(0.099) - 0.124).abs() < 1e-3, "{}", rise(0.099));
        for p in [0.101, 0.19, 0.6] {
            assert!((rise(p) - 0.02).abs() < 1e-9, "{}", rise(p));
        }
    }

    #[test]
    fn linux_4_has_two_steps_of_gain() {
        // Gains are small integers, 274 = 2^32 / 15625000 times alpha and beta over 128, 32 and
        // 16: below 1 % alpha is 4, not 4.28.
        let unit = 15_625_000.0 / u32::MAX as f64;
        let row = |p: f64, alpha: f64, beta: f64| (p, alpha * unit, beta * unit);
        let table = [row(1e-2, 4.0, 42.0), row(1e-1, 17.0, 171.0), row(f64::INFINITY, 34.0, 342.0)];
        let config = config(LINUX_4, 20);
        let mut law = Pie::new(&config);
        let (mut p, mut old) = (0.0, 0.0);
        let mut now = Time::from_nanos(1_000_000_000);
        for step in 0..600 {
            let delay = 5.0 + delay_ms(step);
            feed(&mut law, &config, now, delay);
            p = rfc_step(p, delay / 1e3, old, 0.020, &table);
            old = delay / 1e3;
            let measured = law.probability(&config);
            assert!((measured - p).abs() <= 2e-3 * p + 1e-7, "step {step}: {measured} not {p}");
            now += Span::from_millis(30);
        }
        assert!(p > 0.05, "{p}");
    }

    #[test]
    fn linux_4_decay_wraps_round() {
        let config = config(LINUX_4, 20);
        let mut law = Pie::new(&config);
        law.prob = u32::MAX as u64 / 2;
        law.decay(&config);
        assert_eq!(law.prob, u64::from((u32::MAX / 2).wrapping_mul(98) / 100));
        law.prob = 1_000_000;
        law.decay(&config);
        assert_eq!(law.prob, 980_000);
    }

    #[test]
    fn drain_rate_is_measured_while_enough_waits() {
        let config = PieConfig { rate_estimator: true, ..config(LINUX_4, 20) };
        let mut law = Pie::new(&config);
        let mut now = Time::from_nanos(1_000_000_000);
        // 10 Mbit/s: a packet of 1514 bytes every 1211.2 us.
        for _ in 0..100 {
            law.on_dequeue(&config, now, now, 1514, 30_000);
            now += Span::from_nanos(1_211_200);
        }
        // 1.25 MB/s is 20.48 bytes/256 per tick, kept as an integer; seven stretches include one
        // more packet than intervals: the kernel starts counting with the packet that leaves.
        assert!((20..=24).contains(&law.drain_rate), "{}", law.drain_rate);
        law.update(&config, 30_000);
        let expected = 30_000.0 * 256.0 / law.drain_rate as f64 * 64e-6;
        assert!((law.delay().as_millis_f64() - expected).abs() < 1e-3);
    }

    #[test]
    fn spares_bursts_calm_queues_and_small_ones() {
        let config = config(LINUX_6, 15);
        let mut law = Pie::new(&config);
        law.prob = config.era.max_prob;
        law.delay = ticks(100_000_000);
        assert!(!law.drops_early(&config, 100_000, || 0), "burst allowance");
        law.burst_left = 0;
        assert!(!law.drops_early(&config, 2 * 1514 - 1, || 0), "small");
        assert!(law.drops_early(&config, 100_000, || 0));
        law.delay = ticks(7_000_000);
        law.prob = config.era.max_prob / 6;
        assert!(!law.drops_early(&config, 100_000, || 0), "calm");
    }

    #[test]
    fn derandomised_drops_are_spread_out() {
        use rand::Rng;
        let config = config(LINUX_6, 15);
        let mut law = Pie::new(&config);
        law.burst_left = 0;
        law.delay = ticks(15_000_000);
        law.prob = config.era.max_prob / 50;
        let mut random = crate::rng::StreamKey::root(3).stream();
        let (mut gap, mut gaps) = (0u32, Vec::new());
        for _ in 0..1_000_000 {
            gap += 1;
            if law.drops_early(&config, 100_000, || random.next_u64()) {
                law.on_drop();
                gaps.push(f64::from(gap));
                gap = 0;
            }
        }
        let (least, most) = gaps.iter().fold((f64::MAX, 0f64), |(a, b), g| (a.min(*g), b.max(*g)));
        // No drop before the probabilities add up to 0.85, a certain one at 8.5; so the mean gap
        // is about 0.85 / p + 1 / p packets.
        assert_eq!(least, 43.0);
        assert!(most <= 426.0, "{most}");
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean - 92.0).abs() < 2.0, "{mean}");
    }
}
