//! The cubic window curve as ns-3's `TcpCubic` computes it (`src/internet/model/tcp-cubic.cc`,
//! release 3.42): in floating point on a continuous clock, at every ACK.

use super::cubic_curve::{SCALE, Settings};
use crate::observe::Observer;
use crate::units::{Span, Time};

/// C of the cubic function.
const C: f64 = 0.4;
/// RTT samples are ignored this long after an epoch's start (`CubicDelta`).
const SETTLING: Span = Span::from_millis(10);
/// Largest count before the first loss (`CntClamp`).
const FIRST_EPOCH_COUNT: u32 = 20;

/// State of ns-3's curve.
#[derive(Clone, Copy, Debug)]
pub struct Ns3Curve {
    settings: Settings,
    beta: f64,
    last_max: u32,
    origin: u32,
    k: f64,
    epoch: Option<Time>,
    acked: u32,
    reno_window: u32,
    delay_min: Option<Span>,
    /// Acknowledged segments not yet turned into growth (`m_cWndCnt`).
    credit: u32,
}

impl Ns3Curve {
    /// A curve without history. `beta` is the share of the window kept.
    pub fn new(settings: Settings, beta: f64) -> Self {
        Ns3Curve {
            settings,
            beta,
            last_max: 0,
            origin: 0,
            k: 0.0,
            epoch: None,
            acked: 0,
            reno_window: 0,
            delay_min: None,
            credit: 0,
        }
    }

    /// Reset after a retransmission timeout; keeps the maximum (since 3.42) and the running epoch.
    pub fn reset(&mut self) {
        self.origin = 0;
        self.k = 0.0;
        self.acked = 0;
        self.reno_window = 0;
        self.delay_min = None;
    }

    /// Minimum RTT known to the curve.
    pub fn delay_min(&self) -> Option<Span> {
        self.delay_min
    }

    /// Takes a (smoothed) RTT; returns whether it was taken.
    pub fn on_rtt(&mut self, now: Time, rtt: Span) -> bool {
        if self.epoch.is_some_and(|epoch| now.since(epoch) < SETTLING) {
            return false;
        }
        self.delay_min = Some(self.delay_min.map_or(rtt, |lowest| lowest.min(rtt)));
        true
    }

    /// Ends the epoch at a reduction of `window` and remembers its maximum.
    pub fn on_reduction(&mut self, window: u32) {
        self.epoch = None;
        self.last_max = if window < self.last_max && self.settings.fast_convergence {
            (f64::from(window) * (1.0 + self.beta) / 2.0) as u32
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
            out("k", self.k.into());
            out("epoch_start", epoch.as_secs_f64().into());
            out("w_est", self.reno_window.into());
        }
    }

    /// Segments by which the window grows for `acked` more acknowledged ones: 0 or 1.
    pub fn growth(&mut self, now: Time, window: u32, acked: u32) -> u32 {
        self.credit += acked;
        let count = self.count(now, window, acked);
        if self.credit < count {
            return 0;
        }
        self.credit -= count;
        1
    }

    fn count(&mut self, now: Time, window: u32, acked: u32) -> u32 {
        self.acked += acked;
        let epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(now, window, acked));
        let t = (now.since(epoch) + self.delay_min.unwrap_or(Span::ZERO)).as_secs_f64();
        let distance = (t - self.k).abs();
        let delta = (C * distance * distance * distance) as u32;
        let target = if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        let mut count = if target > window { window / (target - window) } else { 100 * window };
        if self.last_max == 0 {
            count = count.min(FIRST_EPOCH_COUNT);
        }
        if self.settings.tcp_friendliness {
            count = count.min(self.count_of_reno(window));
        }
        count.max(2)
    }

    fn begin_epoch(&mut self, now: Time, window: u32, acked: u32) -> Time {
        self.epoch = Some(now);
        self.acked = acked;
        self.reno_window = window;
        self.origin = self.last_max.max(window);
        self.k = libm::cbrt(f64::from(self.origin - window) / C);
        now
    }

    fn count_of_reno(&mut self, window: u32) -> u32 {
        let scale = 8 * (SCALE + self.settings.beta) / 3 / (SCALE - self.settings.beta);
        let per = ((window * scale) >> 3).max(1);
        while self.acked > per {
            self.acked -= per;
            self.reno_window += 1;
        }
        match self.reno_window.checked_sub(window) {
            None | Some(0) => u32::MAX,
            Some(ahead) => window / ahead,
        }
    }
}
