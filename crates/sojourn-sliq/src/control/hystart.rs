//! HyStart of SLIQ (Linux 4.6.3): slow start ends on an ACK train of half the minimum RTT, or when
//! the first eight RTTs of a round are above it.

use sojourn_base::units::{Span, Time};
use sojourn_tcp::cc::hystart::{
    ACK_DELTA, LEAST_RISE, LINUX_DIVISOR, LINUX_MOST_RISE, MIN_SAMPLES,
};

/// The detector.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    found: bool,
    round_end: u64,
    round_start: Time,
    last_ack: Time,
    least: Option<Span>,
    samples: u32,
}

impl HyStart {
    /// Begins a round that ends when packet `next` is acknowledged.
    pub(super) fn begin_round(&mut self, now: Time, next: u64) {
        let found = self.found;
        *self =
            HyStart { found, round_end: next, round_start: now, last_ack: now, ..Self::default() };
    }

    /// Whether all of the round is acknowledged.
    pub(super) fn round_over(&self, una: u64) -> bool {
        una > self.round_end
    }

    /// Restarts the detection.
    pub(super) fn forget(&mut self) {
        self.found = false;
    }

    /// Processes an RTT; returns whether slow start is to end.
    pub(super) fn on_rtt(&mut self, rtt: Span, min_rtt: Span) -> bool {
        if self.found {
            return false;
        }
        if self.samples < MIN_SAMPLES {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
            return false;
        }
        let excess = Span::from_millis(min_rtt.as_millis() / LINUX_DIVISOR);
        let limit = min_rtt + excess.clamp(LEAST_RISE, LINUX_MOST_RISE);
        self.found = self.least.is_some_and(|least| least > limit);
        self.found
    }

    /// Processes an ACK; returns whether slow start is to end.
    pub(super) fn on_ack(&mut self, now: Time, min_rtt: Span) -> bool {
        if self.found || now.since(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        self.found = now.since(self.round_start) > min_rtt / 2;
        self.found
    }
}
