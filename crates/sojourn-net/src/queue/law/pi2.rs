//! PI2's control law with the coupling of DualPI2 (RFC 9332; Linux `net/sched/sch_dualpi2.c`).
//!
//! A plain PI controller holds a base probability p'. Classic packets are signalled with p'^2,
//! scalable ones with k p'. Integer arithmetic as in Linux: probabilities are 32-bit fractions,
//! gains are in units of 1/256 Hz.

use crate::units::Span;

const MAX_PROB: u64 = u32::MAX as u64;
/// Gains are stored in units of 64 ns, so that the smallest is not rounded to zero.
const GRANULARITY: u32 = 6;

/// Parameters of the law.
#[derive(Clone, Copy, Debug)]
pub struct Pi2Config {
    /// Reference queueing delay.
    pub target: Span,
    /// Integral gain, scaled; see [`scale_gain`].
    pub alpha: i64,
    /// Proportional gain, scaled.
    pub beta: i64,
    /// Coupling factor k.
    pub coupling: u64,
    /// Keep k p' at most 1.
    pub cap: bool,
}

/// A gain given in Hz as the kernel stores it: rounded to 1/256 Hz, then to 1/2^32 per 64 ns.
pub fn scale_gain(hertz: f64) -> i64 {
    let written = (hertz * 256.0).round() as u64;
    (((written * MAX_PROB) >> (8 - GRANULARITY)) / 1_000_000_000) as i64
}

/// State of a PI2 controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pi2 {
    prob: u32,
    last_delay: u64,
}

impl Pi2 {
    /// A controller whose base probability is `p`.
    pub fn with_probability(p: f64) -> Self {
        Pi2 { prob: (p * MAX_PROB as f64) as u32, last_delay: 0 }
    }

    /// The base probability p'.
    pub fn base_probability(&self) -> f64 {
        f64::from(self.prob) / MAX_PROB as f64
    }

    /// The periodic update with the present queueing delay.
    pub fn update(&mut self, config: &Pi2Config, delay: Span) {
        let delay = delay.as_nanos();
        let error = delay as i64 - config.target.as_nanos() as i64;
        let growth = delay as i64 - self.last_delay as i64;
        let sum =
            error.saturating_mul(config.alpha).saturating_add(growth.saturating_mul(config.beta));
        self.last_delay = delay;
        let change = sum.unsigned_abs() >> GRANULARITY;
        let most = if config.cap { MAX_PROB / config.coupling } else { MAX_PROB };
        self.prob = if sum > 0 {
            u64::from(self.prob).saturating_add(change).min(most) as u32
        } else {
            u64::from(self.prob).saturating_sub(change) as u32
        };
    }

    /// Whether k p' exceeds 1: marks no longer control scalable flows.
    #[inline]
    pub fn overloaded(&self, config: &Pi2Config) -> bool {
        self.scalable_probability(config) > MAX_PROB
    }

    #[inline]
    fn scalable_probability(&self, config: &Pi2Config) -> u64 {
        u64::from(self.prob) * config.coupling
    }

    /// A signal with probability p'^2; `random` draws uniform 32-bit numbers.
    #[inline]
    pub fn signals_classic(&self, mut random: impl FnMut() -> u32) -> bool {
        random() <= self.prob && random() <= self.prob
    }

    /// A signal with probability k p', certain when overloaded.
    #[inline]
    pub fn signals_scalable(&self, config: &Pi2Config, mut random: impl FnMut() -> u32) -> bool {
        u64::from(random()) <= self.scalable_probability(config)
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    fn config() -> Pi2Config {
        Pi2Config {
            target: Span::from_millis(15),
            alpha: scale_gain(0.16),
            beta: scale_gain(3.2),
            coupling: 2,
            cap: false,
        }
    }

    #[test]
    fn base_probability_follows_the_pi_recursion() {
        let mut law = Pi2::default();
        let (mut p, mut old) = (0.0f64, 0.0);
        for step in 0..2_000 {
            let delay = 0.015 + 0.02 * (f64::from(step) / 50.0).sin();
            let delay = delay.max(0.0);
            law.update(&config(), Span::from_secs_f64(delay));
            p += 41.0 / 256.0 * (delay - 0.015) + 819.0 / 256.0 * (delay - old);
            p = p.clamp(0.0, 1.0);
            old = delay;
            let measured = law.base_probability();
            assert!((measured - p).abs() < 0.01 * p + 1e-4, "step {step}: {measured} not {p}");
        }
    }

    #[test]
    fn coupling_is_square_and_linear() {
        let mut random = crate::rng::StreamKey::root(9).stream();
        let n = 400_000;
        for p in [0.02, 0.1, 0.3, 0.5] {
            let law = Pi2::with_probability(p);
            let mut share = |scalable: bool| {
                let hits = (0..n)
                    .filter(|_| {
                        let draw = || random.next_u32();
                        if scalable {
                            law.signals_scalable(&config(), draw)
                        } else {
                            law.signals_classic(draw)
                        }
                    })
                    .count();
                hits as f64 / f64::from(n)
            };
            let near = |measured: f64, expected: f64| {
                let sigma = (expected * (1.0 - expected) / f64::from(n)).sqrt();
                assert!((measured - expected).abs() < 4.0 * sigma + 1e-6, "{measured} {expected}");
            };
            near(share(false), p * p);
            near(share(true), 2.0 * p);
            // The law of RFC 9332, section 2.1: p_C = (p_CL / k)^2.
            near(share(false), (2.0 * p / 2.0) * (2.0 * p / 2.0));
        }
    }

    #[test]
    fn overload_begins_when_every_scalable_packet_is_marked() {
        let half = Pi2 { prob: u32::MAX / 2, last_delay: 0 };
        assert!(!half.overloaded(&config()));
        let more = Pi2 { prob: u32::MAX / 2 + 1, last_delay: 0 };
        assert!(more.overloaded(&config()));
        assert!(more.signals_scalable(&config(), || u32::MAX));
    }
}
