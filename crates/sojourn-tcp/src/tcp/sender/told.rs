//! What a sender tells of itself.

use super::Sender;
use crate::cc::{CaState, INFINITE_SSTHRESH};
use crate::endpoint::{RecoveryPhase, RecoveryState};
use crate::observe::Observer;
use crate::units::Span;

impl Sender {
    /// Names and values of its window, and of what its control shows.
    pub(super) fn tell(&self, out: &mut Observer<'_>) {
        out("cwnd", self.cwnd.into());
        if self.decision.ssthresh != INFINITE_SSTHRESH {
            out("ssthresh", self.decision.ssthresh.into());
        }
        if let Some(rate) = self.pacer.rate() {
            out("pacing_rate", (rate.as_bps() as f64).into());
        }
        self.cc.observe(out);
    }

    /// Its window, and what it knows of its path and of losses.
    pub(super) fn recovery_state(&self) -> RecoveryState {
        let bytes = |segments: u32| u64::from(segments) * u64::from(self.init.mss);
        let measured = |span: Span| (span != Span::ZERO && span != Span::MAX).then_some(span);
        let (ssthresh, in_flight) = (self.decision.ssthresh, self.board.in_flight());
        RecoveryState {
            cwnd: bytes(self.cwnd),
            ssthresh: (ssthresh != INFINITE_SSTHRESH).then(|| bytes(ssthresh)),
            packets_in_flight: in_flight,
            bytes_in_flight: bytes(in_flight),
            srtt: measured(self.rtt.srtt()),
            min_rtt: measured(self.rtt.min_rtt()),
            pacing_rate: self.pacer.rate(),
            phase: match self.recovery.state {
                CaState::Recovery => RecoveryPhase::Recovery,
                CaState::Cwr => RecoveryPhase::Echo,
                CaState::Loss => RecoveryPhase::Timeout,
                CaState::Open | CaState::Disorder if self.in_slow_start() => {
                    RecoveryPhase::SlowStart
                }
                CaState::Open | CaState::Disorder => RecoveryPhase::Avoidance,
            },
            lost: self.board.lost().collect(),
        }
    }
}
