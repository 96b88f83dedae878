//! The cubic window curve with Linux's integer arithmetic (`bictcp_update` in
//! `net/ipv4/tcp_cubic.c`), without slow start, so that other controls can share it.
//!
//! Time is counted in timer ticks and, inside the curve, in 2^-10 s. The curve yields a *count*:
//! the number of acknowledged segments per segment of growth.

use super::jiffies::Ticks;
use crate::observe::Observer;
use crate::units::{Span, Time};

/// Fractions are in 1024ths, as in Linux (`BICTCP_BETA_SCALE`).
pub const SCALE: u32 = 1024;
/// C = 0.4 in 1024ths (`bic_scale` 41 times 10).
const C_SCALED: u64 = 410;
/// K^3 per segment of distance to the origin, in (2^-10 s)^3.
pub const CUBE_FACTOR: u64 = (1 << 40) / C_SCALED;
/// Largest number of recomputations per second while the window does not change.
const RECOMPUTED_PER_SECOND: u64 = 32;
/// Distances in time are capped here (293 s): the curve is then beyond 10 million segments.
const LONGEST_OFFSET: u64 = 300_000;
/// Largest count before the first loss: growth of at least 5 % per round trip.
const FIRST_EPOCH_COUNT: u32 = 20;

/// Settings of a curve.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Share of the window kept on a reduction, in 1024ths.
    pub beta: u32,
    /// Release bandwidth faster when the maximum shrinks (RFC 9438 §4.7).
    pub fast_convergence: bool,
    /// Grow at least as fast as Reno would (RFC 9438 §4.3).
    pub tcp_friendliness: bool,
    /// The clock.
    pub ticks: Ticks,
}

/// State of a curve (Linux `struct bictcp`).
#[derive(Clone, Copy, Debug)]
pub struct CubicCurve {
    settings: Settings,
    /// Acknowledged segments per segment of growth.
    count: u32,
    /// Window before the last reduction, lowered by fast convergence; 0 before any.
    pub last_max: u32,
    last_window: u32,
    last_update: u64,
    /// Window at the inflection point.
    pub origin: u32,
    /// Time from the epoch's start to the inflection point, in 2^-10 s.
    pub k: u64,
    /// Start of the epoch in ticks.
    epoch: Option<u64>,
    /// Acknowledged segments not yet turned into growth of `reno_window`; negative when SCE has
    /// taken some off.
    acked: i64,
    /// Window that Reno would have (`tcp_cwnd`).
    pub reno_window: u32,
    reno_scale: u32,
    delay_min: Option<Span>,
}

/// Where Linux's search for a cube root begins: about 64 times the root of the index, less ten.
#[rustfmt::skip]
const FIRST_ROOTS: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156,
    157, 161, 164, 168, 170, 173, 176, 179, 181, 185, 187, 190, 192, 194, 197, 199,
    200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224, 225, 227, 229,
    231, 232, 234, 236, 237, 239, 240, 242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// The cube root as Linux computes it (`cubic_root`): one step of Newton's from a table, which is less
/// than 0.2 % off from 14,000 on; the curve is earlier or later by as much.
fn cube_root(a: u64) -> u64 {
    let bits = u64::BITS - a.leading_zeros();
    if bits < 7 {
        return (u64::from(FIRST_ROOTS[a as usize]) + 35) >> 6;
    }
    let thirds = ((bits * 84) >> 8) - 1;
    let first = u64::from(FIRST_ROOTS[(a >> (3 * thirds)) as usize]);
    let x = ((first + 10) << thirds) >> 6;
    ((2 * x + a / (x * (x - 1))) * 341) >> 10
}

impl CubicCurve {
    /// A curve without history.
    pub fn new(settings: Settings) -> Self {
        CubicCurve {
            settings,
            count: 0,
            last_max: 0,
            last_window: 0,
            last_update: 0,
            origin: 0,
            k: 0,
            epoch: None,
            acked: 0,
            reno_window: 0,
            reno_scale: (8 * (SCALE + settings.beta) / 3 / (SCALE - settings.beta)).max(1),
            delay_min: None,
        }
    }

    /// Resets all state (on entering Loss).
    pub fn reset(&mut self) {
        *self = CubicCurve::new(self.settings);
    }

    /// Minimum RTT known to the curve.
    pub fn delay_min(&self) -> Option<Span> {
        self.delay_min
    }

    /// Takes an RTT sample; ignores those of the first second of an epoch, which still contain the
    /// queue of the loss. Returns whether it was taken.
    pub fn on_rtt(&mut self, now: Time, rtt: Span) -> bool {
        if self
            .epoch
            .is_some_and(|epoch| self.now(now).saturating_sub(epoch) < self.settings.ticks.hz)
        {
            return false;
        }
        self.delay_min = Some(self.delay_min.map_or(rtt, |lowest| lowest.min(rtt)));
        true
    }

