//! The congestion state machine (Linux `tcp_fastretrans_alert`): Open, Disorder, CWR, Recovery,
//! Loss; entering and leaving reductions.

use super::Sender;
use super::ack::Ack;
use crate::cc::{AckSample, CaState, Event, INFINITE_SSTHRESH, Step};
use crate::recovery::prr::{Progress, Prr};
use crate::units::Time;

/// State of loss recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    pub state: CaState,
    /// The state ends when this segment is acknowledged.
    pub high_seq: u32,
    /// First unacknowledged segment when the reduction that may be undone began.
    pub undo_marker: Option<u32>,
    /// Retransmissions not yet reported as unnecessary; `None` before the first.
    pub undo_retransmissions: Option<u32>,
    /// When the first retransmission of the episode was sent.
    pub retransmitted_at: Option<Time>,
    /// Whether the reduction in force may be undone (a mark's may not).
    pub undoable: bool,
    /// F-RTO: the timeout may have been spurious.
    pub frto: bool,
    /// Send new data before retransmitting more (F-RTO step 2b).
    pub new_data_first: bool,
    /// Timeouts since the last advance.
    pub timeouts: u32,
    /// A partial ACK came in this recovery.
    pub partial: bool,
    /// The receiver has reneged on SACKs; set until this loss is recovered.
    pub reneged: bool,
    /// Reordering was observed on this connection.
    pub reordering_seen: bool,
    /// A retransmission was lost since this was last read.
    pub retransmission_lost: bool,
    /// End of the tail loss probe in flight.
    pub probe_end: Option<u32>,
    /// Whether that probe was a retransmission.
    pub probe_retransmitted: bool,
}

impl Recovery {
    /// D-SACKs reported this number of retransmissions as unnecessary.
    pub(super) fn retransmission_was_needless(&mut self, segments: u32) {
        if let Some(left) = &mut self.undo_retransmissions {
            *left = left.saturating_sub(segments);
        }
    }

    /// A retransmission was sent.
    pub(super) fn on_retransmission(&mut self, now: Time) {
        *self.undo_retransmissions.get_or_insert(0) += 1;
        self.retransmitted_at.get_or_insert(now);
    }
}

