//! How long the ACK of a lone segment waits (Linux `icsk_ack.ato`): `delayed_ack` at first, longer where
//! segments come further apart or its timer had to send it, but not longer than the handshake's RTT.

use crate::tcp::profile::Profile;
use crate::units::{Span, Time};

/// The longest wait (`TCP_DELACK_MAX`, less than `TCP_RTO_MIN`).
const LONGEST: Span = Span::from_millis(199);

/// The wait, of which Linux counts whole ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Zero before it is first set.
    wait: Span,
    least: Span,
    tick: Span,
    /// Whether it changes.
    adapts: bool,
}

impl Patience {
    pub(super) fn new(profile: &Profile) -> Self {
        let (least, tick) = (profile.delayed_ack, profile.tick);
        Patience { wait: Span::ZERO, least, tick, adapts: profile.tunes_exactly }
    }

    pub(super) fn is_set(&self) -> bool {
        self.wait > Span::ZERO
    }

    fn ticks(&self, span: Span) -> Span {
        self.tick * (span.as_nanos() / self.tick.as_nanos())
    }

    /// Whether the wait is the least, and stays so when a segment in order arrives: the last one came at
    /// `before`, not long ago.
    #[inline]
    pub(super) fn stays(&self, now: Time, before: Time) -> bool {
        self.wait == self.least && now.since(before) + self.tick <= self.least / 2
    }

    /// A segment in order arrives, and one did `before`; `rto` is the receiver's own (Linux
    /// `tcp_event_data_recv`).
    pub(super) fn adapt(&mut self, now: Time, before: Time, rto: Span) {
        let since_start = |time: Time| self.ticks(time.since(Time::ZERO));
        let gap = since_start(now) - since_start(before);
        if gap <= self.least / 2 {
            self.set(self.ticks(self.wait / 2) + self.least / 2);
        } else if gap < self.wait {
            self.set((self.ticks(self.wait / 2) + gap).min(rto));
        }
    }

    /// The timer had to send an ACK (Linux `tcp_delack_timer_handler`).
    pub(super) fn on_timer(&mut self, rto: Span) {
        self.set((self.wait * 2).min(rto));
    }

    /// ACKs are quick, or no longer so (Linux `tcp_enter_quickack_mode`, `tcp_dec_quickack_mode`).
    pub(super) fn end(&mut self) {
        self.wait = self.least;
    }

    fn set(&mut self, wait: Span) {
        if self.adapts {
            self.wait = wait.min(LONGEST);
        }
    }

    /// The wait, where the handshake took `rtt` (Linux `tcp_send_delayed_ack`).
    pub(super) fn wait(&self, rtt: Span) -> Span {
        self.wait.max(self.least).min(self.ticks(rtt).max(self.least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_follows_gaps_and_missed_timers() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let (rto, rtt) = (Span::from_millis(360), Span::from_millis(120));
        let mut patience = Patience::new(Profile::named("linux-6").unwrap());
        patience.end();
        let mut after = |gap: u64| {
            patience.adapt(at(1000 + gap), at(1000), rto);
            patience.wait(rtt).as_nanos() / 1_000_000
        };
        assert_eq!([31, 51, 20, 60].map(&mut after), [51, 51, 45, 45]);
        patience.on_timer(rto);
        assert_eq!(patience.wait(rtt), Span::from_millis(90));
        patience.on_timer(rto);
        assert_eq!(
            [rtt, rto, Span::from_millis(7)].map(|rtt| patience.wait(rtt).as_nanos() / 1_000_000),
            [120, 180, 40]
        );
        patience.end();
        assert_eq!(patience.wait(rtt), Span::from_millis(40));
    }

    #[test]
    fn a_wait_that_stays_is_what_adapting_it_would_leave() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut patience = Patience::new(Profile::named("linux-6").unwrap());
        patience.end();
        for gap in 0..30 {
            let (before, stays) = (patience.wait, patience.stays(at(100 + gap), at(100)));
            assert_eq!(stays, gap < 20);
            patience.adapt(at(100 + gap), at(100), Span::from_millis(360));
            assert!(!stays || patience.wait == before);
            patience.end();
        }
    }
}
