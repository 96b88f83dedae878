//! Minimum of a delay over a sliding window of time, kept in bins.

use sojourn_base::units::{Span, Time};

const BINS: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Observation {
    delay: f64,
    at: Time,
}

const NOTHING: Observation = Observation { delay: f64::INFINITY, at: Time::ZERO };

/// Tracks a delay in seconds. A bin ends with the first observation after its time; until then a
/// smaller delay counts at once, a larger one not at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tracker {
    recent: Observation,
    bins: [Observation; BINS],
    filled: usize,
    index: usize,
    /// None until the first observation, which ends a bin of its own (the public program counts from
    /// the epoch).
    bin_start: Option<Time>,
}

impl Default for Tracker {
    fn default() -> Self {
        let bins = [NOTHING; BINS];
        Tracker { recent: NOTHING, bins, filled: 0, index: 0, bin_start: None }
    }
}

impl Tracker {
    /// Processes an observation; `least` becomes the least delay of the last `window` seconds.
    pub(super) fn update(&mut self, delay: f64, now: Time, window: f64, least: &mut f64) {
        if delay < self.recent.delay {
            self.recent = Observation { delay, at: now };
        }
        let bin = Span::from_secs_f64(window / BINS as f64);
        if self.bin_start.is_some_and(|start| now < start + bin) {
            *least = least.min(delay);
            return;
        }
        self.bins[self.index] = self.recent;
        self.filled = (self.filled + 1).min(BINS);
        *least = self.least_since(now, Span::from_secs_f64(window)).min(self.recent.delay);
        self.recent = NOTHING;
        self.index = (self.index + 1) % BINS;
        self.bin_start = Some(now);
    }

    /// The least of the bins before this one; what is older than the window is forgotten.
    fn least_since(&mut self, now: Time, window: Span) -> f64 {
        let mut least = f64::INFINITY;
        for back in 1..self.filled {
            let bin = &mut self.bins[(self.index + BINS - back) % BINS];
            if bin.at + window < now {
                bin.delay = f64::INFINITY;
            }
            least = least.min(bin.delay);
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_increase_is_seen_when_the_window_is_over() {
        let mut tracker = Tracker::default();
        let mut least = f64::INFINITY;
        let mut seen = None;
        for ms in 0..2_000u64 {
            let delay = if ms < 500 { 0.01 } else { 0.03 };
            tracker.update(delay, Time::from_nanos(ms * 1_000_000), 0.8, &mut least);
            if least > 0.02 && seen.is_none() {
                seen = Some(ms);
            }
        }
        let seen = seen.expect("it is seen");
        assert!((1_290..=1_330).contains(&seen), "{seen}");
    }

    #[test]
    fn a_decrease_is_seen_at_once() {
        let mut tracker = Tracker::default();
        let mut least = f64::INFINITY;
        tracker.update(0.03, Time::from_nanos(1_000_000_000), 0.8, &mut least);
        tracker.update(0.01, Time::from_nanos(1_001_000_000), 0.8, &mut least);
        assert_eq!(least, 0.01);
    }
}
