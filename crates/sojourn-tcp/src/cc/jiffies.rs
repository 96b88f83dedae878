//! The coarse clock of Linux's older controls: timer ticks.

use crate::spec::Stack;
use crate::units::{Span, Time};

/// A kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// Ticks per second (`HZ`).
    pub hz: u64,
    /// Length of one in nanoseconds: every ACK asks for the tick.
    length: u64,
}

impl Ticks {
    /// Ticks of 1 ms.
    pub const MILLISECONDS: Ticks = Ticks::per_second(1000);

    /// This many ticks per second.
    pub const fn per_second(hz: u64) -> Self {
        Ticks { hz, length: 1_000_000_000 / hz }
    }

    /// Ticks of a stack's controls: 4 ms in `linux-4.9`, which is Ubuntu's, else 1 ms.
    pub fn of(stack: Stack) -> Self {
        match stack {
            Stack::Linux49 => Ticks::per_second(250),
            _ => Ticks::MILLISECONDS,
        }
    }

    /// Ticks since the start of the run.
    #[inline]
    pub fn at(self, now: Time) -> u64 {
        now.as_nanos() / self.length
    }

    /// The time of the latest tick.
    pub fn floor(self, now: Time) -> Time {
        Time::from_nanos(self.at(now) * self.length)
    }

    /// A span in ticks, rounded up as the kernel does.
    #[inline]
    pub fn covering(self, span: Span) -> u64 {
        span.as_micros().div_ceil(1_000_000 / self.hz)
    }

    /// Ticks in seconds.
    pub fn seconds(self, ticks: u64) -> f64 {
        ticks as f64 / self.hz as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `jiffies` counts whole ticks, `usecs_to_jiffies` rounds up.
    #[test]
    fn time_is_cut_to_ticks_and_spans_are_rounded_up() {
        let now = Time::from_nanos(31_999_999);
        for (stack, at, covering) in [(Stack::Linux49, 7, 8), (Stack::Linux6, 31, 30)] {
            let ticks = Ticks::of(stack);
            assert_eq!((ticks.at(now), ticks.covering(Span::from_millis(30))), (at, covering));
        }
    }
}
