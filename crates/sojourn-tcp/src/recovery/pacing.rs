//! Pacing: the earliest departure time of the next segment, as Linux keeps it
//! (`tcp_update_skb_after_send`, `tcp_update_pacing_rate`, `tcp_tso_autosize`).
//!
//! The clock advances by length over rate for every burst; up to half a burst's time is credited
//! when the sender was late. Rate and length count payload, and rates whole bytes per second, as in
//! Linux. Bursts within the first nine segments of a connection are not paced, but move the clock
//! (`tcp_wstamp_ns`), so that the next one is not late.

use crate::packet::LARGEST_BURST;
use crate::units::{Rate, Span, Time};

/// The burst with which a connection has sent this many segments is the first that is paced.
const PACED_FROM: u64 = 10;
/// Burst length: this much time at the pacing rate (`sk_pacing_shift` 10, about 1 ms).
const BURST_SHIFT: u32 = 10;
/// `tcp_tso_rtt_log`: at RTTs of 2^9 us and less, bursts grow.
const RTT_SHIFT: u64 = 512;

/// The pacing clock of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    rate: Option<Rate>,
    /// Earliest time of the next burst.
    next: Time,
    /// Segments left of the present burst.
    left: u32,
    /// The earliest time at which the present burst could go, and how late it began.
    began: Time,
    late: Span,
    /// Bytes sent of it.
    bytes: u64,
    /// Whether it is paced.
    paces: bool,
}

impl Pacer {
    /// Sets the rate, in bits of payload per second; `None` switches pacing off.
    #[inline]
    pub fn set_rate(&mut self, rate: Option<Rate>) {
        self.rate = rate.filter(|rate| rate.as_bps() > 0);
    }

    /// The rate in force.
    pub fn rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Earliest time of the next burst.
    pub fn next(&self) -> Time {
        self.next
    }

    /// When the next segment may go, if that is later than `now`.
    #[inline]
    pub fn blocked_until(&self, now: Time) -> Option<Time> {
        (self.rate.is_some() && self.left == 0 && self.next > now).then_some(self.next)
    }

    /// The present burst is at its end, however long it was to be.
    #[inline]
    pub fn end_burst(&mut self) {
        self.left = 0;
    }

    /// A segment of `payload` bytes was sent after so many others; if it begins a burst, this is of
    /// `burst` segments.
    #[inline]
    pub fn on_sent(&mut self, now: Time, payload: u32, burst: u32, segments_before: u64) {
        if self.left == 0 {
            self.left = burst.max(1);
            self.late = now.since(self.next);
            self.began = self.next.max(now);
            self.bytes = 0;
            self.paces = segments_before + u64::from(self.left) >= PACED_FROM;
        }
        self.left -= 1;
        self.bytes += u64::from(payload);
        let length = match self.rate {
            Some(rate) if self.paces => rate.span_of(self.bytes),
            _ => Span::ZERO,
        };
        self.next = self.began + (length - self.late.min(length / 2));
    }
}

/// Segments that leave back to back with offload: about a millisecond's worth, more on very short
/// paths, at least two.
#[inline]
pub fn burst_segments(rate: Option<Rate>, min_rtt: Span, mss: u32) -> u32 {
    let paced = rate.map_or(LARGEST_BURST, |rate| (rate.as_bps() / 8) >> BURST_SHIFT);
    let halvings = min_rtt.as_micros() / RTT_SHIFT;
    let extra = if halvings < 32 { LARGEST_BURST >> halvings } else { 0 };
    let bytes = (paced + extra).min(LARGEST_BURST);
    ((bytes / u64::from(mss)) as u32).max(2)
}

