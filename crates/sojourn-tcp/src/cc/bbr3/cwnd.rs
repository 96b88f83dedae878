//! The window: towards the gain times the bandwidth-delay product, within the bounds.

use super::super::bbr::bandwidth::{Bandwidth, UNIT};
use super::phase::Phase;
use super::{AckSample, Bbr3, CaState, MIN_CWND, Mode};
use crate::units::Span;

impl Bbr3 {
    pub(super) fn bdp(&self, bandwidth: Bandwidth, gain: u32) -> u32 {
        if self.min_rtt == Span::MAX {
            self.initial_cwnd
        } else {
            bandwidth.bdp(self.min_rtt, gain)
        }
    }

    /// The bandwidth-delay product times `gain`, with room for bursts.
    pub(super) fn inflight(&self, bandwidth: Bandwidth, gain: u32) -> u32 {
        self.quantized(self.bdp(bandwidth, gain))
    }

    fn quantized(&self, cwnd: u32) -> u32 {
        let cwnd = cwnd.max(3 * self.pacer.goal()).max(MIN_CWND);
        let up = self.mode == Mode::ProbeBw && self.phase == Phase::Up;
        if up { cwnd.saturating_add(2) } else { cwnd }
    }

    /// Segments in the network at the next departure, of those in flight.
    pub(super) fn in_network(&self, ack: &AckSample, in_flight: u32) -> u32 {
        let growing = self.pacing_gain > UNIT;
        self.pacer.in_network(ack.departs_in, in_flight, self.bandwidth(), growing)
    }

    pub(super) fn save_cwnd(&mut self) {
        let repairing = matches!(self.prev_state, CaState::Recovery | CaState::Loss);
        let floor = if repairing || self.mode == Mode::ProbeRtt { self.prior_cwnd } else { 0 };
        self.prior_cwnd = self.cwnd.max(floor);
    }

    pub(super) fn set_cwnd(&mut self, ack: &AckSample) {
        if ack.acked > 0 {
            self.cwnd = self.toward_target(ack.acked);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.cwnd = self.cwnd.min(self.bound());
    }

    fn toward_target(&self, acked: u32) -> u32 {
        let bandwidth = self.bandwidth();
        let product = self.bdp(bandwidth, self.cwnd_gain);
        let target = self.quantized(product.saturating_add(self.aggregation.room(bandwidth)));
        let grown = self.cwnd.saturating_add(acked);
        let cwnd = if self.full.reached {
            grown.min(target)
        } else if self.cwnd < target || self.cwnd < 2 * self.initial_cwnd {
            grown
        } else {
            self.cwnd
        };
        cwnd.max(MIN_CWND)
    }

    /// The bound of the model on the window in this phase.
    fn bound(&self) -> u32 {
        let upper = match (self.mode, self.phase) {
            (Mode::ProbeRtt, _) | (Mode::ProbeBw, Phase::Cruise) => self.inflight_with_headroom(),
            (Mode::ProbeBw, _) => self.inflight_hi,
            _ => u32::MAX,
        };
        upper.min(self.lower.inflight).max(MIN_CWND)
    }
}
