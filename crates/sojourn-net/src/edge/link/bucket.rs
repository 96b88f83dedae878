//! Token buckets: a shaper that delays what exceeds rate and burst, and a policer that drops it.
//!
//! A bucket holds at most `burst` bytes of tokens and fills at `rate`. A packet takes as many
//! tokens as it has framed bytes. The shaper (Linux `tbf`, `net/sched/sch_tbf.c`) lets the packet
//! at the head wait until there are enough; the policer (`police` action, `net/sched/act_police.c`)
//! drops what finds too few. A bucket is full at the start. A shaped packet larger than the whole
//! burst waits until it would have filled from empty, where Linux drops it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::FieldError;
use crate::packet::Packet;
use crate::quantity::Bytes;
use crate::queue::{Backlog, DropReason};
use crate::record::LinkCounters;
use crate::record::live::Tap;
use crate::units::{Rate, Span, Time};

/// A token bucket as a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BucketSpec {
    /// Fill rate, counting framed bytes.
    pub rate: Rate,
    /// Size of the bucket in bytes of tokens.
    pub burst: Bytes,
}

impl BucketSpec {
    /// Checks that packets can pass.
    ///
    /// # Errors
    /// Names the key, relative to the bucket.
    pub fn validate(&self) -> Result<(), FieldError> {
        if self.burst.0 == 0 {
            let message = "0 B given, with which no packet passes; allowed: above 0 B";
            return Err(FieldError::new("burst", message));
        }
        Ok(())
    }
}

/// A token bucket, stored as the time at which it will be full: exact in integers.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket {
    rate: Rate,
    /// Time it takes to fill from empty.
    depth: Span,
    full_at: Time,
    carry: u64,
}

impl TokenBucket {
    /// A full bucket with this rate and burst.
    pub fn new(spec: BucketSpec) -> Self {
        TokenBucket {
            rate: spec.rate,
            depth: spec.rate.span_of(spec.burst.0),
            full_at: Time::ZERO,
            carry: 0,
        }
    }

    /// Time at which a packet of `length` bytes that is ready at `now` may leave; takes its tokens.
    pub fn departure(&mut self, now: Time, length: u32) -> Time {
        let full_at = self.full_after(now, length);
        self.full_at = full_at;
        (full_at - self.depth).max(now)
    }

    /// Whether there are tokens for a packet of `length` bytes at `now`; takes them if so.
    pub fn conforms(&mut self, now: Time, length: u32) -> bool {
        let carry = self.carry;
        let full_at = self.full_after(now, length);
        let conforms = full_at.since(now) <= self.depth;
        if conforms {
            self.full_at = full_at;
        } else {
            self.carry = carry;
        }
        conforms
    }

    /// When the bucket will be full again once `length` bytes are taken, not before `now`.
    fn full_after(&mut self, now: Time, length: u32) -> Time {
        if self.full_at <= now {
            self.carry = 0;
        }
        self.full_at.max(now) + self.rate.transmission(length, &mut self.carry)
    }
}

/// Drops packets that find too few tokens.
#[derive(Debug)]
pub(super) struct Policer {
    bucket: TokenBucket,
    overhead: u32,
    dropped: Backlog,
    tap: Option<Tap>,
}

impl Policer {
    /// A policer that counts `overhead` bytes on top of each IP packet.
    pub(super) fn new(spec: BucketSpec, overhead: u32, tap: Option<Tap>) -> Self {
        Policer { bucket: TokenBucket::new(spec), overhead, dropped: Backlog::default(), tap }
    }

    /// Whether `packet` may pass; counts it if not.
    pub(super) fn admits(&mut self, now: Time, packet: &Packet) -> bool {
        let conforms = self.bucket.conforms(now, packet.size + self.overhead);
        if !conforms {
            self.dropped.add(packet);
            if let Some(tap) = &self.tap {
                tap.drop(now, packet, DropReason::Policed.name());
            }
        }
        conforms
    }

    /// Adds its share of the link's counters.
    pub(super) fn report(&self, counters: &mut LinkCounters) {
        counters.drops_policed += self.dropped.packets;
        counters.dropped_bytes += self.dropped.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(mbps: u64, burst: u64) -> TokenBucket {
        let rate = Rate::from_bps(mbps * 1_000_000);
        TokenBucket::new(BucketSpec { rate, burst: Bytes(burst) })
    }

    #[test]
    fn shaper_passes_exactly_a_burst_and_then_the_rate() {
        // 8 Mbit/s: 1000 bytes in 1 ms; the burst is 10 packets.
        let mut bucket = bucket(8, 10_000);
        let start = Time::ZERO + Span::from_secs(1);
        let leaves: Vec<_> = (0..100).map(|_| bucket.departure(start, 1000)).collect();
        for (i, at) in leaves.iter().enumerate() {
            let expected = start + Span::from_millis((i as u64).saturating_sub(9));
            assert_eq!(*at, expected, "packet {i}");
        }
        // Half a burst comes back in 5 ms.
        let later = leaves[99] + Span::from_millis(5);
        let again: Vec<_> = (0..7).map(|_| bucket.departure(later, 1000)).collect();
        assert_eq!(again[4], later);
        assert_eq!(again[5], later + Span::from_millis(1));
    }

    #[test]
    fn policer_passes_burst_plus_rate_and_no_byte_more() {
        let mut bucket = bucket(7, 12_345);
        let mut passed = 0u64;
        for us in 0..1_000_000u64 {
            let now = Time::ZERO + Span::from_micros(us);
            if us % 37 == 0 && bucket.conforms(now, 333) {
                passed += 333;
            }
            let most = 12_345 + Rate::from_bps(7_000_000).bytes_in(Span::from_micros(us));
            assert!(passed <= most, "{passed} at {us} us");
        }
        // Offered 9 MB/s against 0.875: always short of tokens, so nearly everything is used.
        assert!(passed + 333 + 333 > 12_345 + 875_000, "{passed}");
    }

    #[test]
    fn refused_packets_take_no_tokens() {
        let mut bucket = bucket(8, 1000);
        assert!(bucket.conforms(Time::ZERO, 600));
        for _ in 0..50 {
            assert!(!bucket.conforms(Time::ZERO, 600));
        }
        assert!(bucket.conforms(Time::ZERO, 400));
        assert!(bucket.conforms(Time::ZERO + Span::from_millis(1), 1000));
    }
}
