//! Times and sequence numbers in their format on the wire.

use sojourn_base::units::Time;

/// A connection's clock: microseconds of 32 bits, never zero, which stands for "none". One end
/// corrects its clock in the handshake, so that the two differ by about a one-way delay.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    correction: u32,
    /// Whether both ends have a clock in common from elsewhere.
    shown: bool,
}

impl Clock {
    /// The stamp of `now`.
    pub(crate) fn stamp(&self, now: Time) -> u32 {
        micros(now).wrapping_add(self.correction).max(1)
    }

    /// Adjusts the clock to the other end's, whose stamp answers our uncorrected one; not if it shows
    /// another one.
    pub(crate) fn follow(&mut self, theirs: u32, ours: u32) {
        if !self.shown {
            self.correction = theirs.wrapping_sub(ours);
        }
    }

    /// Shows a clock that is this many microseconds ahead of the connection's times.
    pub(crate) fn show(&mut self, ahead: u32) {
        *self = Clock { correction: ahead, shown: true };
    }

    /// Whether it shows another clock than the connection's times.
    pub(crate) fn is_shown(&self) -> bool {
        self.shown
    }
}

/// When a packet was sent. The count orders packets that are sent within one microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The wire's time.
    pub stamp: u32,
    /// Data packets of the connection sent so far, it included.
    pub count: u32,
}

/// Microseconds, cut to 32 bits. A run begins one late, so that its first instant is no exception
/// where zero is.
pub(crate) fn micros(now: Time) -> u32 {
    ((now.as_nanos() / 1_000) as u32).wrapping_add(1)
}

/// How far `later` is after `earlier` in a space of 32 bits; negative if it is before.
pub(crate) fn distance(later: u32, earlier: u32) -> i64 {
    i64::from(later.wrapping_sub(earlier) as i32)
}

/// The number closest to `near` whose lowest 32 bits are `short`; `None` if it would be negative.
pub(crate) fn expand(short: u32, near: u64) -> Option<u64> {
    near.checked_add_signed(distance(short, near as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_find_their_place_across_a_wrap() {
        let near = (7u64 << 32) + 3;
        assert_eq!(expand(5, near), Some((7 << 32) + 5));
        assert_eq!(expand(u32::MAX, near), Some((7 << 32) - 1));
        assert_eq!(expand(u32::MAX, 3), None);
    }

    #[test]
    fn a_stamp_is_never_zero_and_follows_the_peer() {
        let mut clock = Clock::default();
        assert_eq!(clock.stamp(Time::ZERO), 1);
        clock.follow(1_000, 401);
        assert_eq!(clock.stamp(Time::from_nanos(400_000)), 1_000);
    }
}
