//! Standing RTT, minimum RTT, and the queueing delay between them.

use std::cmp::Reverse;

use super::{AckSample, Copa, Version};
use crate::units::{Span, Time};

const MIN_RTT_WINDOW: Span = Span::from_secs(10);
const SLIQ_MIN_RTT_WINDOW: Span = Span::from_millis(800);
const SLIQ_MIN_RTTS: u64 = 28;

impl Copa {
    pub(super) fn measure(&mut self, now: Time, rtt: Span, ack: &AckSample) {
        self.srtt = match self.version {
            Version::Nsdi18 => ack.srtt,
            Version::Sliq if self.srtt == Span::ZERO => rtt,
            Version::Sliq => (self.srtt * 15 + rtt) / 16,
        };
        let now = now.as_nanos();
        let standing_window = (self.srtt / 2).as_nanos();
        self.standing.update(standing_window, now, Reverse(rtt));
        let window = match self.version {
            Version::Nsdi18 => MIN_RTT_WINDOW,
            Version::Sliq => {
                let least = self.min_rtt.get().0.min(rtt);
                (least * SLIQ_MIN_RTTS).max(SLIQ_MIN_RTT_WINDOW)
            }
        };
        self.min_rtt.update(window.as_nanos(), now, Reverse(rtt));
    }

    pub(super) fn standing_rtt(&self) -> Span {
        self.standing.get().0
    }

    pub(super) fn queueing_delay(&self) -> Span {
        self.standing_rtt() - self.min_rtt.get().0
    }

    /// Whether the rate is at or below the target.
    pub(super) fn may_increase(&self) -> bool {
        let (queue, standing) =
            (self.queueing_delay().as_secs_f64(), self.standing_rtt().as_secs_f64());
        // W / standing <= 1 / (delta x queue), without dividing by an empty queue.
        self.window * self.delta * queue <= standing
    }
}
