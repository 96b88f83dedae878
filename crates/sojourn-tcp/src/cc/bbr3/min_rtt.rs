//! The minimum RTT over 10 s, and PROBE_RTT every 5 s without a lower one.

use super::super::bbr::bandwidth::UNIT;
use super::phase::AckPhase;
use super::{AckSample, Bbr3, LowerBounds, MIN_CWND, Mode};
use crate::units::{Span, Time};

const MIN_RTT_WINDOW: Span = Span::from_secs(10);
const PROBE_RTT_WINDOW: Span = Span::from_secs(5);
const PROBE_TIME: Span = Span::from_millis(200);
/// Data in flight in PROBE_RTT, as a share of the bandwidth-delay product.
const PROBE_GAIN: u32 = UNIT / 2;

impl Bbr3 {
    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(self.bandwidth(), PROBE_GAIN).max(MIN_CWND)
    }

    pub(super) fn update_min_rtt(&mut self, now: Time, ack: &AckSample) {
        let expired = now > self.probe_rtt_min_stamp + PROBE_RTT_WINDOW;
        if let Some(rtt) = ack.rtt {
            let rtt = Span::from_micros(rtt.as_micros());
            if rtt < self.probe_rtt_min || (expired && !ack.ack_delayed) {
                self.probe_rtt_min = rtt;
                self.probe_rtt_min_stamp = now;
            }
        }
        let min_rtt_expired = now > self.min_rtt_stamp + MIN_RTT_WINDOW;
        if self.probe_rtt_min <= self.min_rtt || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt.enter(ack);
            self.ack_phase = AckPhase::ProbeStopping;
            self.next_round = ack.delivered;
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
        } else if ack.in_flight <= self.probe_rtt_cwnd() {
            self.probe_rtt.done_at = Some(now + PROBE_TIME);
            self.probe_rtt.round_done = false;
            self.next_round = ack.delivered;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.probe_rtt_min_stamp = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.lower = LowerBounds::NONE;
        if self.full.reached {
            self.mode = Mode::ProbeBw;
            // The data in flight is below the bandwidth-delay product now: cruise until the next
            // probe.
            self.start_down(now);
            self.start_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }
}
