//! Undo of reductions found spurious, by D-SACK and timestamps (Eifel, RFC 3522; Linux
//! `tcp_try_undo_*`).

use super::Sender;
use crate::cc::{CaState, Step};
use crate::units::Time;

impl Sender {
    pub(super) fn init_undo(&mut self) {
        self.recovery.undo_marker = Some(self.board.una());
        // Retransmissions in flight now could still be reported as unnecessary; so could the probe.
        let probe =
            u32::from(self.recovery.probe_end.is_some() && self.recovery.probe_retransmitted);
        let out = self.board.retrans_out() + probe;
        self.recovery.undo_retransmissions = (out > 0).then_some(out);
    }

    /// Whether every retransmission since the marker was unnecessary, or the data acknowledged was
    /// sent before the first of them (Linux `tcp_may_undo`).
    pub(super) fn may_undo(&self) -> bool {
        self.profile.undo
            && self.recovery.undo_marker.is_some()
            && (self.recovery.undo_retransmissions == Some(0)
                || self.echo_precedes_retransmission())
    }

    /// Timestamps are compared at their resolution.
    fn echo_precedes_retransmission(&self) -> bool {
        let echo = self.timestamp(self.last_echo);
        self.recovery.retransmitted_at.is_some_and(|first| echo < self.timestamp(first))
    }

    /// A time at the resolution of timestamps, in their ticks.
    pub(super) fn timestamp(&self, time: Time) -> u64 {
        time.as_nanos() / self.profile.timestamp.as_nanos()
    }

    fn undo_reduction(&mut self, now: Time, forget_losses: bool) {
        if forget_losses {
            self.board.clear_losses();
        }
        if self.recovery.undoable {
            self.show(now, &Step::Callback);
            self.cc.undo(now);
            self.decision = self.cc.decision();
            self.cwnd = self.decision.cwnd;
            self.cwr_due = false;
        }
        self.usage.used_at = now;
        self.recovery.undo_marker = None;
        self.rack.look_again();
    }

    pub(super) fn try_undo_by_dsack(&mut self, now: Time) -> bool {
        let undo = self.profile.undo
            && self.recovery.undo_marker.is_some()
            && self.recovery.undo_retransmissions == Some(0);
        if undo {
            self.rack.on_undo();
            self.undo_reduction(now, false);
        }
        undo
    }

    /// A partial ACK for data sent before the first retransmission: reordering, not loss. What was the first
    /// outstanding segment before it is the late one.
    pub(super) fn try_undo_partial(&mut self, now: Time, prior_una: u32) -> bool {
        if !self.profile.undo
            || self.recovery.undo_marker.is_none()
            || !self.echo_precedes_retransmission()
        {
            return false;
        }
        self.on_reordering(prior_una);
        if self.board.retrans_out() > 0 {
            return true;
        }
        self.recovery.retransmitted_at = None;
        self.undo_reduction(now, true);
        self.keep_open(now);
        false
    }

    /// The episode's high mark is acknowledged (Linux `tcp_try_undo_recovery`).
    pub(super) fn undo_recovery(&mut self, now: Time) {
        if self.may_undo() {
            self.undo_reduction(now, false);
        } else {
            self.rack.on_recovery_kept();
        }
        self.enter_state(now, CaState::Open);
        self.recovery.reneged = false;
    }

    pub(super) fn try_undo_loss(&mut self, now: Time, by_frto: bool) -> bool {
        if !(by_frto || self.may_undo()) {
            return false;
        }
        self.undo_reduction(now, true);
        self.recovery.timeouts = 0;
        self.recovery.reneged = false;
        self.recovery.retransmitted_at = None;
        self.enter_state(now, CaState::Open);
        true
    }
}
