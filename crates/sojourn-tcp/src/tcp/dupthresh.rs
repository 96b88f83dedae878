//! Loss detection by counting the segments SACKed above a segment.
//!
//! - FACK (Linux 4.4 to 4.14): every segment more than `reordering` below the highest SACKed one.
//! - RFC 6675: every segment with at least `dupthresh` SACKed segments above it.
//!
//! Both use a frontier that only moves up within a window, so that each segment is examined once.
//! Retransmissions are not examined here (Linux detects their loss by time, see `rack`).

use super::scoreboard::{Marks, Scoreboard};

/// The frontier: all segments below it have been examined.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frontier {
    at: u32,
    /// SACKed segments at or above the frontier are `sacked_out - sacked_below`.
    sacked_below: u32,
}

impl Frontier {
    /// A segment was SACKed.
    #[inline]
    pub(super) fn on_sacked(&mut self, seq: u32) {
        if seq < self.at {
            self.sacked_below += 1;
        }
    }

    /// A segment was cumulatively acknowledged.
    #[inline]
    pub(super) fn on_acked(&mut self, seq: u32, sacked: bool) {
        if seq < self.at && sacked {
            self.sacked_below -= 1;
        }
    }

    /// Detects losses by FACK: calls `on_lost` for each segment below
    /// `highest SACKed - reordering`.
    pub(super) fn fack(
        &mut self,
        board: &mut Scoreboard,
        reordering: u32,
        on_lost: impl FnMut(&mut Scoreboard, u32),
    ) {
        let limit = board.highest_sacked().saturating_sub(reordering);
        self.advance(board, |board, seq, _| seq < limit.min(board.next()), on_lost);
    }

    /// Detects losses by RFC 6675: calls `on_lost` for each segment with `dupthresh` SACKed above
    /// it.
    pub(super) fn sack(
        &mut self,
        board: &mut Scoreboard,
        dupthresh: u32,
        on_lost: impl FnMut(&mut Scoreboard, u32),
    ) {
        let enough = |board: &Scoreboard, _: u32, sacked_below: u32| {
            board.sacked_out() - sacked_below >= dupthresh
        };
        self.advance(board, enough, on_lost);
    }

    /// Moves the frontier up while `passes` holds.
    fn advance(
        &mut self,
        board: &mut Scoreboard,
        passes: impl Fn(&Scoreboard, u32, u32) -> bool,
        mut on_lost: impl FnMut(&mut Scoreboard, u32),
    ) {
        if self.at < board.una() {
            self.at = board.una();
            self.sacked_below = 0;
        }
        while self.at < board.highest_sacked() && passes(board, self.at, self.sacked_below) {
            let marks = board.segment(self.at).marks;
            if marks.has(Marks::SACKED) {
                self.sacked_below += 1;
            } else if !marks.has(Marks::LOST) && !marks.has(Marks::RETRANSMITTED) {
                on_lost(board, self.at);
            }
            self.at += 1;
        }
    }
}
