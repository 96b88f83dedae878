//! Capacity of the path: the rate that the peer receives while a control's window is fully used.
//!
//! Model: `iron/sliq/src/sliq_capacity_estimator.cc`. Once a second, each control whose window has
//! changed by more than a packet takes what was acknowledged in that second as a candidate; without
//! a change, only a higher rate is taken. The estimate is the larger of the last two candidates.

use super::control::ETHERNET;
use super::wire::MAX_DATAGRAM;
use sojourn_base::units::{Span, Time};

const INTERVAL: Span = Span::from_secs(1);
/// An estimate that has fallen by less than this share is reported after this time.
const TOLD_FALL: f64 = 0.1;
const TOLD_AFTER: Span = Span::from_secs(4);

#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    window_before: u64,
    window: u64,
    samples: u32,
    bytes: u64,
    candidates: [f64; 2],
    estimate: f64,
}

/// The estimator.
#[derive(Clone, Debug)]
pub(crate) struct Capacity {
    lanes: Vec<Lane>,
    start: Option<Time>,
    told: f64,
    tell_after: Time,
}

impl Capacity {
    /// For controls with these windows in bytes.
    pub(crate) fn new(windows: impl Iterator<Item = u64>) -> Self {
        let lanes = windows.map(|window| Lane { window, ..Lane::default() }).collect();
        Capacity { lanes, start: None, told: 0.0, tell_after: Time::ZERO }
    }

    /// The estimate in bit/s, framing and headers included; 0 if none is known.
    pub(crate) fn estimate(&self) -> f64 {
        self.lanes.iter().map(|lane| lane.estimate).fold(0.0, f64::max)
    }

    /// A packet of `bytes` (with SLIQ's headers) of a control was acknowledged; returns whether the
    /// estimate is to be reported again.
    pub(crate) fn on_acked(&mut self, now: Time, lane: usize, bytes: u32, window: u64) -> bool {
        let mut tell = false;
        match self.start {
            None => self.start = Some(now),
            Some(start) if now.since(start) > INTERVAL => {
                self.end_interval();
                self.start = Some(now);
                tell = self.tells(now);
            }
            Some(_) => {}
        }
        let lane = &mut self.lanes[lane];
        lane.window = window;
        lane.samples += 1;
        lane.bytes += u64::from(ETHERNET + bytes);
        tell
    }

    fn tells(&mut self, now: Time) -> bool {
        let estimate = self.estimate();
        let changed = estimate > self.told || estimate < self.told * (1.0 - TOLD_FALL);
        let tells = changed || now > self.tell_after;
        if tells {
            self.told = estimate;
            self.tell_after = now + TOLD_AFTER;
        }
        tells
    }

    fn end_interval(&mut self) {
        let total: u64 = self.lanes.iter().map(|lane| lane.bytes).sum();
        let rate = total as f64 * 8.0 / INTERVAL.as_secs_f64();
        for lane in &mut self.lanes {
            if lane.samples > 0 {
                if lane.window.abs_diff(lane.window_before) > MAX_DATAGRAM as u64 {
                    lane.candidates = [rate, lane.candidates[0]];
                } else {
                    lane.candidates[0] = lane.candidates[0].max(rate);
                }
                lane.estimate = lane.candidates[0].max(lane.candidates[1]);
                lane.window_before = lane.window;
            }
            (lane.samples, lane.bytes) = (0, 0);
        }
    }

    /// An outage is over: resets the estimate.
    pub(crate) fn restart(&mut self, now: Time) {
        self.start = Some(now);
        for lane in &mut self.lanes {
            *lane = Lane { candidates: lane.candidates, ..Lane::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_rate_counts_once_the_window_has_changed_twice() {
        let mut capacity = Capacity::new([0].into_iter());
        let mut seen = Vec::new();
        for second in 0..8u64 {
            let packets = if second < 3 { 100 } else { 10 };
            for i in 0..packets {
                let now = Time::from_nanos(second * 1_010_000_000 + i * 1_000_000);
                capacity.on_acked(now, 0, 946, 10_000 + 5_000 * second);
            }
            seen.push(capacity.estimate());
        }
        assert_eq!(seen[2], 800_000.0);
        assert_eq!(seen[5], 80_000.0);
    }
}
