//! Detection of a token-bucket policer ("long-term" bandwidth of Linux's `tcp_bbr.c`): two
//! consecutive lossy intervals of similar throughput yield the policed rate, which then replaces
//! the bandwidth estimate for 48 rounds.

use super::bandwidth::{Bandwidth, UNIT};
use crate::units::{Span, Time};

/// Rounds in an interval: at least this many, at most four times as many.
const MIN_ROUNDS: u32 = 4;
/// An interval is lossy if it lost at least this share of what it delivered, in 1/256 (20 %).
const LOSSY: u64 = 50;
/// Two intervals are alike if they differ by at most this share, in 1/256 ...
const LIKE_RATIO: u32 = UNIT / 8;
/// ... or by at most this rate in bit/s.
const LIKE_RATE: u64 = 4_000;
/// Rounds for which the policed rate is used.
const USE_ROUNDS: u32 = 48;

/// Input of the detector on an ACK or timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    /// When segments were last delivered.
    pub now: Time,
    /// Whether a round begins.
    pub round_start: bool,
    /// Whether segments were marked lost.
    pub lossy: bool,
    /// Whether the rate sample was limited by the application.
    pub app_limited: bool,
    /// Whether the control is in its steady state.
    pub steady: bool,
    /// Segments delivered since the connection began.
    pub delivered: u64,
    /// Segments lost since the connection began.
    pub lost: u64,
}

/// The detector.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    policed: bool,
    rounds: u32,
    bandwidth: Bandwidth,
    start: Time,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The policed bandwidth, while it is in use.
    #[inline]
    pub(super) fn bandwidth(&self) -> Option<Bandwidth> {
        self.policed.then_some(self.bandwidth)
    }

    /// Resets all state.
    pub(super) fn reset(&mut self) {
        *self = Policer::default();
    }

    /// Processes an observation. Returns true when a policed rate has been used for long enough and
    /// was dropped: gain cycling restarts.
    #[inline]
    pub(super) fn observe(&mut self, seen: &Observation, mss: u32) -> bool {
        if self.policed {
            return self.use_up(seen);
        }
        if !self.sampling {
            // Wait for a loss: before it, the policer's tokens are not exhausted.
            if seen.lossy {
                self.sampling = true;
                self.begin(seen);
            } else {
                return false;
            }
        }
        self.sample(seen, mss);
        false
    }

    fn use_up(&mut self, seen: &Observation) -> bool {
        if seen.steady && seen.round_start {
            self.rounds += 1;
            if self.rounds >= USE_ROUNDS {
                self.reset();
                return true;
            }
        }
        false
    }

    fn begin(&mut self, seen: &Observation) {
        self.rounds = 0;
        self.start = seen.now;
        self.delivered = seen.delivered;
        self.lost = seen.lost;
    }

    fn sample(&mut self, seen: &Observation, mss: u32) {
        if seen.app_limited {
            self.reset();
            return;
        }
        self.rounds += u32::from(seen.round_start);
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset();
            return;
        }
        // An interval ends with a loss: then the tokens are exhausted again.
        if self.rounds < MIN_ROUNDS || !seen.lossy {
            return;
        }
        let (lost, delivered) = (seen.lost - self.lost, seen.delivered - self.delivered);
        let elapsed = Span::from_millis(seen.now.since(self.start).as_millis());
        if delivered == 0 || lost * u64::from(UNIT) < LOSSY * delivered || elapsed == Span::ZERO {
            return;
        }
        self.interval_done(seen, Bandwidth::over(delivered, elapsed), mss);
    }

    fn interval_done(&mut self, seen: &Observation, bandwidth: Bandwidth, mss: u32) {
        if self.bandwidth > Bandwidth::ZERO {
            let difference = bandwidth.abs_diff(self.bandwidth);
            if difference <= self.bandwidth.scaled(LIKE_RATIO)
                || difference.rate(UNIT, mss, 0).as_bps() <= LIKE_RATE
            {
                self.bandwidth = bandwidth.midpoint(self.bandwidth);
                self.policed = true;
                self.rounds = 0;
                return;
            }
        }
        self.bandwidth = bandwidth;
        self.begin(seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One round of 100 ms per call in which `delivered` segments arrive and `lost` do not.
    fn rounds(policer: &mut Policer, n: u64, from: u64, delivered: u64, lost: u64) -> bool {
        (from..from + n).fold(false, |ended, i| {
            let seen = Observation {
                now: Time::ZERO + Span::from_millis(100 * i),
                round_start: true,
                lossy: lost > 0,
                app_limited: false,
                steady: true,
                delivered: delivered * i,
                lost: lost * i,
            };
            policer.observe(&seen, 1500) || ended
        })
    }

    #[test]
    fn finds_the_policed_rate_after_two_intervals_and_drops_it_after_48_rounds() {
        let mut policer = Policer::default();
        assert!(!rounds(&mut policer, 8, 1, 80, 20));
        let bandwidth = policer.bandwidth().expect("two intervals of 20 % loss");
        assert_eq!(bandwidth, Bandwidth::over(800, Span::from_secs(1)));
        assert!(!rounds(&mut policer, 47, 9, 80, 20));
        assert!(rounds(&mut policer, 1, 56, 80, 20));
        assert_eq!(policer.bandwidth(), None);
    }

    #[test]
    fn moderate_loss_is_no_policer() {
        let mut policer = Policer::default();
        rounds(&mut policer, 200, 1, 90, 10);
        assert_eq!(policer.bandwidth(), None);
    }
}
