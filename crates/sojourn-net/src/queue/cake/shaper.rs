//! Cake's shaper: a virtual clock without a bucket, hence without bursts.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::written::as_string;
use crate::error::quoted;
use crate::units::{Rate, Span, Time};

/// The shaper's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Bandwidth {
    /// No shaping: packets depart as the link takes them.
    Unlimited,
    /// Shaped to this rate.
    Limited(Rate),
}

impl FromStr for Bandwidth {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "unlimited" => Ok(Bandwidth::Unlimited),
            _ => text
                .parse()
                .map(Bandwidth::Limited)
                .map_err(|why| format!("'{}': {why}, or \"unlimited\"", quoted(text))),
        }
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bandwidth::Unlimited => f.write_str("unlimited"),
            Bandwidth::Limited(rate) => rate.fmt(f),
        }
    }
}

as_string!(Bandwidth);

/// Virtual clock: the time at which the next packet may leave. Each departure advances the clock by
/// its own length at the rate, with carried remainders, so that the long-run rate is exact whatever
/// the gaps between wake-ups.
#[derive(Debug)]
pub(super) struct Shaper {
    rate: Option<Rate>,
    carry: u64,
    next: Time,
    failsafe: Time,
}

impl Shaper {
    /// A shaper at `rate`; with `None` everything passes.
    pub(super) fn new(rate: Option<Rate>) -> Self {
        Shaper { rate, carry: 0, next: Time::ZERO, failsafe: Time::ZERO }
    }

    /// The shaper's rate, if any.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// A packet arrived at an empty queue: unused time is lost.
    #[inline]
    pub(super) fn on_busy(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// Time until which all packets must wait; `None` if a packet may leave now.
    #[inline]
    pub(super) fn waits_until(&self, now: Time) -> Option<Time> {
        let next = self.next.min(self.failsafe);
        (next > now).then_some(next)
    }

    /// Counts a packet of `length` framed bytes that left; returns the time that it takes.
    #[inline]
    pub(super) fn on_sent(&mut self, length: u32) -> Span {
        let span = self.advance(length);
        // Packets that leave get at least two thirds of the rate, however many are dropped.
        self.failsafe += span + span / 2;
        span
    }

    /// Counts a dropped packet, in ingress mode: it has used the bottleneck. Returns the time that
    /// it took.
    pub(super) fn on_dropped(&mut self, length: u32) -> Span {
        self.advance(length)
    }

    fn advance(&mut self, length: u32) -> Span {
        let Some(rate) = self.rate else { return Span::ZERO };
        let span = rate.transmission(length, &mut self.carry);
        self.next += span;
        span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn departures_are_spaced_by_exactly_their_length() {
        let mut shaper = Shaper::new(Some(Rate::from_bps(7_000_000)));
        let mut now = Time::from_nanos(123);
        shaper.on_busy(now);
        for _ in 0..7_000_000 / 8 {
            assert_eq!(shaper.waits_until(now), None);
            shaper.on_sent(1000);
            now = shaper.waits_until(now).unwrap();
        }
        assert_eq!(now, Time::from_nanos(123) + Span::from_secs(1000), "no drift, no burst");
    }

    #[test]
    fn late_service_catches_up_and_idle_time_is_lost() {
        let mut shaper = Shaper::new(Some(Rate::from_bps(8_000_000)));
        shaper.on_busy(Time::ZERO);
        let late = Time::ZERO + Span::from_millis(3);
        for _ in 0..4 {
            assert_eq!(shaper.waits_until(late), None);
            shaper.on_sent(1000);
        }
        assert_eq!(shaper.waits_until(late), Some(Time::ZERO + Span::from_millis(4)));
        let much_later = Time::ZERO + Span::from_secs(1);
        shaper.on_busy(much_later);
        shaper.on_sent(1000);
        assert_eq!(shaper.waits_until(much_later), Some(much_later + Span::from_millis(1)));
    }

    #[test]
    fn drops_alone_cannot_stop_departures() {
        let mut shaper = Shaper::new(Some(Rate::from_bps(8_000_000)));
        shaper.on_busy(Time::ZERO);
        for _ in 0..100 {
            shaper.on_dropped(1000);
        }
        shaper.on_sent(1000);
        let next = shaper.waits_until(Time::ZERO);
        assert_eq!(next, Some(Time::ZERO + Span::from_micros(1500)), "the failsafe clock");
    }
}
