//! Bandwidth and gains in the fixed point of Linux's `tcp_bbr.c`, so that rounding agrees.

use crate::units::{Rate, Span};

/// Gains count in 1/256.
pub const UNIT: u32 = 256;

const SHIFT: u32 = 24;

/// Segments per microsecond, times 2^24 (one unit is about 715 bit/s).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bandwidth(u64);

impl Bandwidth {
    /// Nothing delivered, or not known yet.
    pub const ZERO: Bandwidth = Bandwidth(0);
    /// No bound.
    pub const MAX: Bandwidth = Bandwidth(u64::MAX);
    /// The smallest bandwidth above zero.
    pub const MIN: Bandwidth = Bandwidth(1);

    /// `segments` in `interval`, rounded down. `interval` is at least a microsecond.
    #[inline]
    pub fn over(segments: u64, interval: Span) -> Self {
        Bandwidth((segments << SHIFT) / interval.as_micros())
    }

    /// As [`Bandwidth::over`], rounded up.
    #[inline]
    pub fn over_rounded_up(segments: u64, interval: Span) -> Self {
        Bandwidth((segments << SHIFT).div_ceil(interval.as_micros()))
    }

    /// Whole segments that pass in `span`.
    #[inline]
    pub fn segments_in(self, span: Span) -> u64 {
        ((u128::from(self.0) * u128::from(span.as_micros())) >> SHIFT) as u64
    }

    /// `gain` times the segments that pass in `rtt`, rounded up.
    #[inline]
    pub fn bdp(self, rtt: Span, gain: u32) -> u32 {
        let scaled = (u128::from(self.0) * u128::from(rtt.as_micros()) * u128::from(gain)) >> 8;
        ((scaled + (1 << SHIFT) - 1) >> SHIFT).min(u128::from(u32::MAX)) as u32
    }

    /// `gain` times this bandwidth.
    #[inline]
    pub fn scaled(self, gain: u32) -> Self {
        Bandwidth(((u128::from(self.0) * u128::from(gain)) >> 8) as u64)
    }

    /// The distance to `other`.
    pub fn abs_diff(self, other: Self) -> Self {
        Bandwidth(self.0.abs_diff(other.0))
    }

    /// The mean of two bandwidths.
    pub fn midpoint(self, other: Self) -> Self {
        Bandwidth((self.0 + other.0) >> 1)
    }

    /// `gain` times this bandwidth less `margin` per cent, for segments of `size` bytes, in whole bytes
    /// per second.
    #[inline]
    pub fn rate(self, gain: u32, size: u32, margin: u32) -> Rate {
        let scaled = (u128::from(self.0) * u128::from(size) * u128::from(gain)) >> 8;
        let bytes = (scaled * u128::from(10_000 * (100 - margin))) >> SHIFT;
        Rate::from_bps((bytes * 8).min(u128::from(u64::MAX)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hundred_megabit() {
        // 8333 segments of 1500 bytes in a second.
        let bandwidth = Bandwidth::over(8333, Span::from_secs(1));
        assert_eq!(bandwidth.bdp(Span::from_millis(60), UNIT), 500);
        assert_eq!(bandwidth.bdp(Span::from_millis(60), 2 * UNIT), 1000);
        assert_eq!(bandwidth.segments_in(Span::from_millis(60)), 499);
        let rate = bandwidth.rate(UNIT, 1500, 1).as_mbps_f64();
        assert!((rate - 99.0).abs() < 0.01, "{rate}");
    }
}
