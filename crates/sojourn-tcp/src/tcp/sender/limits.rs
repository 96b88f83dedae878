//! Limits of sending, and the time spent in each (Linux `tcp_chrono_start`: the busy time of
//! `TCP_INFO` with its `rwnd_limited` and `sndbuf_limited`, here subdivided further).
//!
//! The limit is determined whenever sending ends, and holds until it is determined again. The
//! congestion window takes precedence: a full one is the limit whatever the others are
//! (`tcp_is_cwnd_limited`).

use super::{Phase, Sender};
use crate::units::Time;

/// The limit that sending waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Limit {
    /// An acknowledgment that opens the congestion window.
    Cwnd,
    /// The next instant that pacing allows, or the departure of what is in the host's queues.
    Pacing,
    /// The receiver's window.
    Receiver,
    /// Room in the send buffer: the application has more.
    SendBuffer,
    /// Data from the application.
    #[default]
    Application,
}

/// The present limit, and the time up to which it has been counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limited {
    by: Limit,
    since: Time,
}

impl Sender {
    /// Records the limit now that no more can be sent; `cwnd_limited`: it is the congestion window.
    #[inline]
    pub(super) fn note_limit(&mut self, now: Time, cwnd_limited: bool) -> Limit {
        let limit = self.judge_limit(cwnd_limited);
        if limit != self.limited.by {
            self.count_limit(now);
            self.limited.by = limit;
        }
        limit
    }

    #[inline]
    fn judge_limit(&self, cwnd_limited: bool) -> Limit {
        if cwnd_limited { Limit::Cwnd } else { self.judge_other_limit() }
    }

    #[inline(never)] // most flows fill their window
    fn judge_other_limit(&self) -> Limit {
        if self.is_held_back() {
            Limit::Pacing
        } else if self.waits_for_more() {
            Limit::Application
        } else if self.has_nothing_to_send() {
            if self.app.is_full() { Limit::SendBuffer } else { Limit::Application }
        } else if self.burst.blocked_until.is_some() {
            Limit::Pacing
        } else {
            Limit::Receiver
        }
    }

    /// Whether all data is sent and all lost data retransmitted.
    fn has_nothing_to_send(&self) -> bool {
        self.app.available(self.init.mss) == 0 && self.board.lost_out() <= self.board.retrans_out()
    }

    /// Counts the time under the limit in force, from the handshake to the end of the transfer.
    #[inline(never)] // the limit seldom changes
    pub(super) fn count_limit(&mut self, now: Time) {
        let since = std::mem::replace(&mut self.limited.since, now);
        let elapsed = self.completed_at.map_or(now, |end| end.max(since)).since(since);
        if self.phase != Phase::Established {
            return;
        }
        let limits = &mut self.counters.limits;
        *match self.limited.by {
            Limit::Cwnd => &mut limits.limited_by_cwnd,
            Limit::Pacing => &mut limits.limited_by_pacing,
            Limit::Receiver => &mut limits.limited_by_receiver,
            Limit::SendBuffer => &mut limits.limited_by_send_buffer,
            Limit::Application => &mut limits.limited_by_application,
        } += elapsed;
    }
}
