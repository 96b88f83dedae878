//! Observable state of BBR version 1.

use super::bandwidth::{Bandwidth, UNIT};
use super::{Bbr, Mode};
use crate::observe::Observer;
use crate::units::Span;

impl Bbr {
    pub(super) fn observe_state(&self, out: &mut Observer<'_>) {
        let rate = |bandwidth: Bandwidth| bandwidth.rate(UNIT, self.pacer.mss(), 0).as_mbps_f64();
        out("mode", self.mode.name().into());
        if self.mode == Mode::ProbeBw {
            out("cycle_index", (self.phase as u32).into());
        }
        out("bandwidth", rate(self.bandwidth()).into());
        if let Some(bandwidth) = self.policer.bandwidth() {
            out("lt_bw", rate(bandwidth).into());
        }
        if self.min_rtt < Span::MAX {
            out("min_rtt", self.min_rtt.as_secs_f64().into());
        }
        out("pacing_gain", (f64::from(self.pacing_gain) / f64::from(UNIT)).into());
        out("cwnd_gain", (f64::from(self.cwnd_gain) / f64::from(UNIT)).into());
        out("round_count", (self.rounds as f64).into());
    }
}
