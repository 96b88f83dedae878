//! Time, span and rate: distinct types that cannot be mixed.
//!
//! All arithmetic is on integers (nanoseconds, bits per second, bytes), so that results are
//! bit-identical on every machine and serialisation times can carry their remainder.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A moment of simulated time: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of simulated time in nanoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// Like `round`, but zero for negative numbers and NaN, and without the call of the mathematical
/// library that the baseline of x86-64 makes.
#[inline]
fn rounded(x: f64) -> u64 {
    // Conversions of signed integers are single instructions; from 2^53 on there are no fractions.
    if x < (1u64 << 53) as f64 {
        let whole = x as i64;
        return (whole + i64::from(x - whole as f64 >= 0.5)).max(0) as u64;
    }
    x as u64
}

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// Later than every event: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// From nanoseconds since the start.
    pub const fn from_nanos(ns: u64) -> Self {
        Time(ns)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for output only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// The span since `earlier`, zero if `earlier` is later.
    #[inline]
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The same by a clock that shows whole microseconds (Linux `tcp_stamp_us_delta`): it is not the
    /// span rounded down, since the two readings are.
    #[inline]
    pub const fn micros_since(self, earlier: Time) -> Span {
        self.in_micros().since(earlier.in_micros())
    }

    /// The time in whole microseconds, rounded down.
    #[inline]
    pub const fn in_micros(self) -> Time {
        Time(self.0 / 1_000 * 1_000)
    }
}

impl Span {
    /// The empty span.
    pub const ZERO: Span = Span(0);
    /// The longest span.
    pub const MAX: Span = Span(u64::MAX);

    /// From nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Span(ns)
    }

    /// From microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Span(us * 1_000)
    }

    /// From milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Span(ms * 1_000_000)
    }

    /// From whole seconds.
    pub const fn from_secs(s: u64) -> Self {
        Span(s * NANOS_PER_SEC)
    }

    /// From seconds, rounded to the nearest nanosecond; negative and NaN become zero.
    #[inline]
    pub fn from_secs_f64(s: f64) -> Self {
        Span(rounded(s * NANOS_PER_SEC as f64))
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down (the resolution of Linux's TCP clock).
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Milliseconds, for output.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Difference, zero if `other` is longer.
    #[inline]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// This span times a non-negative real number, rounded to the nearest nanosecond.
    pub fn mul_f64(self, factor: f64) -> Span {
        Span(rounded(self.0 as f64 * factor))
    }
}

impl Rate {
    /// From bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Rate(bps)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Megabits per second, for output.
    pub fn as_mbps_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Time to serialise `bytes`, rounded down; the remainder of the division (in bit-nanoseconds)
    /// is kept in `carry` and counted the next time, so that rates do not drift.
    #[inline]
    pub fn transmission(self, bytes: u32, carry: &mut u64) -> Span {
        let total = u64::from(bytes) * 8 * NANOS_PER_SEC + *carry;
        *carry = total % self.0;
        Span(total / self.0)
    }

    /// Time to serialise `bytes`, rounded up to the next nanosecond.
    #[inline]
    pub fn span_of(self, bytes: u64) -> Span {
        // Wide arithmetic is slow, and needed for gigabytes only.
        match bytes.checked_mul(8 * NANOS_PER_SEC) {
            Some(bits) => Span(bits.div_ceil(self.0)),
            None => self.long_span_of(bytes),
        }
    }

    #[cold]
    fn long_span_of(self, bytes: u64) -> Span {
        let bits = u128::from(bytes) * 8 * u128::from(NANOS_PER_SEC);
        Span(bits.div_ceil(u128::from(self.0)).min(u128::from(u64::MAX)) as u64)
    }

    /// Whole bytes that pass in `span`.
    pub fn bytes_in(self, span: Span) -> u64 {
        (u128::from(self.0) * u128::from(span.0) / (8 * u128::from(NANOS_PER_SEC))) as u64
    }

    /// This rate times a non-negative real number.
    pub fn mul_f64(self, factor: f64) -> Rate {
        Rate((self.0 as f64 * factor).round().max(0.0) as u64)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    /// Saturates at zero: a span is never negative.
    #[inline]
    fn sub(self, other: Span) -> Span {
        self.saturating_sub(other)
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs_f64())
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.as_millis_f64())
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bit/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carried_remainder_keeps_the_rate() {
        let rate = Rate::from_bps(3);
        let mut carry = 0;
        let total: u64 = (0..3).map(|_| rate.transmission(1, &mut carry).as_nanos()).sum();
        assert_eq!(total, 8 * NANOS_PER_SEC);
        assert_eq!(carry, 0);
    }

    #[test]
    fn numbers_are_rounded_as_the_library_does() {
        let halves = (0..64).map(|n| f64::from(n) / 2.0);
        let odd = [-3.5, -0.5, 0.49999999999999994, 4503599627370495.5, 9007199254740993.0, 1e19];
        let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.0];
        for x in halves.chain(odd).chain(special) {
            assert_eq!(rounded(x), x.round().max(0.0) as u64, "{x}");
        }
    }

    #[test]
    fn span_never_goes_negative() {
        assert_eq!(Span::from_millis(1) - Span::from_millis(2), Span::ZERO);
        assert_eq!(Time::ZERO.since(Time::from_nanos(5)), Span::ZERO);
    }
}
