//! What keeps the sender from sending more, and for how long (Linux `tcp_chrono_start`: the busy
//! time of `TCP_INFO` with its `rwnd_limited` and `sndbuf_limited`, here taken apart further).
//!
//! Judged whenever sending ends; it holds until the next event. The congestion window comes first:
//! a full one is the limit whatever else is (`tcp_is_cwnd_limited`).

use super::Sender;
use crate::units::Span;

/// What sending waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Limit {
    /// An acknowledgment that opens the congestion window.
    Cwnd,
    /// The next instant that pacing allows.
    Pacing,
    /// The receiver's window.
    Receiver,
    /// Room in the send buffer: the application has more.
    SendBuffer,
    /// Data from the application.
    #[default]
    Application,
}

impl Sender {
    /// The limit now that no more can be sent; `cwnd_limited`: it is the congestion window.
    pub(super) fn judge_limit(&self, cwnd_limited: bool) -> Limit {
        if cwnd_limited {
            Limit::Cwnd
        } else if self.has_nothing_to_send() {
            if self.app.is_full() { Limit::SendBuffer } else { Limit::Application }
        } else if self.burst.blocked_until.is_some() {
            Limit::Pacing
        } else {
            Limit::Receiver
        }
    }

    /// Whether all data is sent and all that was lost is sent again.
    pub(super) fn has_nothing_to_send(&self) -> bool {
        self.app.available(self.init.mss) == 0 && self.board.lost_out() <= self.board.retrans_out()
    }

    /// Counts time under the limit in force, until the transfer is complete.
    #[inline]
    pub(super) fn count_limit(&mut self, elapsed: Span) {
        if self.completed_at.is_some() {
            return;
        }
        let counters = &mut self.counters;
        *match self.limit {
            Limit::Cwnd => &mut counters.limited_by_cwnd,
            Limit::Pacing => &mut counters.limited_by_pacing,
            Limit::Receiver => &mut counters.limited_by_receiver,
            Limit::SendBuffer => &mut counters.limited_by_send_buffer,
            Limit::Application => &mut counters.limited_by_application,
        } += elapsed;
    }
}
