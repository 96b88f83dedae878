//! Distributions of delays, and their variation.

use crate::counters::histogram::Histogram;
use crate::units::Span;

/// Delays of packets, counted by size.
#[derive(Clone, Debug)]
pub struct Delays {
    counted: Histogram,
    least: Span,
    largest: Span,
}

impl Default for Delays {
    fn default() -> Self {
        Delays { counted: Histogram::default(), least: Span::MAX, largest: Span::ZERO }
    }
}

impl Delays {
    /// Counts one delay.
    #[inline]
    pub fn add(&mut self, delay: Span) {
        self.counted.add(delay);
        self.least = self.least.min(delay);
        self.largest = self.largest.max(delay);
    }

    /// Removes all counts.
    pub fn clear(&mut self) {
        self.counted.clear();
        (self.least, self.largest) = (Span::MAX, Span::ZERO);
    }

    /// The counts.
    pub fn histogram(&self) -> &Histogram {
        &self.counted
    }

    /// The delay that a share `p` of the packets do not exceed, to 0.8 % and never beyond the
    /// smallest and the largest one; `None` of no packets.
    pub fn quantile(&self, p: f64) -> Option<Span> {
        Some(self.counted.middle(p)?.clamp(self.least, self.largest))
    }

    /// The median, the 95th and the 99th percentile.
    pub fn quantiles(&self) -> Option<[Span; 3]> {
        Some([self.quantile(0.5)?, self.quantile(0.95)?, self.quantile(0.99)?])
    }
}

/// Interarrival jitter as RFC 3550 estimates it (section 6.4.1): with each packet that arrives, the
/// estimate J moves by a sixteenth towards the difference |D| between its delay and that of the
/// packet that arrived before it. Its mean is that over the arrivals.
#[derive(Clone, Debug, Default)]
pub(super) struct Jitter {
    last: Option<Span>,
    /// In nanoseconds.
    estimate: f64,
    sum: f64,
    count: u64,
}

impl Jitter {
    /// A packet arrives that took this long.
    #[inline]
    pub(super) fn add(&mut self, delay: Span) {
        if let Some(last) = self.last.replace(delay) {
            let difference = delay.as_nanos().abs_diff(last.as_nanos()) as f64;
            self.estimate += (difference - self.estimate) / 16.0;
            self.sum += self.estimate;
            self.count += 1;
        }
    }

    /// Mean of the estimate over the arrivals, in seconds.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64 / 1e9)
    }

    /// The mean begins; the estimate goes on.
    pub(super) fn end_warmup(&mut self) {
        (self.sum, self.count) = (0.0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_delay_is_every_quantile() {
        let mut delays = Delays::default();
        assert_eq!(delays.quantiles(), None);
        let constant = Span::from_nanos(20_000_019);
        (0..100).for_each(|_| delays.add(constant));
        assert_eq!(delays.quantiles(), Some([constant; 3]));
        delays.clear();
        delays.add(Span::from_millis(1));
        assert_eq!(delays.quantile(0.5), Some(Span::from_millis(1)));
    }

    /// The error is that of a bucket's middle: at most 1/128.
    #[test]
    fn quantiles_are_those_of_the_sorted_delays() {
        let spans: Vec<u64> = (0..20_000u64).map(|n| 1 + n * n * 7 % 90_000_049).collect();
        let mut delays = Delays::default();
        spans.iter().for_each(|ns| delays.add(Span::from_nanos(*ns)));
        let mut sorted = spans;
        sorted.sort_unstable();
        for (p, rank) in [(0.01, 200), (0.5, 10_000), (0.95, 19_000), (0.99, 19_800), (1.0, 20_000)]
        {
            let exact = sorted[rank - 1] as f64;
            let told = delays.quantile(p).unwrap().as_nanos() as f64;
            assert!((told / exact - 1.0).abs() <= 1.0 / 128.0, "{p}: {told}, not {exact}");
        }
    }

    #[test]
    fn the_jitter_of_two_alternating_delays_is_a_geometric_series() {
        let mut jitter = Jitter::default();
        let arrivals = 1000;
        for number in 0..=arrivals {
            jitter.add(Span::from_millis(if number % 2 == 0 { 10 } else { 13 }));
        }
        let rest = (15.0f64 / 16.0).powi(arrivals);
        assert!((jitter.estimate - 3e6 * (1.0 - rest)).abs() < 1e-3);
        let mean = 3e-3 * (1.0 - 15.0 * (1.0 - rest) / f64::from(arrivals));
        assert!((jitter.mean().unwrap() - mean).abs() < 1e-12);
    }

    #[test]
    fn a_constant_delay_has_no_jitter_and_one_packet_none_that_is_known() {
        let mut jitter = Jitter::default();
        jitter.add(Span::from_millis(10));
        assert_eq!(jitter.mean(), None);
        (0..5).for_each(|_| jitter.add(Span::from_millis(10)));
        assert_eq!(jitter.mean(), Some(0.0));
    }

    #[test]
    fn the_estimate_outlives_the_warm_up() {
        let mut jitter = Jitter::default();
        jitter.add(Span::from_millis(10));
        jitter.add(Span::from_millis(26));
        jitter.end_warmup();
        assert_eq!(jitter.mean(), None);
        jitter.add(Span::from_millis(26));
        assert_eq!(jitter.mean(), Some(15e-3 / 16.0));
    }
}
