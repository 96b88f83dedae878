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
    /// Segments sent while `delivered` was in this range, in the last such phase, were sent with
    /// the minimal window: their rate samples do not represent the path.
    limited: Option<(u64, u64)>,
}

impl ProbeRtt {
    /// Whether a segment sent at this `delivered` count was held back by the minimal window.
    #[inline]
    pub fn limited(&self, prior_delivered: u64) -> bool {
        self.limited.is_some_and(|(from, to)| (from..=to).contains(&prior_delivered))
    }

    /// A phase begins; it ends once little enough is in flight for long enough.
    pub fn enter(&mut self, ack: &AckSample) {
        self.done_at = None;
        self.limited = Some((ack.delivered, ack.delivered));
    }

    /// Marks as limited by the minimal window what is sent until all data now in flight is
    /// delivered.
    pub fn mark_limited(&mut self, ack: &AckSample) {
        if let Some((_, to)) = &mut self.limited {
            *to = ack.delivered + u64::from(ack.in_flight);
        }
    }
}

impl Bbr {
    pub(super) fn update_min_rtt(&mut self, now: Time, ack: &AckSample) {
        let expired = self.ticks(now) > self.min_rtt_stamp + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt {
            let rtt = Span::from_micros(rtt.as_micros());
            // An equal one does not reset the age, since the condition is strict.
            let renew = match self.version {
                Version::Linux6 => rtt < self.min_rtt || (expired && !ack.ack_delayed),
                Version::Linux49 => rtt <= self.min_rtt || expired,
            };
            if renew {
                self.min_rtt = rtt;
                self.min_rtt_stamp = self.ticks(now);
            }
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            // In this order the window is saved as one that is cut, as in the kernel: not below the
            // one before the last recovery.
            self.save_cwnd();
            self.probe_rtt.enter(ack);
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
            self.probe_rtt.done_at = Some(self.ticks(now) + PROBE_TIME);
            self.probe_rtt.round_done = false;
            self.next_round = ack.delivered;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt.done_at.is_none_or(|done_at| self.ticks(now) <= done_at) {
            return;
        }
        self.min_rtt_stamp = self.ticks(now);
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full_pipe.reached() {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK may cover more than was in flight at the last one: segments sent in between.
    #[test]
    fn every_segment_of_a_phase_is_limited() {
        let mut probe = ProbeRtt::default();
        let at = |delivered, in_flight| AckSample { delivered, in_flight, ..AckSample::default() };
        assert!(!probe.limited(0));
        probe.enter(&at(100, 150));
        for (delivered, in_flight) in [(100, 150), (248, 2), (251, 1)] {
            probe.mark_limited(&at(delivered, in_flight));
        }
        let limited: Vec<u64> = (90..300).filter(|sent_at| probe.limited(*sent_at)).collect();
        assert_eq!(limited, (100..=252).collect::<Vec<_>>());
    }
}
