//! Pacing rate, burst size, and the part of the data in flight that has left the host.
//!
//! Linux gives each packet an earliest departure time; part of what counts as in flight may still
//! wait for it in the host. BBR's state machine looks at what will be in the network at the next
//! departure, so this keeps the same clock as `tcp_update_skb_after_send`.

use super::super::ControlInit;
use super::bandwidth::Bandwidth;
use crate::packet::LARGEST_BURST;
use crate::units::{Rate, Span, Time};

/// The first segments of a connection are not paced (`TCP_INIT_CWND`).
const UNPACED: u32 = 10;

/// Pacing state of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    mss: u32,
    rate: Rate,
    extra: u64,
    segment_time: Span,
    goal: u32,
    largest: u32,
    unpaced: u32,
    departure: Time,
}

impl Pacer {
    /// A connection that has not chosen a rate yet, with `largest` segments in a burst at most.
    pub fn new(init: &ControlInit, largest: u32) -> Self {
        Pacer {
            mss: init.mss,
            rate: Rate::from_bps(1),
            extra: 0,
            segment_time: Span::ZERO,
            goal: 1,
            largest,
            unpaced: UNPACED,
            departure: init.now,
        }
    }

    /// The pacing rate in bits of payload per second.
    #[inline]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Payload bytes of a full segment.
    #[inline]
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Segments to send in one burst: a millisecond's worth and `extra` bytes.
    #[inline]
    pub fn goal(&self) -> u32 {
        self.goal
    }

    /// Sets the rate, and the bytes that a burst may have beyond a millisecond at that rate.
    /// `min_goal` tells the smallest burst in segments for a rate.
    #[inline]
    pub fn set(&mut self, rate: Rate, extra: u64, min_goal: impl FnOnce(Rate) -> u32) {
        if (rate, extra) == (self.rate, self.extra) {
            return;
        }
        self.rate = Rate::from_bps(rate.as_bps().max(1));
        self.extra = extra;
        self.segment_time =
            Span::from_nanos(u64::from(self.mss) * 8_000_000_000 / self.rate.as_bps());
        let bytes = (((self.rate.as_bps() / 8) >> 10) + extra).min(LARGEST_BURST);
        self.goal = (bytes as u32 / self.mss).max(min_goal(self.rate)).min(self.largest);
    }

    /// A segment leaves the transport: the next one may follow after its time at the rate, less
    /// the credit (at most half of it) for leaving later than allowed.
    #[inline]
    pub fn on_sent(&mut self, now: Time) {
        if self.unpaced > 0 {
            self.unpaced -= 1;
            return;
        }
        let credit = now.since(self.departure).min(self.segment_time / 2);
        self.departure = self.departure.max(now) + (self.segment_time - credit);
    }

    /// Segments that will be in the network at the next departure, of `in_flight` now, while
    /// `bandwidth` drains it; `growing` counts the departing burst in.
    #[inline]
    pub fn in_network(
        &self,
        now: Time,
        in_flight: u32,
        bandwidth: Bandwidth,
        growing: bool,
    ) -> u32 {
        let wait = Span::from_micros(self.departure.since(now).as_micros());
        let drained = bandwidth.segments_in(wait);
        let then = in_flight + if growing { self.goal } else { 0 };
        u64::from(then).saturating_sub(drained) as u32
    }
}
