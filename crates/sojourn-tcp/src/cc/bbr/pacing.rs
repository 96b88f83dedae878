//! The pacing rate and the size of bursts.

use super::bandwidth::Bandwidth;
use super::{Bbr, HIGH_GAIN, MIN_TSO_RATE, Version};
use crate::units::{Rate, Span};

impl Bbr {
    /// Paces as if the window passed `HIGH_GAIN` times per `rtt`.
    pub(super) fn start_pacing(&mut self, rtt: Span) {
        let rtt = rtt.max(Span::from_micros(1));
        let bandwidth = Bandwidth::over(u64::from(self.cwnd), rtt);
        self.set_rate(self.rate(bandwidth, HIGH_GAIN));
    }

    pub(super) fn rate(&self, bandwidth: Bandwidth, gain: u32) -> Rate {
        let margin = u32::from(self.version == Version::Linux6);
        bandwidth.rate(gain, self.pacer.mss(), margin)
    }

    pub(super) fn set_rate(&mut self, rate: Rate) {
        self.pacer.set(rate, 0, |rate| if rate.as_bps() < MIN_TSO_RATE { 1 } else { 2 });
    }

    /// Paces at the estimate; in STARTUP never slower than before.
    pub(super) fn pace(&mut self, gain: u32) {
        let rate = self.rate(self.bandwidth(), gain);
        if self.full_pipe.reached() || rate > self.pacer.rate() {
            self.set_rate(rate);
        }
    }
}
