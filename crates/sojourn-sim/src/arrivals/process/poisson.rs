//! Poisson: independent arrivals at a constant rate.

use super::{Due, Process, after};
use crate::rng::draw::exponential;
use crate::rng::{Stream, StreamKey};
use crate::units::Time;

pub(super) struct Arrivals {
    rate: f64,
    random: Stream,
}

impl Arrivals {
    pub(super) fn new(rate: f64, key: StreamKey) -> Self {
        Arrivals { rate, random: key.stream() }
    }
}

impl Process for Arrivals {
    fn next(&mut self, now: Time) -> Option<Due> {
        Some(Due::at(now + after(exponential(&mut self.random), self.rate)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{counts, times};
    use super::*;
    use crate::arrivals::Draws;
    use crate::arrivals::testing::entry;
    use crate::units::Span;

    #[test]
    fn counts_have_variance_equal_to_mean() {
        let mut entry = entry(json!({ "size": "1 kB", "rate": "1 /s" }));
        entry.flow.stop = Some(Span::from_secs(2_000));
        let process = entry.process(50.0, Draws::new(1, "a")).unwrap();
        let (mean, dispersion) = counts(&times(process, Time::ZERO), 0.1, 20_000);
        assert!((mean / 5.0 - 1.0).abs() < 0.01, "{mean}");
        assert!((dispersion - 1.0).abs() < 0.05, "{dispersion}");
    }

    #[test]
    fn a_higher_rate_scales_the_same_arrivals() {
        let mut entry = entry(json!({ "size": "1 kB", "rate": "1 /s" }));
        let mut of = |rate: f64, stop| {
            entry.flow.stop = Some(Span::from_secs(stop));
            times(entry.process(rate, Draws::new(1, "a")).unwrap(), Time::ZERO)
        };
        let (slow, fast) = (of(1.0, 100), of(2.0, 50));
        assert_eq!(slow.len(), fast.len());
        let near = |(slow, fast): (&f64, &f64)| (slow - 2.0 * fast).abs() < 1e-6;
        assert!(slow.iter().zip(&fast).all(near));
    }
}
