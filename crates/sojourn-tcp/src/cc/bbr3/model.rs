//! Path model from ACKs: bandwidth, rounds, and aggregation of ACKs.

use super::super::bbr::aggregation::WINDOW_ROUNDS;
use super::super::bbr::bandwidth::Bandwidth;
use super::evidence::Evidence;
use super::{AckSample, Bbr3};
use crate::units::Time;

/// Rate information of one ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Whether there is a valid rate sample.
    pub valid: bool,
    pub bandwidth: Bandwidth,
    pub delivered: u32,
    pub app_limited: bool,
    pub evidence: Evidence,
}

impl Bbr3 {
    #[inline]
    pub(super) fn max_bandwidth(&self) -> Bandwidth {
        self.max_bandwidth[0].max(self.max_bandwidth[1])
    }

    /// The bandwidth to send at.
    #[inline]
    pub(super) fn bandwidth(&self) -> Bandwidth {
        self.max_bandwidth().min(self.lower.bandwidth)
    }

    pub(super) fn sample(&self, ack: &AckSample) -> Sample {
        let rate = &ack.rate;
        let measured = rate.delivered.filter(|_| rate.interval.as_micros() > 0);
        let delivered = measured.unwrap_or(0);
        let app_limited = rate.app_limited || self.probe_rtt.limited(rate.prior_delivered);
        Sample {
            valid: measured.is_some() && ack.acked > 0,
            bandwidth: measured.map_or(Bandwidth::ZERO, |delivered| {
                Bandwidth::over_rounded_up(u64::from(delivered), rate.interval)
            }),
            delivered,
            app_limited,
            evidence: Evidence {
                tx_in_flight: rate.tx_in_flight,
                lost: ack.total_lost.saturating_sub(rate.prior_lost) as u32,
                delivered,
                delivered_ce: ack.delivered_ce.saturating_sub(rate.prior_delivered_ce) as u32,
                app_limited,
            },
        }
    }

    pub(super) fn update_round(&mut self, ack: &AckSample) {
        let timed = ack.rate.delivered.is_some() && ack.rate.interval.as_micros() > 0;
        self.round_start = timed && ack.rate.prior_delivered >= self.next_round;
        if self.round_start {
            self.next_round = ack.delivered;
            self.rounds_since_probe = (self.rounds_since_probe + 1).min(255);
            self.update_ecn(ack);
        }
    }

    pub(super) fn update_aggregation(&mut self, now: Time, ack: &AckSample) {
        if self.round_start {
            self.aggregation.on_round(if self.full.reached { WINDOW_ROUNDS } else { 1 });
        }
        let bandwidth = self.bandwidth();
        self.aggregation.on_ack(now, ack.acked, bandwidth, self.cwnd);
    }
}
