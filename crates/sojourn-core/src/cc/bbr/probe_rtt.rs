//! The minimum RTT, and PROBE_RTT, which empties the queue to measure it anew.

use super::{AckSample, Bbr, MIN_CWND, Mode, Version};
use crate::units::{Span, Time};

/// Age at which the minimum RTT must be measured again.
const MIN_RTT_WINDOW: Span = Span::from_secs(10);
/// Time spent with a minimal window.
const PROBE_TIME: Span = Span::from_millis(200);

/// Progress of a PROBE_RTT phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeRtt {
    /// When it may end; set once little enough is in flight.
    pub done_at: Option<Time>,
    /// Whether a round has passed since.
    pub round_done: bool,
    /// Segments sent while `delivered` was in this range were sent with the minimal window:
    /// their rate samples do not speak for the path.
    limited: Option<(u64, u64)>,
}

impl ProbeRtt {
    /// Whether a segment sent at this `delivered` count was held back by the minimal window.
    #[inline]
    pub fn limited(&self, prior_delivered: u64) -> bool {
        self.limited.is_some_and(|(from, to)| (from..=to).contains(&prior_delivered))
    }

    /// What is sent from here on is held back by the minimal window.
    pub fn mark_limited(&mut self, ack: &AckSample) {
        let from = match self.limited {
            Some((from, to)) if ack.delivered <= to => from,
            _ => ack.delivered,
        };
        self.limited = Some((from, ack.delivered + u64::from(ack.in_flight)));
    }
}

impl Bbr {
    pub(super) fn update_min_rtt(&mut self, now: Time, ack: &AckSample) {
        let expired = now > self.min_rtt_stamp + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt {
            let rtt = Span::from_micros(rtt.as_micros());
            let renew = expired && !(ack.ack_delayed && self.version == Version::Linux6);
            if rtt <= self.min_rtt || renew {
                self.min_rtt = rtt;
                self.min_rtt_stamp = now;
            }
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt.done_at = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(now, ack);
        }
        if ack.acked > 0 {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, now: Time, ack: &AckSample) {
        self.probe_rtt.mark_limited(ack);
        if self.probe_rtt.done_at.is_some() {
            self.probe_rtt.round_done |= self.round_start;
            if self.probe_rtt.round_done {
                self.check_probe_rtt_done(now);
            }
        } else if ack.in_flight <= MIN_CWND {
            self.probe_rtt.done_at = Some(now + PROBE_TIME);
            self.probe_rtt.round_done = false;
            self.next_round = ack.delivered;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.min_rtt_stamp = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full_pipe.reached() {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
