//! ACK aggregation: the excess of delivered over expected segments, which BBR adds to its window to
//! keep sending between aggregated ACKs.

use super::bandwidth::Bandwidth;
use crate::units::{Span, Time};

/// Rounds after which a window of the two-window maximum is renewed.
pub const WINDOW_ROUNDS: u32 = 5;
/// An epoch ends when this many segments were counted in it.
const EPOCH_LIMIT: u64 = 1 << 20;
/// The excess is capped at the segments that pass in this time.
const CAP: Span = Span::from_millis(100);

/// The largest excess of acknowledged segments over the last one or two windows of rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aggregation {
    epoch_start: Time,
    epoch_acked: u64,
    excess: [u32; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    /// Starts a new epoch, as after an idle period.
    pub fn restart(&mut self, now: Time) {
        self.epoch_start = now;
        self.epoch_acked = 0;
    }

    /// A round has begun; windows are `window` rounds long.
    pub fn on_round(&mut self, window: u32) {
        self.rounds += 1;
        if self.rounds >= window {
            self.rounds = 0;
            self.current ^= 1;
            self.excess[self.current] = 0;
        }
    }

    /// `acked` segments were delivered; `bandwidth` gives the expected number.
    #[inline]
    pub fn on_ack(&mut self, now: Time, acked: u32, bandwidth: Bandwidth, cwnd: u32) {
        let mut expected = bandwidth.segments_in(now.since(self.epoch_start));
        let acked = u64::from(acked);
        if self.epoch_acked <= expected || self.epoch_acked + acked >= EPOCH_LIMIT {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(EPOCH_LIMIT - 1);
        let excess = (self.epoch_acked.saturating_sub(expected)).min(u64::from(cwnd)) as u32;
        self.excess[self.current] = self.excess[self.current].max(excess);
    }

    /// Segments to add to the window.
    #[inline]
    pub fn room(&self, bandwidth: Bandwidth) -> u32 {
        let excess = self.excess[0].max(self.excess[1]);
        u64::from(excess).min(bandwidth.segments_in(CAP)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path that delivers one segment per millisecond, acknowledged in bunches of `bunch`.
    fn room_of(bunch: u64) -> u32 {
        let bandwidth = Bandwidth::over(1, Span::from_millis(1));
        let mut aggregation = Aggregation::default();
        for i in 1..1000 {
            let now = Time::ZERO + Span::from_millis(i * bunch);
            aggregation.on_ack(now, bunch as u32, bandwidth, 10_000);
            if i % 10 == 0 {
                aggregation.on_round(WINDOW_ROUNDS);
            }
        }
        aggregation.room(bandwidth)
    }

    #[test]
    fn room_follows_the_bunches_up_to_a_tenth_of_a_second() {
        assert!((20..=41).contains(&room_of(20)), "{}", room_of(20));
        // The fixed-point bandwidth lies just below one segment per millisecond.
        assert_eq!(room_of(300), 99);
    }

    #[test]
    fn room_is_forgotten_after_two_windows() {
        let bandwidth = Bandwidth::over(1, Span::from_millis(1));
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(Time::ZERO + Span::from_millis(1), 50, bandwidth, 10_000);
        assert_eq!(aggregation.room(bandwidth), 50);
        for _ in 0..2 * WINDOW_ROUNDS {
            aggregation.on_round(WINDOW_ROUNDS);
        }
        assert_eq!(aggregation.room(bandwidth), 0);
    }
}
