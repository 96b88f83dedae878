//! Pacing rate, burst size, and the part of the data in flight that has left the host.
//!
//! Linux gives each packet an earliest departure time; part of what counts as in flight may still
//! wait for it in the host. BBR's state machine looks at what will be in the network at the next
//! departure, of which the sender tells how far away it is.

use super::super::ControlInit;
use super::bandwidth::Bandwidth;
use crate::packet::LARGEST_BURST;
use crate::units::{Rate, Span};

/// Pacing state of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    mss: u32,
    rate: Rate,
    extra: u64,
    goal: u32,
    largest: u32,
}

impl Pacer {
    /// A connection that has not chosen a rate yet, with `largest` segments in a burst at most.
    pub fn new(init: &ControlInit, largest: u32) -> Self {
        Pacer { mss: init.mss, rate: Rate::from_bps(1), extra: 0, goal: 1, largest }
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
        let bytes = (((self.rate.as_bps() / 8) >> 10) + extra).min(LARGEST_BURST);
        self.goal = (bytes as u32 / self.mss).max(min_goal(self.rate)).min(self.largest);
    }

    /// Segments that will be in the network at the next departure, of `in_flight` now, while
    /// `bandwidth` drains it; `growing` counts the departing burst in.
    #[inline]
    pub fn in_network(
        &self,
        departs_in: Span,
        in_flight: u32,
        bandwidth: Bandwidth,
        growing: bool,
    ) -> u32 {
        let drained = bandwidth.segments_in(departs_in);
        let then = in_flight + if growing { self.goal } else { 0 };
        u64::from(then).saturating_sub(drained) as u32
    }
}
