//! STARTUP and DRAIN: detection of the bandwidth plateau, of excessive loss, and of the drained
//! queue.

use super::super::bbr::bandwidth::{Bandwidth, UNIT};
use super::{AckSample, Bbr3, CaState, Mode, Sample};
use crate::units::Time;

const GROWTH: u32 = UNIT * 5 / 4;
const ROUNDS: u32 = 3;
/// Loss events in a round that end STARTUP if the loss rate is excessive as well.
const LOSS_EVENTS: u32 = 6;

/// Looks for a plateau: three rounds without 25 % more bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBandwidth {
    bandwidth: Bandwidth,
    rounds: u32,
    loss_events: u32,
    /// Whether there is a plateau now.
    pub now: bool,
    /// Whether the pipe has ever been full.
    pub reached: bool,
}

impl FullBandwidth {
    /// Looks for a plateau above `bandwidth` from now on.
    pub(super) fn restart(&mut self, bandwidth: Bandwidth) {
        self.bandwidth = bandwidth;
        self.rounds = 0;
        self.now = false;
    }

    /// Processes a sample.
    pub(super) fn update(&mut self, sample: &Sample, round_start: bool) {
        if self.now || sample.app_limited {
            return;
        }
        if sample.bandwidth >= self.bandwidth.scaled(GROWTH) {
            self.restart(sample.bandwidth);
        } else if round_start {
            self.rounds += 1;
            self.now = self.rounds >= ROUNDS;
            self.reached |= self.now;
        }
    }
}

impl Bbr3 {
    pub(super) fn queue_too_long_in_startup(&mut self) {
        self.full.reached = true;
        let product = self.inflight(self.max_bandwidth(), UNIT);
        self.inflight_hi = product.max(self.latest.inflight);
    }

    pub(super) fn check_startup_loss(&mut self, ack: &AckSample, sample: &Sample) {
        if self.full.reached {
            return;
        }
        if ack.lost > 0 {
            self.full.loss_events += 1;
        }
        if !self.latest.round_start {
            return;
        }
        if ack.state == CaState::Recovery
            && self.full.loss_events >= LOSS_EVENTS
            && self.is_too_high(&sample.evidence)
        {
            self.queue_too_long_in_startup();
        } else {
            self.full.loss_events = 0;
        }
    }

    pub(super) fn check_drain(&mut self, now: Time, ack: &AckSample) {
        if !matches!(self.mode, Mode::Startup | Mode::Drain) {
            return;
        }
        let product = self.inflight(self.max_bandwidth(), UNIT);
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
            self.ssthresh = product;
            self.reset_congestion_signals();
        }
        if self.mode == Mode::Drain && self.in_network(ack, ack.in_flight) <= product {
            self.mode = Mode::ProbeBw;
            self.start_down(now);
        }
    }
}
