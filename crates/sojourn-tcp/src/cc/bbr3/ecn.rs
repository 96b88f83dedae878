//! The share of marked segments, for paths that mark at a shallow threshold.

use super::super::bbr::bandwidth::UNIT;
use super::{AckSample, Bbr3};
use crate::units::Span;

/// Marks count only on paths this short.
const MAX_RTT: Span = Span::from_millis(5);
const ALPHA_GAIN: u32 = UNIT / 16;
/// Share by which the window is cut when every segment is marked.
const FACTOR: u32 = UNIT / 3;
/// Share of marks above which congestion is excessive.
pub(super) const THRESHOLD: u32 = UNIT / 2;
/// Rounds with too many marks that end STARTUP.
const STARTUP_ROUNDS: u32 = 2;

/// Moving average of the share of marked segments per round, in 1/256.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnShare {
    allowed: bool,
    eligible: bool,
    alpha: u32,
    delivered: u64,
    marked: u64,
    startup_rounds: u32,
}

impl EcnShare {
    /// State of a new connection.
    pub(super) fn new(allowed: bool) -> Self {
        let (delivered, marked) = (0, 0);
        EcnShare { allowed, eligible: false, alpha: UNIT, delivered, marked, startup_rounds: 0 }
    }

    /// Whether marks count on this path.
    #[inline]
    pub(super) fn eligible(&self) -> bool {
        self.eligible
    }

    /// The average, from 0 to 1.
    pub(super) fn alpha(&self) -> f64 {
        f64::from(self.alpha) / f64::from(UNIT)
    }

    /// `inflight` cut in proportion to the average.
    pub(super) fn cut(&self, inflight: u32) -> u32 {
        let keep = UNIT - (self.alpha * FACTOR / UNIT);
        (u64::from(inflight) * u64::from(keep) / u64::from(UNIT)) as u32
    }

    /// A round ended; returns the share of its segments that were marked.
    fn on_round(&mut self, ack: &AckSample, min_rtt: Span) -> Option<u32> {
        self.eligible |= self.allowed && min_rtt <= MAX_RTT;
        let delivered = ack.delivered - self.delivered;
        if !self.eligible || delivered == 0 {
            return None;
        }
        let share = ((ack.delivered_ce - self.marked) * u64::from(UNIT) / delivered) as u32;
        let kept = (UNIT - ALPHA_GAIN) * self.alpha / UNIT;
        self.alpha = (kept + ALPHA_GAIN * share / UNIT).min(UNIT);
        self.delivered = ack.delivered;
        self.marked = ack.delivered_ce;
        Some(share)
    }

    /// Whether several rounds in a row had too many marks.
    fn too_many_in_startup(&mut self, share: u32) -> bool {
        self.startup_rounds = if share >= THRESHOLD { self.startup_rounds + 1 } else { 0 };
        self.startup_rounds >= STARTUP_ROUNDS
    }
}

impl Bbr3 {
    pub(super) fn update_ecn(&mut self, ack: &AckSample) {
        let Some(share) = self.ecn.on_round(ack, self.min_rtt) else { return };
        if !self.full.reached && self.ecn.too_many_in_startup(share) {
            self.queue_too_long_in_startup();
        }
    }
}
