//! RACK: loss detection by time of transmission (RFC 8985; Linux `net/ipv4/tcp_recovery.c`).
//!
//! A segment is lost when one sent later has been delivered and the reordering window has passed.
//! As in Linux, the window is zero in recovery, and before it once as many segments are SACKed as
//! the degree of reordering, as long as no reordering was seen; DSACKs widen it by steps of a
//! quarter of the minimum RTT for 16 recoveries.

use std::collections::VecDeque;

use super::scoreboard::{Marks, Scoreboard, Segment};
use crate::units::{Span, Time};

/// Recoveries for which a widened reordering window is kept (`TCP_RACK_RECOVERY_THRESH`).
const PERSISTENCE: u8 = 16;

/// RACK's state.
#[derive(Clone, Copy, Debug)]
pub struct Rack {
    /// Most recently sent segment known to be delivered: when it was sent, and its number.
    newest: (Time, u32),
    rtt: Span,
    /// Whether something was delivered since losses were last looked for.
    advanced: bool,
    /// Whether reordering has been seen on this connection.
    reordering_seen: bool,
    steps: u8,
    persist: u8,
    dsack_seen: bool,
    last_adjusted: u32,
}

/// What the reordering window depends on besides RACK's own state.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// In fast recovery or after a timeout.
    pub recovering: bool,
    /// Present degree of reordering in segments.
    pub reordering: u32,
    /// Minimum RTT.
    pub min_rtt: Span,
    /// Smoothed RTT.
    pub srtt: Span,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            newest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            advanced: false,
            reordering_seen: false,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            last_adjusted: 0,
        }
    }
}

impl Rack {
    /// A segment was delivered for the first time.
    #[inline]
    pub fn on_delivered(&mut self, now: Time, seq: u32, segment: &Segment, min_rtt: Span) {
        let sent_at = segment.snapshot.sent_at;
        let rtt = now.since(sent_at);
        // Too fast for the retransmission: this acknowledges the original.
        if rtt < min_rtt && segment.marks.has(Marks::EVER_RETRANSMITTED) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (sent_at, seq) > self.newest {
            self.newest = (sent_at, seq);
        }
    }

    /// A segment never retransmitted was delivered after one sent later: reordering.
    pub fn on_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// A duplicate SACK arrived: a retransmission was unnecessary.
    pub fn on_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// A recovery ended without being undone.
    pub fn on_recovery_kept(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was undone by DSACKs: keep the wide window longer.
    pub fn on_undo(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTENCE);
    }

    /// Losses are to be looked for again although nothing new was delivered.
    pub fn look_again(&mut self) {
        self.advanced = true;
    }

    /// Adapts the reordering window, at most once per round trip. `prior_delivered` is the
    /// delivery count at the sending of the segment that this ACK sampled.
    pub fn adapt(&mut self, prior_delivered: Option<u32>, delivered: u32) {
        let Some(prior) = prior_delivered.filter(|&prior| prior > 0) else { return };
        if prior < self.last_adjusted {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = self.steps.saturating_add(1);
            self.dsack_seen = false;
            self.last_adjusted = delivered;
            self.persist = PERSISTENCE;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// The reordering window.
    pub fn window(&self, board: &Scoreboard, situation: Situation) -> Span {
        if !self.reordering_seen
            && (situation.recovering || board.sacked_out() >= situation.reordering)
        {
            return Span::ZERO;
        }
        let quarter = Span::from_nanos(situation.min_rtt.as_nanos() / 4);
        (quarter * u64::from(self.steps)).min(situation.srtt)
    }

    /// Time until `segment` must be judged lost; zero if it is.
    #[inline]
    fn remaining(&self, now: Time, segment: &Segment, window: Span) -> Span {
        (segment.snapshot.sent_at + self.rtt + window).since(now)
    }

    /// Whether an open segment has been out for longer than the last delivered one took.
    pub fn overdue(&self, now: Time, segment: &Segment) -> bool {
        self.remaining(now, segment, Span::ZERO) == Span::ZERO
    }

    /// Looks for losses if anything was delivered; calls `on_lost` with each lost segment's number.
    /// Returns how long to wait before looking again, if there are candidates.
    pub fn detect(
        &mut self,
        now: Time,
        board: &mut Scoreboard,
        situation: Situation,
        mut on_lost: impl FnMut(&mut Scoreboard, u32),
    ) -> Option<Span> {
        if !std::mem::take(&mut self.advanced) {
            return None;
        }
        let window = self.window(board, situation);
        let mut wait: Option<Span> = None;
        let mut cursor = board.oldest();
        while let Some(seq) = cursor {
            let segment = board.segment(seq);
            if (segment.snapshot.sent_at, seq) >= self.newest {
                break;
            }
            cursor = board.later(seq);
            match self.remaining(now, segment, window) {
                Span::ZERO => on_lost(board, seq),
                left => wait = wait.max(Some(left)),
            }
        }
        wait
    }

    /// As [`Rack::detect`], but judges retransmissions only. `sent` lists them in the order of
    /// transmission; those whose fate is known are taken out.
    pub fn detect_retransmissions(
        &mut self,
        now: Time,
        board: &mut Scoreboard,
        situation: Situation,
        sent: &mut VecDeque<(Time, u32)>,
        mut on_lost: impl FnMut(&mut Scoreboard, u32),
    ) {
        if !std::mem::take(&mut self.advanced) {
            return;
        }
        let window = self.window(board, situation);
        while let Some(&(sent_at, seq)) = sent.front() {
            if board.retransmission_in_flight(seq, sent_at) {
                let left = self.remaining(now, board.segment(seq), window);
                if (sent_at, seq) >= self.newest || left > Span::ZERO {
                    break;
                }
                on_lost(board, seq);
            }
            sent.pop_front();
        }
    }
}
