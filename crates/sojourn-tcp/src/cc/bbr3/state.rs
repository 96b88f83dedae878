//! Observable state of BBR version 3.

use super::super::bbr::bandwidth::{Bandwidth, UNIT};
use super::{Bbr3, Mode, UNBOUNDED};
use crate::observe::Observer;
use crate::units::Span;

impl Bbr3 {
    pub(super) fn observe_state(&self, out: &mut Observer<'_>) {
        let rate = |bandwidth: Bandwidth| bandwidth.rate(UNIT, self.pacer.mss(), 0).as_mbps_f64();
        out("mode", self.mode.name().into());
        if self.mode == Mode::ProbeBw {
            out("phase", self.phase.name().into());
        }
        out("bandwidth", rate(self.bandwidth()).into());
        out("max_bw", rate(self.max_bandwidth()).into());
        if self.lower.bandwidth < Bandwidth::MAX {
            out("bw_lo", rate(self.lower.bandwidth).into());
        }
        for (name, bound) in
            [("inflight_hi", self.inflight_hi), ("inflight_lo", self.lower.inflight)]
        {
            if bound != UNBOUNDED {
                out(name, bound.into());
            }
        }
        if self.min_rtt < Span::MAX {
            out("min_rtt", self.min_rtt.as_secs_f64().into());
        }
        out("pacing_gain", (f64::from(self.pacing_gain) / f64::from(UNIT)).into());
        out("cwnd_gain", (f64::from(self.cwnd_gain) / f64::from(UNIT)).into());
        out("rounds_since_probe", self.rounds_since_probe.into());
        out("ecn_alpha", self.ecn.alpha().into());
    }
}
