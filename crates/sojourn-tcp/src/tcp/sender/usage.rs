//! Congestion window validation: an unused window does not grow, and shrinks (RFC 2861; Linux
//! `tcp_cwnd_validate`, `tcp_cwnd_restart`).

use super::Sender;
use crate::cc::{CaState, Event, Step};
use crate::units::Time;

/// Whether the window limits sending (Linux `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    limited: bool,
    max_packets_out: u32,
    /// The observation lasts until this segment is acknowledged.
    until: u32,
    /// Most packets out since the window was last fully used, and when that was.
    used: u32,
    pub used_at: Time,
}

impl Usage {
    /// Most packets out in the last round, and whether the window limited them.
    pub(super) fn seen(&self) -> (u32, bool) {
        (self.max_packets_out, self.limited)
    }
}

impl Sender {
    #[inline]
    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.decision.ssthresh
    }

    /// Records whether the window was what limited sending (Linux `tcp_cwnd_validate`).
    pub(super) fn validate_window(&mut self, now: Time, limited: bool) {
        let out = self.board.packets_out();
        let usage = &mut self.usage;
        if self.board.una() >= usage.until
            || limited
            || (!usage.limited && out > usage.max_packets_out)
        {
            usage.limited = limited;
            usage.max_packets_out = out;
            usage.until = self.board.next();
        }
        let slow_start = self.cwnd < self.decision.ssthresh;
        if usage.limited || (slow_start && self.cwnd < 2 * usage.max_packets_out) {
            usage.used = 0;
            usage.used_at = now;
            return;
        }
        usage.used = usage.used.max(out);
        if self.profile.slow_start_after_idle
            && !self.decision.owns_recovery
            && now.since(usage.used_at) >= self.rtt.rto()
        {
            self.shrink_unused_window(now);
        }
    }

    /// Whether the window limits the sending (Linux `tcp_is_cwnd_limited`).
    pub(super) fn cwnd_limited(&self) -> bool {
        !self.profile.cwnd_validation
            || self.usage.limited
            || (self.in_slow_start() && self.cwnd < 2 * self.usage.max_packets_out)
    }

    /// The application left the window unused for a timeout: halves the excess (RFC 2861).
    #[cold]
    fn shrink_unused_window(&mut self, now: Time) {
        if self.recovery.state == CaState::Open {
            let used = self.usage.used.max(self.init.initial_window);
            if used < self.cwnd {
                let ssthresh = self.current_ssthresh();
                let cwnd = u32::midpoint(self.cwnd, used);
                self.show(now, &Step::Callback);
                self.cc.on_congestion(now, &Event::Restart { cwnd, ssthresh });
                self.consult();
            }
            self.usage.used = 0;
        }
        self.usage.used_at = now;
    }

    /// Slow start after idle (Linux `tcp_cwnd_restart`): one halving for every idle timeout.
    #[inline(never)] // only when nothing is outstanding
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        let rto = self.rtt.rto();
        let mut idle = now.since(self.last_sent_at);
        if !self.profile.slow_start_after_idle || self.decision.owns_recovery || idle <= rto {
            return;
        }
        let floor = self.init.initial_window.min(self.cwnd);
        let ssthresh = self.current_ssthresh();
        let mut cwnd = self.cwnd;
        while idle > rto && cwnd > floor {
            idle -= rto;
            cwnd /= 2;
        }
        self.show(now, &Step::Callback);
        self.cc.on_congestion(now, &Event::Restart { cwnd: cwnd.max(floor), ssthresh });
        self.consult();
        self.usage.used = 0;
        self.usage.used_at = now;
    }
}
