//! The pacing rate and the size of bursts.

use super::super::bbr::bandwidth::Bandwidth;
use super::{Bbr3, STARTUP_GAIN};
use crate::units::{Rate, Span};

const PACING_MARGIN: u32 = 1;
const MIN_BURST: u32 = 2;
/// A burst may have 64 KiB more at RTT zero, half as much for each of these microseconds.
const BURST_RTT_SHIFT: u32 = 9;

impl Bbr3 {
    pub(super) fn start_pacing(&mut self, rtt: Span) {
        let rtt = rtt.max(Span::from_micros(1));
        let bandwidth = Bandwidth::over(u64::from(self.cwnd), rtt);
        self.set_rate(bandwidth.rate(STARTUP_GAIN, self.pacer.mss(), PACING_MARGIN));
    }

    pub(super) fn set_rate(&mut self, rate: Rate) {
        let halvings = (self.min_rtt.as_micros() >> BURST_RTT_SHIFT).min(63);
        self.pacer.set(rate, 65_536 >> halvings, |_| MIN_BURST);
    }

    /// Paces at the estimate; in STARTUP never slower than before.
    pub(super) fn pace(&mut self, gain: u32) {
        let rate = self.bandwidth().rate(gain, self.pacer.mss(), PACING_MARGIN);
        if self.full.reached || rate > self.pacer.rate() {
            self.set_rate(rate);
        }
    }
}
