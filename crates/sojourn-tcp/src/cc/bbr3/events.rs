//! Effects of recovery, timeout and idle periods.

use super::super::bbr::bandwidth::{Bandwidth, UNIT};
use super::{Bbr3, CaState, Mode, UNBOUNDED};
use crate::units::Time;

impl Bbr3 {
    /// Loss recovery begins: saves what undo needs.
    pub(super) fn enter_recovery(&mut self) {
        self.save_cwnd();
        self.undo_lower = self.lower;
        self.undo_inflight_hi = self.inflight_hi;
    }

    pub(super) fn on_timeout(&mut self, cwnd: u32) {
        self.cwnd = cwnd;
        self.prev_state = CaState::Loss;
        self.full.restart(Bandwidth::ZERO);
        if !self.is_probing_bandwidth() && self.lower.inflight == UNBOUNDED {
            self.lower.inflight = cwnd.max(self.prior_cwnd);
        }
    }

    pub(super) fn restart_after_idle(&mut self, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => self.pace(UNIT),
            Mode::ProbeRtt => self.check_probe_rtt_done(now),
            _ => {}
        }
    }
}
