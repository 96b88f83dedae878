//! Lower bounds: short-term limits of bandwidth and data in flight after loss or marks outside
//! probing.

use super::super::bbr::bandwidth::{Bandwidth, UNIT};
use super::{AckSample, Bbr3, Sample, UNBOUNDED};

/// Share of the bounds kept after a round with loss.
pub(super) const LOSS_KEEP: u32 = UNIT - UNIT * 30 / 100;

/// Short-term bounds on the bandwidth and on what is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LowerBounds {
    pub bandwidth: Bandwidth,
    pub inflight: u32,
}

impl LowerBounds {
    /// No bounds.
    pub(super) const NONE: LowerBounds =
        LowerBounds { bandwidth: Bandwidth::MAX, inflight: UNBOUNDED };

    /// The looser of both bounds.
    pub(super) fn max(self, other: Self) -> Self {
        LowerBounds {
            bandwidth: self.bandwidth.max(other.bandwidth),
            inflight: self.inflight.max(other.inflight),
        }
    }
}

/// Deliveries of the latest round; losses may restart these rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    pub bandwidth: Bandwidth,
    pub inflight: u32,
    /// The round ends when a segment sent at this delivery count is acknowledged.
    pub round_end: u64,
    /// Whether such a round has just begun.
    pub round_start: bool,
}

impl Latest {
    /// Restarts the maxima once per round.
    pub(super) fn advance(&mut self, sample: &Sample) {
        if self.round_start {
            self.bandwidth = sample.bandwidth;
            self.inflight = sample.delivered;
        }
    }
}

impl Bbr3 {
    pub(super) fn update_latest(&mut self, ack: &AckSample, sample: &Sample) {
        self.latest.round_start = false;
        if !sample.valid {
            return;
        }
        self.latest.bandwidth = self.latest.bandwidth.max(sample.bandwidth);
        self.latest.inflight = self.latest.inflight.max(sample.delivered);
        // The first round ends with the first ACK of data sent after some was delivered.
        if ack.rate.prior_delivered >= self.latest.round_end.max(1) {
            self.latest.round_end = ack.delivered;
            self.latest.round_start = true;
        }
    }

    pub(super) fn update_congestion_signals(&mut self, ack: &AckSample, sample: &Sample) {
        if !sample.valid {
            return;
        }
        if !sample.app_limited || sample.bandwidth >= self.max_bandwidth() {
            self.max_bandwidth[1] = self.max_bandwidth[1].max(sample.bandwidth);
        }
        self.loss_in_round |= ack.lost > 0;
        if self.latest.round_start {
            self.adapt_lower_bounds();
            self.loss_in_round = false;
            self.ecn_in_round = false;
        }
    }

    /// Multiplies the bounds down after a round with loss or marks, but not below what the round
    /// delivered. While probing, congestion is expected and handled by the upper bound.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if self.is_probing_bandwidth() {
            return;
        }
        let mut marked = UNBOUNDED;
        if self.ecn_in_round {
            self.init_inflight();
            marked = self.ecn.cut(self.lower.inflight);
        }
        if self.loss_in_round {
            self.init_inflight();
            if self.lower.bandwidth == Bandwidth::MAX {
                self.lower.bandwidth = self.max_bandwidth();
            }
            let bandwidth = self.lower.bandwidth.scaled(LOSS_KEEP);
            self.lower.bandwidth = bandwidth.max(self.latest.bandwidth);
            let inflight = u64::from(self.lower.inflight) * u64::from(LOSS_KEEP);
            self.lower.inflight = ((inflight / u64::from(UNIT)) as u32).max(self.latest.inflight);
        }
        self.lower.inflight = self.lower.inflight.min(marked);
        self.lower.bandwidth = self.lower.bandwidth.max(Bandwidth::MIN);
    }

    fn init_inflight(&mut self) {
        if self.lower.inflight == UNBOUNDED {
            self.lower.inflight = self.cwnd;
        }
    }

    /// Resets congestion signals after probing.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.ecn_in_round = false;
        self.loss_in_cycle = false;
        self.ecn_in_cycle = false;
        self.latest.bandwidth = Bandwidth::ZERO;
        self.latest.inflight = 0;
    }
}
