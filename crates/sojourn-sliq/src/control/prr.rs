//! Proportional rate reduction in bytes (RFC 6937, with the slow-start reduction bound).

use super::MSS;
use sojourn_tcp::recovery::prr::share;

/// A reduction under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// It ends when this packet and all before it are acknowledged.
    pub end: u64,
    delivered: i64,
    out: i64,
    flight: i64,
    allowed: i64,
}

impl Reduction {
    /// Begins with `flight` bytes outstanding, up to packet `end`.
    pub(super) fn begin(flight: i64, end: u64) -> Self {
        Reduction { end, delivered: 0, out: 0, flight: flight.max(1), allowed: 0 }
    }

    /// `delivered` bytes have arrived; `pipe` are in the network.
    pub(super) fn on_ack(&mut self, delivered: i64, pipe: i64, threshold: i64) {
        self.delivered += delivered;
        let send = if pipe > threshold {
            let share = share(threshold as u64, self.delivered as u64, self.flight as u64);
            share as i64 - self.out
        } else {
            let limit = (self.delivered - self.out).max(delivered) + MSS;
            limit.min(threshold - pipe)
        };
        self.allowed += send.max(0);
    }

    /// Whether `bytes` more may go.
    pub(super) fn allows(&self, bytes: u32) -> bool {
        self.out + i64::from(bytes) <= self.allowed
    }

    /// `bytes` went out.
    pub(super) fn on_sent(&mut self, bytes: u32) {
        self.out += i64::from(bytes);
    }
}
