//! Detection of lost segments (Linux `tcp_identify_packet_loss`, `tcp_update_scoreboard`,
//! `tcp_timeout_mark_lost`).

use super::Sender;
use crate::cc::{CaState, CongestionControl, Lost};
use crate::recovery::rack::{Outstanding as _, Situation};
use crate::recovery::rate::Delivery;
use crate::tcp::dupthresh::Frontier;
use crate::tcp::profile::LossDetection;
use crate::tcp::scoreboard::{Marks, Scoreboard, Segment};
use crate::units::{Span, Time};

impl Sender {
    /// Reordering was observed (Linux `tcp_check_sack_reordering`): the degree grows to its extent.
    pub(super) fn on_reordering(&mut self, low: u32) {
        /// `tcp_max_reordering`.
        const MAX: u32 = 300;
        let extent = self.board.highest_sacked().saturating_sub(low);
        if extent > self.reordering {
            self.reordering = extent.min(MAX);
        }
        self.rack.on_reordering();
        self.recovery.reordering_seen = true;
    }

    /// Detects losses by the profile's method (Linux `tcp_identify_packet_loss` and
    /// `tcp_update_scoreboard`). Returns the time until the next detection.
    pub(super) fn detect_losses(&mut self, now: Time) -> Option<Span> {
        let recovering = matches!(self.recovery.state, CaState::Recovery | CaState::Loss);
        let situation = Situation {
            evident: recovering || self.board.sacked_out() >= self.reordering,
            min_rtt: self.rtt.min_rtt(),
            srtt: self.rtt.srtt(),
        };
        let window = match self.profile.loss_detection {
            LossDetection::ReorderingTolerant => self.rtt.srtt() + self.rtt.rttvar(),
            LossDetection::Rack | LossDetection::Fack | LossDetection::Sack => {
                self.rack.window(situation)
            }
        };
        let before = self.board.retrans_out();
        let mut losses = Losses { now, delivery: &mut self.delivery, cc: &mut *self.cc };
        let board = &mut self.board;
        let wait = match self.profile.loss_detection {
            LossDetection::Rack | LossDetection::ReorderingTolerant => {
                self.rack.detect(now, board, window, |board, seq| losses.mark(board, seq))
            }
            LossDetection::Fack | LossDetection::Sack => {
                let by_fack = self.profile.loss_detection == LossDetection::Fack;
                let mut mark = |board: &mut Scoreboard, seq| losses.mark(board, seq);
                if by_fack && !self.recovery.reordering_seen {
                    self.frontier.fack(board, self.reordering, &mut mark);
                } else {
                    self.frontier.sack(board, self.reordering, &mut mark);
                }
                if by_fack && recovering {
                    self.rack.detect_sent_before(board, situation.min_rtt, mark);
                }
                None
            }
        };
        self.counters.recovery.lost = u64::from(self.delivery.lost);
        self.recovery.retransmission_lost |= self.board.retrans_out() < before;
        wait
    }

    /// Marks all outstanding segments lost; with RACK, all but those sent within the last RTT. A
    /// receiver whose next segment was SACKed has lost it since, and perhaps all others (Linux
    /// `tcp_timeout_mark_lost`).
    pub(super) fn mark_all_lost(&mut self, now: Time) {
        let by_time = self.profile.loss_detection.spares_recent();
        let una = self.board.una();
        let reneged = self.board.head_is_sacked();
        if reneged {
            self.board.forget_sacks();
            self.frontier = Frontier::default();
            self.recovery.reneged = true;
        }
        let mut losses = Losses { now, delivery: &mut self.delivery, cc: &mut *self.cc };
        let mut cursor = self.board.oldest();
        while let Some(seq) = cursor {
            cursor = self.board.later(seq);
            let recent = by_time && !reneged && !self.rack.overdue(now, self.board.sent_at(seq));
            if seq == una || !recent {
                losses.mark(&mut self.board, seq);
            }
        }
        self.counters.recovery.lost = u64::from(self.delivery.lost);
    }
}

/// Marks segments lost, counts them and reports them to the control.
struct Losses<'a> {
    now: Time,
    delivery: &'a mut Delivery,
    cc: &'a mut dyn CongestionControl,
}

impl Losses<'_> {
    fn mark(&mut self, board: &mut Scoreboard, seq: u32) {
        let Segment { snapshot, marks, .. } = *board.segment(seq);
        board.mark_lost(seq);
        self.delivery.lost += 1;
        let lost = Lost {
            seq,
            tx_in_flight: snapshot.in_flight,
            prior_delivered: u64::from(snapshot.delivered),
            prior_lost: u64::from(snapshot.lost),
            total_lost: u64::from(self.delivery.lost),
            app_limited: marks.has(Marks::APP_LIMITED),
        };
        self.cc.on_packet_lost(self.now, &lost);
    }
}
