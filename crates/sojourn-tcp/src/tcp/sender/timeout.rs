//! The state after a retransmission timeout, and whether that was spurious (F-RTO, RFC 5682).

use super::Sender;
use super::ack::Ack;
use crate::cc::{CaState, Event, Step};
use crate::tcp::profile::TimeoutWindow;
use crate::units::Time;

impl Sender {
    /// An ACK after a timeout (Linux `tcp_process_loss`; F-RTO's SACK-enhanced steps).
    pub(super) fn process_loss(&mut self, now: Time, ack: &Ack) {
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
        self.counters.recovery.recoveries += u64::from(new_episode);
        self.recovery.frto = self.profile.frto && (new_episode || self.recovery.timeouts > 0);
        self.show(now, &Step::Callback);
        self.recovery.state = CaState::Loss;
        self.recovery.high_seq = self.board.next();
        self.recovery.probe_end = None;
        self.recovery.new_data_first = false;
        self.cwr_due = true;
        self.cc.on_congestion(now, &Event::Rto { in_flight, cwnd, reduce });
        self.consult();
    }
}
