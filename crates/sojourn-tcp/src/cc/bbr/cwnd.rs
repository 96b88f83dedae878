//! The window: twice the bandwidth-delay product and some room, reached by slow start; packet
//! conservation in the first round of recovery.

use super::bandwidth::{Bandwidth, UNIT};
use super::{AckSample, Bbr, CaState, INITIAL_CWND, MIN_CWND, Mode, Version};
use crate::units::Span;

impl Bbr {
    /// The bandwidth-delay product times `gain`, with room for bursts at both ends.
    pub(super) fn inflight(&self, bandwidth: Bandwidth, gain: u32) -> u32 {
        self.quantized(self.bdp(bandwidth, gain), gain)
    }

    fn bdp(&self, bandwidth: Bandwidth, gain: u32) -> u32 {
        if self.min_rtt == Span::MAX { INITIAL_CWND } else { bandwidth.bdp(self.min_rtt, gain) }
    }

    fn quantized(&self, cwnd: u32, gain: u32) -> u32 {
        // One burst in the sender's queue, one in its offload engine, one in the receiver's.
        let cwnd = cwnd.saturating_add(3 * self.pacer.goal());
        let even = cwnd.saturating_add(1) & !1;
        let probing = match self.version {
            Version::Linux6 => self.phase == 0,
            Version::Linux49 => gain > UNIT,
        };
        // At small products the gain must still get more into flight.
        if self.mode == Mode::ProbeBw && probing { even.saturating_add(2) } else { even }
    }

    pub(super) fn save_cwnd(&mut self) {
        let undisturbed = !in_recovery(self.prev_state) && self.mode != Mode::ProbeRtt;
        let floor = if undisturbed { 0 } else { self.prior_cwnd };
        self.prior_cwnd = self.cwnd.max(floor);
    }

    pub(super) fn set_cwnd(&mut self, ack: &AckSample) {
        if ack.acked > 0 && !self.recover_or_restore(ack) {
            self.cwnd = self.toward_target(ack);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_CWND);
        }
    }

    fn toward_target(&self, ack: &AckSample) -> u32 {
        let bandwidth = self.bandwidth();
        let mut target = self.bdp(bandwidth, self.cwnd_gain);
        if self.version == Version::Linux6 && self.full_pipe.reached() {
            target = target.saturating_add(self.aggregation.room(bandwidth));
        }
        let target = self.quantized(target, self.cwnd_gain);
        let grown = self.cwnd.saturating_add(ack.acked);
        let cwnd = if self.full_pipe.reached() {
            grown.min(target)
        } else if self.cwnd < target || ack.delivered < u64::from(INITIAL_CWND) {
            grown
        } else {
            self.cwnd
        };
        cwnd.max(MIN_CWND)
    }

    /// Subtracts losses from the window; starts packet conservation on entering recovery and
    /// restores the window on leaving it. Returns whether packets are conserved: then the window is
    /// set.
    fn recover_or_restore(&mut self, ack: &AckSample) -> bool {
        let (previous, state) = (self.prev_state, ack.state);
        self.prev_state = state;
        if ack.lost > 0 {
            self.cwnd = self.cwnd.saturating_sub(ack.lost).max(1);
        }
        let conserved = ack.in_flight + ack.acked;
        if state == CaState::Recovery && previous != CaState::Recovery {
            self.packet_conservation = true;
            self.next_round = ack.delivered;
            self.cwnd = conserved;
        } else if in_recovery(previous) && !in_recovery(state) {
            self.packet_conservation = false;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(conserved);
        }
        self.packet_conservation
    }
}

/// Whether `state` is one in which losses are being repaired.
fn in_recovery(state: CaState) -> bool {
    matches!(state, CaState::Recovery | CaState::Loss)
}
