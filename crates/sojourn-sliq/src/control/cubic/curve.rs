//! The cubic curve in bytes, with Linux 4.6.3's integer arithmetic.

use super::MSS;
use sojourn_base::units::{Span, Time};
use sojourn_tcp::cc::cubic_curve::{CUBE_FACTOR, rise};

/// Growth is recomputed after this, even if the window is the same.
const SAME_WINDOW: Span = Span::from_micros(31_250);
/// The curve is evaluated at most this often.
const INTERVAL: Span = Span::from_millis(4);
/// K^3 per byte of distance to the origin.
const ROOT_FACTOR: i64 = CUBE_FACTOR as i64 / MSS;
const BETA: f64 = 0.7;

/// The curve's state; an epoch begins with the first growth after a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curve {
    epoch: Option<Time>,
    last_max: i64,
    last_window: i64,
    last_time: Option<Time>,
    origin: i64,
    /// Time to the origin in 1/1024 s.
    k: i64,
    friendly: i64,
    acked: i64,
    /// Bytes to acknowledge for a segment of growth.
    count: i64,
    counted: i64,
}

impl Curve {
    /// When the epoch began.
    pub(super) fn epoch(&self) -> Option<Time> {
        self.epoch
    }

    /// The window is reduced.
    pub(super) fn on_reduction(&mut self, window: i64) {
        self.epoch = None;
        let converging = window < self.last_max;
        let kept = (window as f64 * (1.0 + BETA) / 2.0).round() as i64;
        self.last_max = if converging { kept } else { window };
    }

    /// Counts acknowledged bytes anew.
    pub(super) fn restart_count(&mut self) {
        self.counted = 0;
    }

    /// Nothing was sent for a while.
    pub(super) fn shift(&mut self, idle: Span, now: Time) {
        self.epoch = self.epoch.map(|start| (start + idle).min(now));
    }

    /// `acked` bytes were acknowledged; how many the window grows by.
    pub(super) fn on_ack(&mut self, now: Time, window: i64, acked: i64, min_rtt: Span) -> i64 {
        self.update(now, window, acked, min_rtt);
        let mut growth = 0;
        if self.counted >= self.count {
            self.counted = 0;
            growth += MSS;
        }
        self.counted += acked;
        if self.counted >= self.count {
            let segments = self.counted / self.count;
            self.counted -= segments * self.count;
            growth += segments * MSS;
        }
        growth
    }

    fn update(&mut self, now: Time, window: i64, acked: i64, min_rtt: Span) {
        self.acked += acked;
        let since = self.last_time.map(|last| now.since(last));
        if self.last_window == window && since.is_some_and(|since| since <= SAME_WINDOW) {
            return;
        }
        if self.epoch.is_none() || since.is_none_or(|since| since > INTERVAL) {
            self.last_window = window;
            self.last_time = Some(now);
            self.evaluate(now, window, acked, min_rtt);
        }
        self.befriend(window);
        self.count = self.count.max(2 * MSS);
    }

    #[inline(never)]
    fn evaluate(&mut self, now: Time, window: i64, acked: i64, min_rtt: Span) {
        let start = match self.epoch {
            Some(start) => start,
            None => {
                self.begin(window, acked);
                *self.epoch.insert(now)
            }
        };
        let t = (((now.since(start) + min_rtt).as_millis() << 10) / 1_000) as i64;
        let offset = (t - self.k).unsigned_abs();
        let delta = i64::from(rise(offset)) * MSS;
        let target = if t < self.k { self.origin - delta } else { self.origin + delta };
        self.count = if target > window { window / (target - window) * MSS } else { 100 * window };
        if self.last_max == 0 {
            self.count = self.count.min(20 * MSS);
        }
    }

    fn begin(&mut self, window: i64, acked: i64) {
        if window < self.last_max {
            self.k = libm::cbrt((ROOT_FACTOR * (self.last_max - window)) as f64) as i64;
            self.origin = self.last_max;
        } else {
            self.k = 0;
            self.origin = window;
        }
        self.acked = acked;
        self.friendly = window;
    }

    /// At least as fast as Reno would.
    fn befriend(&mut self, window: i64) {
        let per_segment = (window as f64 * (1.0 + BETA) / (3.0 * (1.0 - BETA))).round() as i64;
        while self.acked > per_segment {
            self.acked -= per_segment;
            self.friendly += MSS;
        }
        if self.friendly > window {
            self.count = self.count.min(window / (self.friendly - window) * MSS);
        }
    }
}
