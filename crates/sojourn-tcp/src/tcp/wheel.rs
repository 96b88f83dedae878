//! The kernel's timer wheel (Linux `kernel/time/timer.c`, `calc_index`, since 4.8): timers fire on
//! ticks.
//!
//! A wait is counted in whole ticks, rounded up, from the last tick (`jiffies +
//! usecs_to_jiffies()`), and the wheel adds a step, lest a timer be early: a tick for waits of less
//! than 63 ticks, 8 from there on, and eight times as many for each further eightfold wait. A wait
//! of 2.3 ms takes 3 to 4 ms with ticks of 1 ms, one of 200 ms up to 9 ms more.
//!
//! Deviation: ticks are counted from the start of the run; of a kernel only the phase within a tick
//! is known, so that which of the 8 ticks of a longer wait it is differs.

use crate::units::{Span, Time};

/// Waits from here on, in ticks, are rounded to steps of [`COARSER`] (`LVL_START`).
const FINE_TICKS: u64 = 63;
/// Each level's steps are longer than those of the one before by this power of two
/// (`LVL_CLK_SHIFT`).
const COARSER: u32 = 3;

/// When a timer fires that is set at `now` for `wait`.
#[inline]
pub(super) fn fires(now: Time, wait: Span, tick: Span) -> Time {
    let tick = tick.as_nanos();
    let wait = wait.as_nanos().div_ceil(tick);
    let expires = now.as_nanos() / tick + wait;
    let mut shift = 0;
    while wait >= FINE_TICKS << shift {
        shift += COARSER;
    }
    Time::from_nanos((((expires >> shift) + 1) << shift) * tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_on_a_later_tick_and_long_ones_on_a_step_of_ticks() {
        let at = |now: u64, wait: u64| {
            let (now, wait) = (Time::from_nanos(now * 1000), Span::from_micros(wait));
            fires(now, wait, Span::from_millis(1)).as_nanos() / 1000
        };
        assert_eq!(at(125_626, 3_763), 130_000, "125 + 4 and the wheel's one");
        assert_eq!(at(125_000, 62_000), 188_000);
        assert_eq!(at(125_000, 63_000), 192_000, "a step of 8");
        assert_eq!(at(125_000, 200_000), 328_000);
        assert_eq!(at(125_000, 1_000_000), 1_152_000, "a step of 64");
    }
}