/// The pacing rate of a window-based control: twice the window per RTT in the first half of slow
/// start, 1.2 times later.
#[inline]
pub fn window_rate(
    cwnd: u32,
    ssthresh: u32,
    packets_out: u32,
    mss: u32,
    srtt: Span,
) -> Option<Rate> {
    if srtt == Span::ZERO {
        return None;
    }
    let percent: u64 = if cwnd < ssthresh / 2 { 200 } else { 120 };
    let bytes = u64::from(cwnd.max(packets_out)) * u64::from(mss);
    let (factor, nanos) = (percent * 10_000_000, srtt.as_nanos());
    // Wide arithmetic is slow, and needed for windows of gigabytes only.
    let rate = match bytes.checked_mul(factor) {
        Some(product) => product / nanos,
        None => {
            let rate = u128::from(bytes) * u128::from(factor) / u128::from(nanos);
            u64::try_from(rate).unwrap_or(u64::MAX)
        }
    };
    Some(Rate::from_bps(rate.max(1).saturating_mul(8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paced_segments_keep_the_rate() {
        let mut pacer = Pacer::default();
        pacer.set_rate(Some(Rate::from_bps(11_584_000)));
        let mut now = Time::ZERO;
        let mut sent = 10;
        while sent < 1010 {
            match pacer.blocked_until(now) {
                Some(at) => now = at,
                None => {
                    pacer.on_sent(now, 1448, 1, sent);
                    sent += 1;
                }
            }
        }
        let elapsed = now.as_secs_f64();
        assert!((elapsed - 0.999).abs() < 0.001, "{elapsed}");
    }

    /// Of what is late, half of a large segment's time is given back, not half of each segment's.
    #[test]
    fn a_late_burst_is_followed_after_half_its_time() {
        let mut pacer = Pacer::default();
        pacer.set_rate(Some(Rate::from_bps(11_584_000)));
        let now = Time::ZERO + Span::from_secs(1);
        for sent in [10, 11] {
            assert_eq!(pacer.blocked_until(now), None);
            pacer.on_sent(now, 1448, 2, sent);
        }
        assert_eq!(pacer.next(), now + Span::from_millis(1), "of 2 ms");
    }

    /// The tenth segment is the first that is paced, and with it the burst that it ends.
    #[test]
    fn the_burst_with_the_tenth_segment_holds_the_next_one_back() {
        let mut pacer = Pacer::default();
        pacer.set_rate(Some(Rate::from_bps(11_584_000)));
        let now = Time::ZERO;
        (0..8).for_each(|sent| pacer.on_sent(now, 1448, 1, sent));
        assert_eq!(pacer.next(), now);
        (8..10).for_each(|sent| pacer.on_sent(now, 1448, 2, sent));
        assert_eq!(pacer.next(), now + Span::from_millis(2));
    }

    /// What is sent of a burst counts, not what it might have been.
    #[test]
    fn a_burst_that_ended_early_is_followed_by_another_one() {
        let mut pacer = Pacer::default();
        pacer.set_rate(Some(Rate::from_bps(11_584_000)));
        let now = Time::ZERO + Span::from_secs(1);
        pacer.on_sent(now, 1448, 2, 10);
        pacer.end_burst();
        let next = pacer.next();
        assert_eq!(pacer.blocked_until(now), Some(next));
        assert_eq!(pacer.blocked_until(next), None);
        pacer.on_sent(next, 1448, 2, 11);
        assert_eq!(pacer.blocked_until(next), None, "the second one of another pair");
    }

    #[test]
    fn window_rate_is_1_2_windows_per_rtt() {
        let rate = window_rate(100, 50, 100, 1448, Span::from_millis(100)).unwrap();
        assert_eq!(rate.as_bps(), 13_900_800);
    }

    #[test]
    fn bursts_are_a_millisecond_of_the_rate() {
        let at = |mbps: u64, rtt_ms| {
            burst_segments(Some(Rate::from_bps(mbps * 1_000_000)), Span::from_millis(rtt_ms), 1448)
        };
        assert_eq!(at(1, 100), 2);
        assert_eq!(at(100, 100), 8);
        assert_eq!(at(10_000, 100), 45);
    }
}
