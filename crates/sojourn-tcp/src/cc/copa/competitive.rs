//! Copa's competitive mode: against flows that fill the buffer, the packets kept in the queue
//! grow and halve as Reno's window does.

use super::AckSample;
use super::MaxFilter;
use crate::units::{Span, Time};

/// Smoothed RTTs over which the largest RTT is remembered ...
const MAX_RTT_ROUNDS: u64 = 4;
/// ... and number without a nearly empty queue after which other flows are assumed to fill the
/// buffer.
const FULL_ROUNDS: u64 = 5;
/// The queue is nearly empty below this share of its largest delay.
const NEARLY_EMPTY: f64 = 0.1;

/// The detector, and the delta of the present mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Competitive {
    default_delta: f64,
    /// Packets to keep in the queue (`1/delta`).
    packets: f64,
    max_rtt: MaxFilter<Span>,
    nearly_empty_at: Time,
    round_end: u32,
    lossy: bool,
    competing: bool,
}

impl Competitive {
    /// State of a new connection.
    pub(super) fn new(default_delta: f64, now: Time) -> Self {
        Competitive {
            default_delta,
            packets: 1.0 / default_delta,
            max_rtt: MaxFilter::new(now.as_nanos(), Span::ZERO),
            nearly_empty_at: now,
            round_end: 0,
            lossy: false,
            competing: false,
        }
    }

    /// The mode's name.
    pub(super) fn mode(&self) -> &'static str {
        if self.competing { "competitive" } else { "default" }
    }

    /// A loss was inferred.
    pub(super) fn on_loss(&mut self) {
        self.lossy = true;
    }

    /// Processes an ACK; returns the delta to use.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        ack: &AckSample,
        rtt: Span,
        min_rtt: Span,
        queueing_delay: Span,
    ) -> f64 {
        let window = (ack.srtt * MAX_RTT_ROUNDS).as_nanos();
        let largest = self.max_rtt.update(window, now.as_nanos(), rtt) - min_rtt;
        if queueing_delay < largest.mul_f64(NEARLY_EMPTY) || largest == Span::ZERO {
            self.nearly_empty_at = now;
        }
        self.competing = now.since(self.nearly_empty_at) > ack.srtt * FULL_ROUNDS;
        if !self.competing {
            self.packets = 1.0 / self.default_delta;
        } else if ack.una > self.round_end {
            self.packets = if self.lossy { self.packets / 2.0 } else { self.packets + 1.0 };
            self.packets = self.packets.max(1.0 / self.default_delta);
        }
        if ack.una > self.round_end {
            self.round_end = ack.next;
            self.lossy = false;
        }
        1.0 / self.packets
    }
}
