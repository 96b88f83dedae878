//! PROBE_BW: DOWN, CRUISE, REFILL, UP.

use rand::RngExt;

use super::super::bbr::bandwidth::UNIT;
use super::phase::{AckPhase, Phase};
use super::{
    AckSample, Bbr3, CWND_GAIN, CaState, DRAIN_GAIN, LowerBounds, Mode, STARTUP_CWND_GAIN,
    STARTUP_GAIN, Sample, UNBOUNDED, UP_CWND_GAIN,
};
use crate::units::{Span, Time};

const UP_GAIN: u32 = UNIT * 5 / 4;
const DOWN_GAIN: u32 = UNIT * 91 / 100;
/// A probe is due after as many rounds as Reno would need, at most this many ...
const MAX_ROUNDS: u32 = 63;
/// ... or after this time and up to a second more.
const BASE_WAIT: Span = Span::from_secs(2);
const RANDOM_WAIT_US: u64 = 1_000_000;

impl Bbr3 {
    pub(super) fn is_probing_bandwidth(&self) -> bool {
        match self.mode {
            Mode::Startup => true,
            Mode::ProbeBw => matches!(self.phase, Phase::Refill | Phase::Up),
            _ => false,
        }
    }

    pub(super) fn start_refill(&mut self, up_rounds: u32) {
        self.lower = LowerBounds::NONE;
        self.up.rounds = up_rounds;
        self.up.acked = 0;
        self.stopped_risky_probe = false;
        self.ack_phase = AckPhase::Refilling;
        self.next_round = self.delivered;
        self.phase = Phase::Refill;
    }

    fn start_up(&mut self, now: Time, sample: &Sample) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.next_round = self.delivered;
        self.cycle_start = now;
        self.full.restart(sample.bandwidth);
        self.phase = Phase::Up;
        self.steepen();
    }

    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.up.count = UNBOUNDED;
        self.rounds_since_probe = self.random.random_range(0..2);
        let random = self.random.random_range(0..RANDOM_WAIT_US);
        self.probe_wait = BASE_WAIT + Span::from_micros(random);
        self.cycle_start = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.next_round = self.delivered;
        self.phase = Phase::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        if self.lower.inflight != UNBOUNDED {
            self.lower.inflight = self.lower.inflight.min(self.inflight_hi);
        }
        self.phase = Phase::Cruise;
    }

    pub(super) fn update_phase(&mut self, now: Time, ack: &AckSample, sample: &Sample) {
        if !self.full.reached
            || self.adapt_upper_bound(now, ack, sample)
            || self.mode != Mode::ProbeBw
        {
            return;
        }
        let in_flight = self.in_network(ack, ack.prior_in_flight);
        match self.phase {
            Phase::Cruise => {
                self.check_time_to_probe(now, ack);
            }
            Phase::Refill if self.round_start => {
                self.probe_samples = true;
                self.start_up(now, sample);
            }
            Phase::Refill => {}
            Phase::Up => self.check_up_done(now, ack, sample, in_flight),
            Phase::Down => {
                let neutral = self.inflight(self.max_bandwidth(), UNIT);
                if !self.check_time_to_probe(now, ack)
                    && in_flight <= self.inflight_with_headroom()
                    && in_flight <= neutral
                {
                    self.start_cruise();
                }
            }
        }
    }

    fn check_up_done(&mut self, now: Time, ack: &AckSample, sample: &Sample, in_flight: u32) {
        let at_bound = self.last_probe_too_high && in_flight >= self.inflight_hi;
        if at_bound {
            self.stopped_risky_probe = true;
        } else if ack.cwnd_limited && self.cwnd >= self.inflight_hi {
            // The bound limits growth: a plateau would not show a full pipe.
            self.full.restart(sample.bandwidth);
            return;
        }
        if at_bound || self.full.now {
            self.last_probe_too_high = false;
            self.start_down(now);
        }
    }

    /// Starts to refill when it is time to probe; returns whether it is.
    fn check_time_to_probe(&mut self, now: Time, ack: &AckSample) -> bool {
        let marks_ceased = self.ecn.eligible()
            && self.ecn_in_cycle
            && !self.loss_in_cycle
            && ack.state == CaState::Open;
        if marks_ceased {
            // Growth of the first round: about half the bound.
            self.start_refill((self.inflight_hi / 2).max(1).ilog2());
            return true;
        }
        let due = now > self.cycle_start + self.probe_wait
            || self.rounds_since_probe >= MAX_ROUNDS.min(self.target_inflight());
        if due {
            self.start_refill(0);
        }
        due
    }

    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match (self.mode, self.phase) {
            (Mode::Startup, _) => (STARTUP_GAIN, STARTUP_CWND_GAIN),
            (Mode::Drain, _) => (DRAIN_GAIN, STARTUP_CWND_GAIN),
            (Mode::ProbeBw, Phase::Up) => (UP_GAIN, UP_CWND_GAIN),
            (Mode::ProbeBw, Phase::Down) => (DOWN_GAIN, CWND_GAIN),
            (Mode::ProbeBw, Phase::Cruise | Phase::Refill) => (UNIT, CWND_GAIN),
            (Mode::ProbeRtt, _) => (UNIT, UNIT),
        };
    }
}
