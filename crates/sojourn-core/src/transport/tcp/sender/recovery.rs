//! The congestion state machine (Linux `tcp_fastretrans_alert`): Open, Disorder, CWR, Recovery,
//! Loss; entering and leaving reductions; undo by D-SACK, timestamps (Eifel, RFC 3522) and F-RTO
//! (RFC 5682).

use super::Sender;
use super::ack::{Ack, Losses};
use crate::cc::{AckSample, CaState, Event, INFINITE_SSTHRESH};
use crate::transport::recovery::prr::{Progress, Prr};
use crate::transport::recovery::rack::Outstanding as _;
use crate::transport::tcp::profile::{LossDetection, TimeoutWindow};
use crate::units::Time;

/// State of loss recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    pub state: CaState,
    /// The state ends when this segment is acknowledged.
    pub high_seq: u32,
    /// First unacknowledged segment when the reduction that may be undone began.
    pub undo_marker: Option<u32>,
    /// Retransmissions not yet reported needless; `None` before the first.
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
    /// Reordering was seen on this connection.
    pub reordering_seen: bool,
    /// A retransmission was lost since this was last asked.
    pub retransmission_lost: bool,
    /// End of the tail loss probe in flight.
    pub probe_end: Option<u32>,
    /// Whether that probe was a retransmission.
    pub probe_retransmitted: bool,
}

impl Recovery {
    /// D-SACKs reported so many retransmissions needless.
    pub fn retransmission_was_needless(&mut self, segments: u32) {
        if let Some(left) = &mut self.undo_retransmissions {
            *left = left.saturating_sub(segments);
        }
    }

    /// A retransmission was sent.
    pub fn on_retransmission(&mut self, now: Time) {
        *self.undo_retransmissions.get_or_insert(0) += 1;
        self.retransmitted_at.get_or_insert(now);
    }
}

impl Sender {
    /// An ACK that may change the state.
    pub(super) fn on_dubious_ack(&mut self, now: Time, ack: &mut Ack, prior_una: u32) {
        self.recovery.retransmission_lost = false;
        self.recovery.new_data_first = false;
        if ack.ece {
            self.recovery.undoable = false;
        }
        if self.leave_finished_state(now) {
            return;
        }
        match self.recovery.state {
            CaState::Recovery => self.on_ack_in_recovery(now, ack, prior_una),
            CaState::Loss => self.on_ack_in_loss(now, ack),
            _ => {
                self.try_undo_by_dsack(now);
                self.look_for_losses(now, ack);
                self.judge(now, ack);
            }
        }
        ack.retransmission_lost = self.recovery.retransmission_lost;
    }