    /// Ends the epoch at a reduction of `window` and remembers its maximum.
    pub fn on_reduction(&mut self, window: u32) {
        self.epoch = None;
        self.last_max = if window < self.last_max && self.settings.fast_convergence {
            (u64::from(window) * u64::from(SCALE + self.settings.beta) / u64::from(2 * SCALE))
                as u32
        } else {
            window
        };
    }

    /// Reports the maximum and, within an epoch, the parameters of the curve.
    pub fn observe(&self, out: &mut Observer<'_>) {
        if self.last_max > 0 {
            out("w_max", self.last_max.into());
        }
        if let Some(epoch) = self.epoch {
            out("k", (self.k as f64 / 1024.0).into());
            out("epoch_start", self.settings.ticks.seconds(epoch).into());
            out("w_est", self.reno_window.into());
        }
    }

    /// Whether the window follows the curve now.
    pub fn in_epoch(&self) -> bool {
        self.epoch.is_some()
    }

    /// The curve's value now.
    #[cfg(test)]
    pub fn target(&self, now: Time) -> u32 {
        self.window_at(self.now(now) - self.epoch.unwrap_or(0))
    }

    /// Flattens the curve on an SCE echo (`bictcp_handle_ack` of Cubic-SCE): before the inflection
    /// point the time to it shrinks by `acked / root`; after it the time since shrinks to that
    /// share. The present value of the curve does not change.
    pub fn flatten(&mut self, now: Time, acked: u32, root: u32) {
        let Some(epoch) = self.epoch else { return };
        let (now, hz) = (self.now(now), self.settings.ticks.hz);
        let t = ((now - epoch) << 10) / hz;
        let (acked, root) = (u64::from(acked), u64::from(root));
        if t < self.k {
            let left = self.k - t;
            self.epoch = Some(now);
            self.k = if acked < root { left * (root - acked) / root } else { 0 };
            self.origin = self.origin.saturating_sub(rise(left) - rise(self.k));
        } else {
            let since = t - self.k;
            self.epoch = Some(epoch + ((self.k * hz) >> 10));
            self.k = if acked < root { since * acked / root } else { since };
            self.origin = self.origin.saturating_add(rise(since) - rise(since - self.k));
        }
    }

    /// Subtracts `segments` from the count that grows Reno's window; returns by how many multiples
    /// of `window` it fell below zero.
    pub fn charge(&mut self, segments: u32, window: u32) -> u32 {
        self.acked -= i64::from(segments);
        let steps = (-self.acked).max(0) / i64::from(window);
        self.acked += steps * i64::from(window);
        steps as u32
    }

    /// Shifts the epoch by an idle time, so that growth resumes where it stopped.
    pub fn on_idle(&mut self, now: Time, idle: Span) {
        let now = self.now(now);
        let idle = idle.as_millis() * self.settings.ticks.hz / 1000;
        self.epoch = self.epoch.map(|epoch| (epoch + idle).min(now));
    }

    /// Acknowledged segments per segment of growth after `acked` more of them, at least 2.
    #[inline]
    pub fn update(&mut self, now: Time, window: u32, acked: u32) -> u32 {
        self.acked += i64::from(acked);
        let now = self.now(now);
        let soon = self.settings.ticks.hz / RECOMPUTED_PER_SECOND;
        if self.last_window == window && now - self.last_update <= soon {
            return self.count;
        }
        // The curve itself moves at most once per tick.
        if self.epoch.is_none() || now != self.last_update {
            self.last_window = window;
            self.last_update = now;
            self.follow(now, window, acked);
        }
        if self.settings.tcp_friendliness {
            self.keep_up_with_reno(window);
        }
        self.count = self.count.max(2);
        self.count
    }

    /// Sets the count to reach the curve's value one round trip ahead.
    fn follow(&mut self, now: u64, window: u32, acked: u32) {
        let epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(now, window, acked));
        let ahead = self.delay_min.map_or(0, |delay| self.settings.ticks.covering(delay));
        let target = self.window_at(now - epoch + ahead);
        self.count = if target > window { window / (target - window) } else { 100 * window };
        if self.last_max == 0 {
            self.count = self.count.min(FIRST_EPOCH_COUNT);
        }
    }

    fn begin_epoch(&mut self, now: u64, window: u32, acked: u32) -> u64 {
        self.epoch = Some(now);
        self.acked = i64::from(acked);
        self.reno_window = window;
        self.origin = self.last_max.max(window);
        self.k = cube_root(CUBE_FACTOR * u64::from(self.origin - window));
        now
    }

    fn now(&self, now: Time) -> u64 {
        self.settings.ticks.at(now)
    }

    /// Value of the curve `ticks` after the start of its epoch.
    fn window_at(&self, ticks: u64) -> u32 {
        let t = (ticks << 10) / self.settings.ticks.hz;
        let delta = rise(t.abs_diff(self.k));
        if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        }
    }

    /// Grows Reno's window by one per `window * reno_scale / 8` acknowledged segments and lowers
    /// the count if Reno is ahead.
    fn keep_up_with_reno(&mut self, window: u32) {
        let per = ((window * self.reno_scale) >> 3).max(1);
        while self.acked > i64::from(per) {
            self.acked -= i64::from(per);
            self.reno_window += 1;
        }
        if self.reno_window > window {
            self.count = self.count.min(window / (self.reno_window - window));
        }
    }
}

