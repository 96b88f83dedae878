//! Measurement of a flow's source: its sending rate, and its data waiting for admission.

use sojourn_base::units::{Span, Time};

/// Interval of rate samples, and the weight of each.
const EVERY: Span = Span::from_millis(200);
const GAIN: f64 = 0.1;

/// Measurements of a flow's source.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Source {
    /// Bits that wait for admission.
    pub waiting: f64,
    rate: Option<f64>,
    since: Option<Time>,
    arrived: f64,
}

impl Source {
    /// A source with `waiting` bits waiting for admission.
    #[cfg(test)]
    pub(crate) fn with_waiting(waiting: f64) -> Self {
        Source { waiting, ..Source::default() }
    }

    /// `bits` have arrived.
    pub(crate) fn on_arrival(&mut self, now: Time, bits: f64) {
        let since = *self.since.get_or_insert(now);
        let passed = now.since(since);
        if passed >= EVERY {
            let sample = self.arrived / passed.as_secs_f64();
            self.rate = Some(self.rate.map_or(sample, |rate| rate + GAIN * (sample - rate)));
            self.since = Some(now);
            self.arrived = 0.0;
        }
        self.arrived += bits;
    }

    /// The rate at which it sends, in bit/s, once it is known.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_arrivals() {
        let mut source = Source::default();
        assert_eq!(source.rate(), None);
        for ms in 0..1_000 {
            source.on_arrival(Time::ZERO + Span::from_millis(ms), 3_000.0);
        }
        assert!((source.rate().unwrap() - 3e6).abs() < 1.0);
    }
}
