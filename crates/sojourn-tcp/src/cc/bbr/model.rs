//! Path model from ACKs: bandwidth, rounds, and detection of a policer.

use super::aggregation::WINDOW_ROUNDS;
use super::bandwidth::Bandwidth;
use super::mode::Mode;
use super::policer::Observation;
use super::{AckSample, Bbr, Version};
use crate::cc::jiffies::Ticks;
use crate::spec::Stack;
use crate::units::Time;

/// Rounds over which the bandwidth is the maximum.
const BANDWIDTH_ROUNDS: u64 = 10;

impl Bbr {
    #[inline]
    pub(super) fn max_bandwidth(&self) -> Bandwidth {
        self.max_bandwidth.get()
    }

    /// The bandwidth to send at.
    #[inline]
    pub(super) fn bandwidth(&self) -> Bandwidth {
        self.policer.bandwidth().unwrap_or_else(|| self.max_bandwidth())
    }

    pub(super) fn update_bandwidth(&mut self, now: Time, ack: &AckSample, app_limited: bool) {
        self.round_start = false;
        let Some(delivered) = valid_sample(ack) else { return };
        if ack.rate.prior_delivered >= self.next_round {
            self.next_round = ack.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.look_for_policer(now, ack.lost > 0, app_limited);
        let sample = Bandwidth::over(u64::from(delivered), ack.rate.interval);
        if !app_limited || sample >= self.max_bandwidth() {
            self.max_bandwidth.update(BANDWIDTH_ROUNDS, self.rounds, sample);
        }
        if self.version == Version::Linux6 && ack.acked > 0 {
            if self.round_start {
                self.aggregation.on_round(WINDOW_ROUNDS);
            }
            let bandwidth = self.bandwidth();
            self.aggregation.on_ack(now.in_micros(), ack.acked, bandwidth, self.cwnd);
        }
    }

    /// The time in whole timer ticks, by which the minimum RTT ages and a policer is timed.
    pub(super) fn ticks(&self, now: Time) -> Time {
        let stack = match self.version {
            Version::Linux49 => Stack::Linux49,
            Version::Linux6 => Stack::Linux6,
        };
        Ticks::of(stack).floor(now)
    }

    pub(super) fn look_for_policer(&mut self, now: Time, lossy: bool, app_limited: bool) {
        let seen = Observation {
            now: self.ticks(now),
            round_start: self.round_start,
            lossy,
            app_limited,
            steady: self.mode == Mode::ProbeBw,
            delivered: self.delivered,
            lost: self.lost,
        };
        if self.policer.observe(&seen, self.pacer.mss()) {
            self.enter_probe_bw(now);
        }
    }
}

/// Segments of the rate sample, if it is a valid one.
#[inline]
fn valid_sample(ack: &AckSample) -> Option<u32> {
    ack.rate.delivered.filter(|_| ack.rate.interval.as_micros() > 0)
}