impl Sender {
    /// The threshold that an undo or a restart keeps (`tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self) -> u32 {
        if self.in_reduction() {
            self.decision.ssthresh
        } else {
            self.decision.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
        }
    }

    /// An ACK that may change the state.
    pub(super) fn on_dubious_ack(&mut self, now: Time, ack: &mut Ack) {
        self.recovery.retransmission_lost = false;
        self.recovery.new_data_first = false;
        if ack.ece {
            self.recovery.undoable = false;
        }
        if ack.advanced && self.board.head_is_sacked() {
            self.hurry_timeout(now);
            ack.rearm = false;
            return;
        }
        self.leave_finished_state(now);
        match self.recovery.state {
            CaState::Recovery => self.on_ack_in_recovery(now, ack),
            CaState::Loss => self.on_ack_in_loss(now, ack),
            _ => {
                self.try_undo_by_dsack(now);
                self.look_for_losses(now, ack);
                self.judge(now, ack);
            }
        }
        ack.retransmission_lost = self.recovery.retransmission_lost;
    }

    /// Ends a state whose high mark is acknowledged.
    fn leave_finished_state(&mut self, now: Time) {
        if self.recovery.state == CaState::Open {
            self.recovery.retransmitted_at = None;
            return;
        }
        let una = self.board.una();
        if una < self.recovery.high_seq {
            return;
        }
        match self.recovery.state {
            CaState::Cwr if una != self.recovery.high_seq => {
                self.end_reduction(now);
                self.enter_state(now, CaState::Open);
            }
            CaState::Recovery => {
                // The window first takes its end value, an undo then restores the former one.
                let undone = self.may_undo();
                if !undone {
                    self.end_reduction(now);
                }
                self.undo_recovery(now);
            }
            _ => {}
        }
    }

    fn on_ack_in_recovery(&mut self, now: Time, ack: &mut Ack) {
        if ack.advanced {
            let later = std::mem::replace(&mut self.recovery.partial, true);
            ack.rearm &= self.profile.patient || !later;
            if self.try_undo_partial(now, ack.prior_una) {
                return;
            }
        }
        if self.try_undo_by_dsack(now) {
            self.try_to_open(now, ack);
        }
        self.look_for_losses(now, ack);
        if self.recovery.state != CaState::Recovery {
            self.judge(now, ack);
        }
    }

    fn on_ack_in_loss(&mut self, now: Time, ack: &mut Ack) {
        self.process_loss(now, ack);
        self.look_for_losses(now, ack);
        if self.recovery.state == CaState::Open || self.recovery.retransmission_lost {
            self.judge(now, ack);
        }
    }

    /// Enters recovery if a loss is evident, else the state Open, Disorder or CWR that applies.
    fn judge(&mut self, now: Time, ack: &Ack) {
        if self.board.lost_out() > 0 {
            self.enter_recovery(now, ack.ece);
        } else {
            self.try_to_open(now, ack);
        }
    }

    fn look_for_losses(&mut self, now: Time, ack: &mut Ack) {
        if let Some(wait) = self.detect_losses(now) {
            self.arm_reordering(now, wait);
            ack.rearm = false;
        }
    }

    pub(super) fn enter_state(&mut self, now: Time, state: CaState) {
        let quiet = |state| matches!(state, CaState::Open | CaState::Disorder);
        let recovered = !quiet(self.recovery.state) && quiet(state);
        self.set_state(now, state);
        if recovered {
            self.show(now, &Step::Callback);
            self.cc.on_congestion(now, &Event::Recovered);
            self.consult();
        }
    }

    /// Reacts to an echo by a reduction, else keeps the state Open or Disorder.
    fn try_to_open(&mut self, now: Time, ack: &Ack) {
        if self.board.retrans_out() == 0 {
            self.recovery.retransmitted_at = None;
        }
        if ack.ece {
            self.enter_cwr(now);
        }
        if self.recovery.state != CaState::Cwr {
            self.keep_open(now);
        }
    }

    pub(super) fn keep_open(&mut self, now: Time) {
        let disturbed =
            self.board.sacked_out() + self.board.lost_out() > 0 || self.board.retrans_out() > 0;
        let state = if disturbed { CaState::Disorder } else { CaState::Open };
        if state != self.recovery.state {
            self.enter_state(now, state);
            self.recovery.high_seq = self.board.next();
        }
    }

    /// An ECN echo begins a reduction, once per round (Linux `tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self, now: Time) {
        self.recovery.undoable = false;
        if matches!(self.recovery.state, CaState::Open | CaState::Disorder) {
            self.recovery.undo_marker = None;
            self.begin_reduction(now, Event::Ecn { in_flight: self.board.in_flight() });
            self.set_state(now, CaState::Cwr);
        }
    }

    /// Loss is evident: fast recovery begins (Linux `tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, now: Time, ece: bool) {
        self.recovery.undoable = false;
        self.recovery.partial = false;
        self.init_undo();
        if !matches!(self.recovery.state, CaState::Cwr | CaState::Recovery) {
            self.recovery.undoable = !ece;
            self.begin_reduction(now, Event::Loss { in_flight: self.board.in_flight() });
        }
        self.set_state(now, CaState::Recovery);
        self.counters.recovery.recoveries += 1;
    }

    /// Chooses a new threshold and starts reducing the window towards it (Linux
    /// `tcp_init_cwnd_reduction`).
    pub(super) fn begin_reduction(&mut self, now: Time, event: Event) {
        self.recovery.high_seq = self.board.next();
        self.recovery.probe_end = None;
        self.prr = Prr::begin(self.cwnd);
        self.show(now, &Step::Callback);
        self.cc.save();
        self.cc.on_congestion(now, &event);
        self.decision = self.cc.decision();
        self.cwr_due = true;
    }

    /// The reduction is complete: the window is the threshold (Linux `tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self, now: Time) {
        self.board.fit();
        if self.decision.owns_recovery {
            return;
        }
        let cut = self.decision.ssthresh < INFINITE_SSTHRESH
            && (self.recovery.state == CaState::Cwr || self.recovery.undo_marker.is_some());
        if cut {
            self.cwnd = self.decision.ssthresh;
            self.usage.used_at = now;
        }
        self.show(now, &Step::Callback);
        self.cc.on_congestion(now, &Event::ReductionEnd { cwnd: self.cwnd });
        self.decision = self.cc.decision();
        self.cwnd = self.decision.cwnd.max(1);
    }

    /// One ACK of a reduction (Linux `tcp_cwnd_reduction`).
    #[inline(never)] // only in a reduction
    pub(super) fn reduce(&mut self, ack: &Ack, sample: &AckSample) {
        let progress = Progress {
            delivered: sample.acked,
            lost: sample.lost,
            advanced: ack.advanced,
            retransmission_delivered: ack.retransmission_acked,
            retransmission_lost: ack.retransmission_lost,
        };
        let in_flight = self.board.in_flight();
        let (bound, ssthresh) = (self.profile.prr, self.decision.ssthresh);
        if let Some(cwnd) = self.prr.on_ack(bound, ssthresh, in_flight, progress) {
            self.cwnd = cwnd.max(1);
        }
    }
}
