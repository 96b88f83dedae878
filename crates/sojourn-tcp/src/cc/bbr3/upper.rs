//! The upper bound on the data in flight: the level at which probing met excessive loss or marks.

use super::super::bbr::bandwidth::UNIT;
use super::evidence::Evidence;
use super::lower::LOSS_KEEP;
use super::phase::{AckPhase, Phase};
use super::{AckSample, Bandwidth, Bbr3, Lost, MIN_CWND, Mode, Sample, UNBOUNDED};
use crate::units::Time;

/// Share of the bound that is left free for others.
const HEADROOM: u32 = UNIT * 15 / 100;

/// Growth of the bound while probing up: one segment per `count` acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpProbe {
    pub rounds: u32,
    pub count: u32,
    pub acked: u32,
}

impl Default for UpProbe {
    fn default() -> Self {
        UpProbe { rounds: 0, count: UNBOUNDED, acked: 0 }
    }
}

impl Bbr3 {
    pub(super) fn is_too_high(&self, evidence: &Evidence) -> bool {
        evidence.is_lossy() || (self.ecn.eligible() && evidence.is_marked())
    }

    /// A segment was marked lost.
    pub(super) fn note_loss(&mut self, now: Time, lost: &Lost) {
        if !self.loss_in_round {
            self.latest.round_end = self.delivered;
        }
        self.loss_in_round = true;
        self.loss_in_cycle = true;
        if !self.probe_samples {
            return;
        }
        let mut evidence = Evidence {
            tx_in_flight: lost.tx_in_flight,
            lost: lost.total_lost.saturating_sub(lost.prior_lost) as u32,
            delivered: 0,
            delivered_ce: 0,
            app_limited: lost.app_limited,
        };
        if self.is_too_high(&evidence) {
            evidence.tx_in_flight = evidence.inflight_at_threshold();
            self.inflight_too_high(now, &evidence);
        }
    }

    /// Probing met excessive loss or marks: lowers the bound, once per probe, and ends the probe.
    fn inflight_too_high(&mut self, now: Time, evidence: &Evidence) {
        self.last_probe_too_high = true;
        self.probe_samples = false;
        if !evidence.app_limited {
            let target = u64::from(self.target_inflight()) * u64::from(LOSS_KEEP);
            self.inflight_hi = evidence.tx_in_flight.max((target / u64::from(UNIT)) as u32);
        }
        if self.mode == Mode::ProbeBw && self.phase == Phase::Up {
            self.start_down(now);
        }
    }

    /// Target of the data in flight: the bandwidth-delay product, unless congestion cut the window.
    pub(super) fn target_inflight(&self) -> u32 {
        self.inflight(self.bandwidth(), UNIT).min(self.cwnd)
    }

    /// The bound less the headroom for others.
    pub(super) fn inflight_with_headroom(&self) -> u32 {
        if self.inflight_hi == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = u64::from(self.inflight_hi) * u64::from(HEADROOM) / u64::from(UNIT);
        self.inflight_hi.saturating_sub((headroom as u32).max(1)).max(MIN_CWND)
    }

    /// Adapts the bound to the result of probing. Returns true if that determined the next phase.
    pub(super) fn adapt_upper_bound(
        &mut self,
        now: Time,
        ack: &AckSample,
        sample: &Sample,
    ) -> bool {
        if self.round_start && self.end_of_probe_round(sample) {
            return true;
        }
        if self.is_too_high(&sample.evidence) {
            if self.probe_samples {
                self.inflight_too_high(now, &sample.evidence);
            }
        } else if self.inflight_hi != UNBOUNDED {
            self.inflight_hi = self.inflight_hi.max(sample.evidence.tx_in_flight);
            if self.mode == Mode::ProbeBw && self.phase == Phase::Up {
                self.raise_bound(ack);
            }
        }
        false
    }

    /// One round after the start of a probe its ACKs arrive; one round after its end no more.
    fn end_of_probe_round(&mut self, sample: &Sample) -> bool {
        match self.ack_phase {
            AckPhase::ProbeStarting => self.ack_phase = AckPhase::ProbeFeedback,
            AckPhase::ProbeStopping => {
                self.probe_samples = false;
                self.ack_phase = AckPhase::Init;
                if self.mode == Mode::ProbeBw && !sample.app_limited {
                    self.advance_max_bandwidth();
                }
                // Everything up to the bound was safe: go there again and beyond.
                if self.mode == Mode::ProbeBw
                    && self.stopped_risky_probe
                    && !self.last_probe_too_high
                {
                    self.start_refill(0);
                    return true;
                }
            }
            AckPhase::Init | AckPhase::Refilling | AckPhase::ProbeFeedback => {}
        }
        false
    }

    fn advance_max_bandwidth(&mut self) {
        if self.max_bandwidth[1] > Bandwidth::ZERO {
            self.max_bandwidth = [self.max_bandwidth[1], Bandwidth::ZERO];
        }
    }

    fn raise_bound(&mut self, ack: &AckSample) {
        if !ack.cwnd_limited || self.cwnd < self.inflight_hi {
            return;
        }
        self.up.acked = self.up.acked.saturating_add(ack.acked);
        if self.up.acked >= self.up.count {
            let steps = self.up.acked / self.up.count;
            self.up.acked -= steps * self.up.count;
            self.inflight_hi = self.inflight_hi.saturating_add(steps);
        }
        if self.round_start {
            self.steepen();
        }
    }

    /// Every round of probing up doubles the growth of the bound.
    pub(super) fn steepen(&mut self) {
        let growth = 1 << self.up.rounds;
        self.up.rounds = (self.up.rounds + 1).min(30);
        self.up.count = (self.cwnd / growth).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_two_per_cent_of_the_flight() {
        let evidence = |tx_in_flight, lost| Evidence {
            tx_in_flight,
            lost,
            delivered: 0,
            delivered_ce: 0,
            app_limited: false,
        };
        // 5/256 is Linux's two per cent: 9 of 500.
        assert!(!evidence(500, 9).is_lossy());
        assert!(evidence(500, 10).is_lossy());
        // Losses began early in the flight of 500: the flight was too much before it.
        assert_eq!(evidence(500, 100).inflight_at_threshold(), 499);
        assert_eq!(evidence(500, 10).inflight_at_threshold(), 500);
    }
}