    /// Ends a state whose high mark is acknowledged. True if nothing else is to be done.
    fn leave_finished_state(&mut self, now: Time) -> bool {
        if self.recovery.state == CaState::Open {
            self.recovery.retransmitted_at = None;
            return false;
        }
        let una = self.board.una();
        if una < self.recovery.high_seq {
            return false;
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
        false
    }

    fn on_ack_in_recovery(&mut self, now: Time, ack: &mut Ack, _prior_una: u32) {
        if ack.advanced && self.try_undo_partial(now) {
            return;
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

    /// Enters recovery if a loss is evident, else settles in the quiet state that fits.
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

    fn enter_state(&mut self, now: Time, state: CaState) {
        let quiet = |state| matches!(state, CaState::Open | CaState::Disorder);
        let recovered = !quiet(self.recovery.state) && quiet(state);
        self.recovery.state = state;
        if recovered {
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
    fn enter_cwr(&mut self, now: Time) {
        self.recovery.undoable = false;
        if matches!(self.recovery.state, CaState::Open | CaState::Disorder) {
            self.recovery.undo_marker = None;
            self.begin_reduction(now, Event::Ecn { in_flight: self.board.in_flight() });
            self.recovery.state = CaState::Cwr;
        }
    }

    /// Loss is evident: fast recovery begins (Linux `tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, now: Time, ece: bool) {
        self.recovery.undoable = false;
        self.init_undo();
        if !matches!(self.recovery.state, CaState::Cwr | CaState::Recovery) {
            self.recovery.undoable = !ece;
            self.begin_reduction(now, Event::Loss { in_flight: self.board.in_flight() });
        }
        self.recovery.state = CaState::Recovery;
        self.counters.recoveries += 1;
    }

    /// Chooses a new threshold and starts walking towards it (Linux `tcp_init_cwnd_reduction`).
    pub(super) fn begin_reduction(&mut self, now: Time, event: Event) {
        self.recovery.high_seq = self.board.next();
        self.recovery.probe_end = None;
        self.prr = Prr::begin(self.cwnd);
        self.cc.save();
        self.cc.on_congestion(now, &event);
        self.decision = self.cc.decision();
        self.cwr_due = true;
    }

    /// The reduction is complete: the window is the threshold (Linux `tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self, now: Time) {
        if self.decision.owns_recovery {
            return;
        }
        let cut = self.decision.ssthresh < INFINITE_SSTHRESH
            && (self.recovery.state == CaState::Cwr || self.recovery.undo_marker.is_some());
        if cut {
            self.cwnd = self.decision.ssthresh;
            self.usage.used_at = now;
        }
        self.cc.on_congestion(now, &Event::ReductionEnd { cwnd: self.cwnd });
        self.decision = self.cc.decision();
    }

    /// One ACK of a reduction (Linux `tcp_cwnd_reduction`).
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

    fn init_undo(&mut self) {
        self.recovery.undo_marker = Some(self.board.una());
        // Retransmissions in flight now could still be reported needless; so could the probe.
        let probe =
            u32::from(self.recovery.probe_end.is_some() && self.recovery.probe_retransmitted);
        let out = self.board.retrans_out() + probe;
        self.recovery.undo_retransmissions = (out > 0).then_some(out);
    }

    /// Whether every retransmission since the marker was needless, or the data acknowledged was
    /// sent before the first of them (Linux `tcp_may_undo`).
    fn may_undo(&self) -> bool {
        self.profile.undo
            && self.recovery.undo_marker.is_some()
            && (self.recovery.undo_retransmissions == Some(0)
                || self.echo_precedes_retransmission())
    }

    /// Timestamps are compared at their resolution of a millisecond.
    fn echo_precedes_retransmission(&self) -> bool {
        let ticks = |time: Time| time.as_nanos() / 1_000_000;
        self.recovery.retransmitted_at.is_some_and(|first| ticks(self.last_echo) < ticks(first))
    }

    fn undo_reduction(&mut self, now: Time, forget_losses: bool) {
        if forget_losses {
            self.board.clear_losses();
        }
        if self.recovery.undoable {
            self.cc.undo(now);
            self.decision = self.cc.decision();
            self.cwnd = self.decision.cwnd;
            self.cwr_due = false;
        }
        self.usage.used_at = now;
        self.recovery.undo_marker = None;
        self.rack.look_again();
    }

    fn try_undo_by_dsack(&mut self, now: Time) -> bool {
        let undo = self.profile.undo
            && self.recovery.undo_marker.is_some()
            && self.recovery.undo_retransmissions == Some(0);
        if undo {
            self.rack.on_undo();
            self.undo_reduction(now, false);
        }
        undo
    }

    /// A partial ACK for data sent before the first retransmission: reordering, not loss.
    fn try_undo_partial(&mut self, now: Time) -> bool {
        if !self.profile.undo
            || self.recovery.undo_marker.is_none()
            || !self.echo_precedes_retransmission()
        {
            return false;
        }
        let low = self.board.una();
        self.on_reordering(low);
        if self.board.retrans_out() > 0 {
            return true;
        }
        self.recovery.retransmitted_at = None;
        self.undo_reduction(now, true);
        self.keep_open(now);
        false
    }

    /// The episode's high mark is acknowledged (Linux `tcp_try_undo_recovery`).
    fn undo_recovery(&mut self, now: Time) {
        if self.may_undo() {
            self.undo_reduction(now, false);
        } else {
            self.rack.on_recovery_kept();
        }
        self.enter_state(now, CaState::Open);
    }

    fn try_undo_loss(&mut self, now: Time, by_frto: bool) -> bool {
        if !(by_frto || self.may_undo()) {
            return false;
        }
        self.undo_reduction(now, true);
        self.recovery.timeouts = 0;
        self.recovery.retransmitted_at = None;
        self.enter_state(now, CaState::Open);
        true
    }

    /// An ACK after a timeout (Linux `tcp_process_loss`; F-RTO's SACK-enhanced steps).
    fn process_loss(&mut self, now: Time, ack: &Ack) {
        let recovered = self.board.una() >= self.recovery.high_seq;
        if ack.advanced && self.try_undo_loss(now, false) {
            return;
        }
        if self.recovery.frto {
            // Step 3b: data never retransmitted was delivered, so not all was lost.
            if ack.original_delivered && self.try_undo_loss(now, true) {
                return;
            }
            if self.board.next() > self.recovery.high_seq {
                if ack.sacked > 0 || !ack.advanced {
                    self.recovery.frto = false;
                }
            } else if ack.advanced && !recovered {
                // Step 2b: try new data before retransmitting more.
                self.recovery.high_seq = self.board.next();
                if self.has_new_data() {
                    self.recovery.new_data_first = true;
                    return;
                }
                self.recovery.frto = false;
            }
        }
        if recovered {
            self.undo_recovery(now);
        }
    }

    /// The retransmission timer fired (Linux `tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, now: Time) {
        self.mark_all_lost(now);
        let state = self.recovery.state;
        let quiet = matches!(state, CaState::Open | CaState::Disorder);
        let new_episode = !matches!(state, CaState::Recovery | CaState::Loss);
        let reduce = quiet
            || self.recovery.high_seq <= self.board.una()
            || (state == CaState::Loss && self.recovery.timeouts == 0);
        if reduce {
            self.recovery.undoable = true;
            self.cc.save();
            self.init_undo();
        }
        let in_flight = self.board.in_flight();
        let cwnd = match self.profile.timeout_window {
            TimeoutWindow::One => 1,
            TimeoutWindow::InFlightPlusOne => in_flight + 1,
        };
        if quiet && self.board.sacked_out() >= self.reordering {
            self.reordering = self.reordering.min(self.profile.dupthresh);
        }
        self.counters.recoveries += u64::from(new_episode);
        self.recovery.frto = self.profile.frto && (new_episode || self.recovery.timeouts > 0);
        self.recovery.state = CaState::Loss;
        self.recovery.high_seq = self.board.next();
        self.recovery.probe_end = None;
        self.recovery.new_data_first = false;
        self.cwr_due = true;
        self.cc.on_congestion(now, &Event::Rto { in_flight, cwnd, reduce });
        self.consult();
    }

    /// Marks what is outstanding lost; with RACK, all but what was sent within the last RTT.
    fn mark_all_lost(&mut self, now: Time) {
        let by_time = self.profile.loss_detection == LossDetection::Rack;
        let una = self.board.una();
        let mut losses = Losses { now, delivery: &mut self.delivery, cc: &mut *self.cc };
        let mut cursor = self.board.oldest();
        while let Some(seq) = cursor {
            cursor = self.board.later(seq);
            let recent = by_time && !self.rack.overdue(now, self.board.sent_at(seq));
            if seq == una || !recent {
                losses.mark(&mut self.board, seq);
            }
        }
        self.counters.lost = u64::from(self.delivery.lost);
    }
}
