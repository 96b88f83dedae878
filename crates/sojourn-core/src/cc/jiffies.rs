//! The coarse clock of Linux's older controls: ticks of 1 ms (HZ = 1000).

use crate::units::{Span, Time};

/// Ticks per second.
pub const HZ: u64 = 1000;

/// Ticks since the start of the run.
#[inline]
pub fn jiffies(now: Time) -> u64 {
    now.since(Time::ZERO).as_millis()
}

/// A span in ticks, rounded up as the kernel does.
#[inline]
pub fn jiffies_of(span: Span) -> u64 {
    span.as_micros().div_ceil(1_000_000 / HZ)
}
