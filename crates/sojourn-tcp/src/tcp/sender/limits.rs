//! What keeps the sender from sending more, and for how long (Linux `tcp_chrono_start`: the busy
//! time of `TCP_INFO` with its `rwnd_limited` and `sndbuf_limited`, here taken apart further).
//!
//! Judged whenever sending ends; it holds until it is judged anew. The congestion window comes
//! first: a full one is the limit whatever else is (`tcp_is_cwnd_limited`).

use super::{Phase, Sender};
use crate::units::Time;

/// What sending waits for.
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

/// What limits the sender, and since when this has not been counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limited {
    by: Limit,
    since: Time,
}

impl Sender {
    /// Notes the limit now that no more can be sent; `cwnd_limited`: it is the congestion window.
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
        if cwnd_limited {
            Limit::Cwnd
        } else if self.is_held_back() {
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

    /// Whether all data is sent and all that was lost is sent again.
    fn has_nothing_to_send(&self) -> bool {
        self.app.available(self.init.mss) == 0 && self.board.lost_out() <= self.board.retrans_out()
    }

    /// Counts the time under the limit in force, from the handshake to the end of the transfer.
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