/// Distance of the curve from its inflection point's level, in segments, at `offset` (in units of
/// 2^-10 s) from that point.
pub fn rise(offset: u64) -> u32 {
    let offset = offset.min(LONGEST_OFFSET);
    ((C_SCALED * offset * offset * offset) >> 40) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: Settings = Settings {
        beta: 717,
        fast_convergence: true,
        tcp_friendliness: true,
        ticks: Ticks::MILLISECONDS,
    };

    #[test]
    fn cube_roots_are_as_far_off_as_the_kernels() {
        // Computed by the kernel's function for K of these distances to the origin.
        let of_distance = [(1, 1388), (17, 3573), (100, 6451), (1000, 13_897), (2500, 18_864)];
        for (segments, root) in of_distance {
            assert_eq!(cube_root(CUBE_FACTOR * segments), root, "{segments} segments");
        }
        assert_eq!([0, 5, 63, 64].map(cube_root), [0, 2, 4, 4]);
        let near = |root: u64| cube_root(root.pow(3)).abs_diff(root) < root / 500;
        assert!((14_000..2_000_000).step_by(37).all(near));
    }

    /// RFC 9438 equation 1: W(t) = C (t - K)^3 + W_max with K = cbrt((W_max - W) / C); Linux's
    /// C is 0.4004.
    #[test]
    fn follows_the_cubic_function() {
        let mut curve = CubicCurve::new(LINUX);
        curve.on_reduction(1000);
        curve.update(Time::from_nanos(1_000_000), 700, 1);
        let c = 410.0 / 1024.0;
        let k = (300.0f64 / c).cbrt();
        assert!((curve.k as f64 / 1024.0 - k).abs() < 0.01, "{} {k}", curve.k);
        for tenths in 0..300 {
            let t = f64::from(tenths) / 10.0;
            let expected = c * (t - k).powi(3) + 1000.0;
            let got = f64::from(curve.window_at(tenths as u64 * 100));
            assert!((got - expected).abs() <= 1.0 + expected * 2e-3, "{t}: {got} {expected}");
        }
    }

    /// With ticks of 4 ms the curve stands still for 4 ms.
    #[test]
    fn coarse_ticks_cut_the_time() {
        let ticks = Ticks::per_second(250);
        let mut curve = CubicCurve::new(Settings { ticks, ..LINUX });
        curve.on_reduction(10_000);
        curve.update(Time::from_nanos(4_000_000), 7000, 1);
        let at = |ms: u64| curve.target(Time::from_nanos(ms * 1_000_000));
        assert_eq!((at(2000), at(2003)), (curve.window_at(499), at(2000)));
        assert!(at(2004) > at(2003));
    }

    /// RFC 9438 §4.7: a smaller maximum is remembered as W (1 + beta) / 2.
    #[test]
    fn fast_convergence_lowers_the_maximum() {
        let mut curve = CubicCurve::new(LINUX);
        curve.on_reduction(1000);
        curve.on_reduction(800);
        assert_eq!(curve.last_max, 680);
        curve.on_reduction(900);
        assert_eq!(curve.last_max, 900);
    }

    /// RFC 9438 §4.3: alpha = 3 (1 - beta) / (1 + beta) = 0.53 segments per round trip.
    #[test]
    fn reno_region_grows_by_alpha() {
        let mut curve = CubicCurve::new(LINUX);
        curve.on_reduction(100);
        let rounds = 200;
        for round in 0..rounds {
            for ack in 0..70 {
                let now = Time::from_nanos((round * 70 + ack) * 100_000 + 1_000_000_000);
                curve.update(now, 70 + u32::from(ack % 2 == 0), 1);
            }
        }
        let grown = f64::from(curve.reno_window - 70) / rounds as f64;
        assert!((grown - 0.533).abs() < 0.02, "{grown}");
    }

    #[test]
    fn idle_time_shifts_the_epoch() {
        let mut curve = CubicCurve::new(LINUX);
        curve.on_reduction(100);
        curve.update(Time::from_nanos(1_000_000_000), 70, 1);
        curve.on_idle(Time::from_nanos(9_000_000_000), Span::from_secs(5));
        assert_eq!(curve.epoch, Some(6000));
        curve.on_idle(Time::from_nanos(9_000_000_000), Span::from_secs(5));
        assert_eq!(curve.epoch, Some(9000));
    }
}
