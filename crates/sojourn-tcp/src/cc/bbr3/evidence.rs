//! Losses and marks of a flight: whether they exceed the thresholds.

use super::super::bbr::bandwidth::UNIT;
use super::ecn::THRESHOLD as ECN_THRESHOLD;

/// Share of loss above which the flight was too large (2 %).
const LOSS_THRESHOLD: u32 = UNIT * 2 / 100;

/// Outcome of the flight of a segment so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    /// Segments in flight when it was sent, including itself.
    pub tx_in_flight: u32,
    /// Segments lost since.
    pub lost: u32,
    /// Segments delivered since.
    pub delivered: u32,
    /// Of those, marked.
    pub delivered_ce: u32,
    /// Whether it was sent in an application-limited phase.
    pub app_limited: bool,
}

impl Evidence {
    pub(super) fn is_lossy(&self) -> bool {
        let tolerated = u64::from(self.tx_in_flight) * u64::from(LOSS_THRESHOLD) / u64::from(UNIT);
        self.tx_in_flight > 0 && u64::from(self.lost) > tolerated
    }

    pub(super) fn is_marked(&self) -> bool {
        let tolerated = u64::from(self.delivered) * u64::from(ECN_THRESHOLD) / u64::from(UNIT);
        self.delivered > 0 && u64::from(self.delivered_ce) > tolerated
    }

    /// The flight at which losses, up to that of this segment, came to exceed the threshold.
    pub(super) fn inflight_at_threshold(&self) -> u32 {
        let before = u64::from(self.tx_in_flight.saturating_sub(1));
        let lost_before = u64::from(self.lost.saturating_sub(1));
        let unit = u64::from(UNIT);
        let threshold = u64::from(LOSS_THRESHOLD);
        let budget = (before * threshold).div_ceil(unit);
        let prefix = budget.saturating_sub(lost_before) * unit / (unit - threshold);
        (before + prefix) as u32
    }
}
