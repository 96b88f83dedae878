//! The state machine except PROBE_RTT: full-pipe detection, draining, gain cycling.

use rand::RngExt;

use super::bandwidth::{Bandwidth, UNIT};
use super::{AckSample, Bbr, HIGH_GAIN, Mode, Version};
use crate::units::Time;

/// Phases of the gain cycle.
pub(super) const CYCLE: [u32; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Pacing gain that drains in a round what STARTUP queued.
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
/// Window gain of the steady state: room for delayed and stretched ACKs.
const CWND_GAIN: u32 = 2 * UNIT;
/// Growth of the bandwidth that shows that the pipe is not full ...
const FULL_GAIN: u32 = UNIT * 5 / 4;
/// ... and the rounds without it after which the pipe is full.
const FULL_ROUNDS: u32 = 3;

/// Decides that STARTUP has filled the pipe: three rounds without 25 % more bandwidth.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    bandwidth: Bandwidth,
    rounds: u32,
    reached: bool,
}

impl FullPipe {
    /// Whether the pipe has ever been full.
    #[inline]
    pub(super) fn reached(&self) -> bool {
        self.reached
    }

    /// Resets the plateau (not that the pipe has been full), as after a timeout.
    pub(super) fn forget_bandwidth(&mut self) {
        self.bandwidth = Bandwidth::ZERO;
    }

    /// Restarts the count of rounds, as after a spurious reduction.
    pub(super) fn restart(&mut self) {
        self.bandwidth = Bandwidth::ZERO;
        self.rounds = 0;
    }

    /// A round that was not limited by the application ended with this estimate.
    pub(super) fn on_round(&mut self, bandwidth: Bandwidth) {
        if self.reached {
            return;
        }
        if bandwidth >= self.bandwidth.scaled(FULL_GAIN) {
            self.bandwidth = bandwidth;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        self.reached = self.rounds >= FULL_ROUNDS;
    }
}

impl Bbr {
    /// Enters PROBE_BW in a random phase, never the draining one.
    pub(super) fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.phase = 7 - self.random.random_range(0..7);
        self.advance_phase(now);
    }

    fn advance_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_start = now.in_micros();
    }

    pub(super) fn update_phase(&mut self, now: Time, ack: &AckSample) {
        if self.mode == Mode::ProbeBw && self.phase_is_over(now, ack) {
            self.advance_phase(now);
        }
    }

    fn phase_is_over(&self, now: Time, ack: &AckSample) -> bool {
        let full_length = now.in_micros().since(self.phase_start) > self.min_rtt;
        if self.pacing_gain == UNIT {
            return full_length;
        }
        let in_flight = self.in_network(ack, ack.prior_in_flight);
        if self.pacing_gain > UNIT {
            // Probe until the data in flight reaches the gain, unless a small buffer already
            // overflows.
            full_length
                && (ack.lost > 0
                    || in_flight >= self.inflight(self.max_bandwidth(), self.pacing_gain))
        } else {
            full_length || in_flight <= self.inflight(self.max_bandwidth(), UNIT)
        }
    }

    pub(super) fn check_full_pipe(&mut self, app_limited: bool) {
        if self.round_start && !app_limited {
            self.full_pipe.on_round(self.max_bandwidth());
        }
    }

    pub(super) fn check_drain(&mut self, now: Time, ack: &AckSample) {
        if self.mode == Mode::Startup && self.full_pipe.reached() {
            self.mode = Mode::Drain;
            if self.version == Version::Linux6 {
                self.ssthresh = self.inflight(self.max_bandwidth(), UNIT);
            }
        }
        if self.mode == Mode::Drain
            && self.in_network(ack, ack.in_flight) <= self.inflight(self.max_bandwidth(), UNIT)
        {
            self.enter_probe_bw(now);
        }
    }

    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.bandwidth().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    /// Segments in the network at the next departure, of those in flight.
    fn in_network(&self, ack: &AckSample, in_flight: u32) -> u32 {
        match self.version {
            Version::Linux6 => {
                let growing = self.pacing_gain > UNIT;
                self.pacer.in_network(ack.departs_in, in_flight, self.bandwidth(), growing)
            }
            Version::Linux49 => in_flight,
        }
    }
}
