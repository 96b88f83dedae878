//! Packet-delivery traces: a link that can deliver a number of bytes at each listed instant.
//!
//! Model: Mahimahi's `mm-link` (Netravali et al. 2015, `src/frontend/link_queue.cc`). Each number
//! is a time in milliseconds at which `opportunity` bytes can be delivered; equal numbers add up. A
//! packet may need several opportunities, and several small ones share one. Unused opportunities
//! are lost. After its last time the trace repeats, its times counted from there.
//!
//! The scenario holds the numbers themselves (`opportunities`), so that they are part of its hash;
//! the loader of scenario files puts them there for `file = "..."`.
//!
//! By default an opportunity carries one full packet with the link's framing. Mahimahi's 1504 bytes
//! correspond to `overhead = "4 B"` (its packets carry a 4-byte tunnel header). Mahimahi keeps the
//! packet being delivered in its queue; here it has left the queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::FieldError;
use crate::quantity::Bytes;
use crate::units::{Rate, Span, Time};

/// More than a day at one opportunity a millisecond.
const MOST: usize = 100_000_000;

/// A trace as a scenario writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Times of delivery opportunities in milliseconds, not decreasing.
    pub opportunities: Vec<u32>,
    /// Framed bytes per opportunity. Default: a full packet with the link's framing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opportunity: Option<Bytes>,
}

impl TraceSpec {
    /// Checks the times.
    ///
    /// # Errors
    /// Names the key, relative to the trace.
    pub fn validate(&self) -> Result<(), FieldError> {
        let wrong = |message: String| Err(FieldError::new("opportunities", message));
        let times = &self.opportunities;
        if times.len() > MOST {
            return wrong(format!("{} given; allowed: at most {MOST}", times.len()));
        }
        if times.last().is_none_or(|last| *last == 0) {
            return wrong("is empty or ends at 0 ms; the last time must be above 0 ms".to_owned());
        }
        if let Some(index) = times.windows(2).position(|pair| pair[1] < pair[0]) {
            let (before, after) = (times[index], times[index + 1]);
            return wrong(format!("{after} ms given after {before} ms; times must not decrease"));
        }
        match self.opportunity {
            Some(Bytes(bytes)) if bytes == 0 || bytes > 1_000_000_000 => Err(FieldError::new(
                "opportunity",
                format!("{} is outside 1 B to 1 GB", Bytes(bytes)),
            )),
            _ => Ok(()),
        }
    }

    /// Mean rate if each opportunity carries `bytes`.
    pub fn mean_rate(&self, bytes: u64) -> Rate {
        let period = u64::from(*self.opportunities.last().unwrap_or(&1)).max(1);
        let bits = self.opportunities.len() as u64 * self.bytes(bytes) * 8;
        Rate::from_bps((bits * 1000 / period).max(1))
    }

    /// Bytes per opportunity; `full` is the size of a full packet with framing.
    pub fn bytes(&self, full: u64) -> u64 {
        self.opportunity.map_or(full, |Bytes(bytes)| bytes)
    }
}

/// A trace in progress.
#[derive(Debug)]
pub struct Trace {
    times: Box<[u32]>,
    bytes: u64,
    index: usize,
    /// Start of the present repetition of the trace.
    base: Time,
    /// Bytes left of the opportunity at `index`.
    left: u64,
}

impl Trace {
    /// A trace from its start; `full` is the length of a full packet with framing.
    pub fn new(spec: &TraceSpec, full: u32) -> Self {
        let bytes = spec.bytes(u64::from(full));
        let times = spec.opportunities.clone().into();
        Trace { times, bytes, index: 0, base: Time::ZERO, left: bytes }
    }

    /// Time at which a packet of `length` bytes that is ready at `now` has been delivered, unless
    /// that is after `horizon`.
    pub fn delivered(&mut self, now: Time, length: u32, horizon: Time) -> Time {
        while self.time() < now {
            self.advance();
        }
        let mut missing = u64::from(length);
        while missing > self.left && self.time() <= horizon {
            missing -= self.left;
            self.advance();
        }
        self.left = self.left.saturating_sub(missing);
        let delivered = self.time();
        if self.left == 0 {
            self.advance();
        }
        delivered
    }

    fn time(&self) -> Time {
        self.base + Span::from_millis(u64::from(self.times[self.index]))
    }

    fn advance(&mut self) {
        self.left = self.bytes;
        self.index += 1;
        if self.index == self.times.len() {
            self.index -= 1;
            self.base = self.time();
            self.index = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Time = Time::NEVER;

    fn trace(opportunities: &[u32], bytes: u64) -> Trace {
        let opportunity = Some(Bytes(bytes));
        Trace::new(&TraceSpec { opportunities: opportunities.to_vec(), opportunity }, 1504)
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn full_packets_leave_at_the_listed_times_round_after_round() {
        let mut trace = trace(&[3, 3, 7, 10], 1504);
        let mut now = Time::ZERO;
        let mut times = Vec::new();
        for _ in 0..10 {
            now = trace.delivered(now, 1504, FAR);
            times.push(now.as_nanos() / 1_000_000);
        }
        assert_eq!(times, [3, 3, 7, 10, 13, 13, 17, 20, 23, 23]);
    }

    #[test]
    fn a_backlog_gets_every_byte_of_every_opportunity() {
        let times = [1, 4, 4, 5, 9, 12, 12, 12, 20];
        let mut trace = trace(&times, 1000);
        let mut now = Time::ZERO;
        let mut sent = 0u64;
        for index in 0..5000u64 {
            let length = 40 + (index * 977 % 1461) as u32;
            now = trace.delivered(now, length, FAR);
            sent += u64::from(length);
            // The last byte of `sent` lies in opportunity number (sent - 1) / 1000.
            let number = (sent - 1) / 1000;
            let (round, place) = (number / 9, (number % 9) as usize);
            assert_eq!(now, ms(round * 20 + u64::from(times[place])), "packet {index}");
        }
    }

    #[test]
    fn unused_opportunities_are_lost() {
        let mut trace = trace(&[1, 2, 3, 4, 5], 1500);
        assert_eq!(trace.delivered(Time::from_nanos(2_500_000), 1500, FAR), ms(3));
        assert_eq!(trace.delivered(ms(3), 100, FAR), ms(4), "that of 3 ms is used up");
        assert_eq!(trace.delivered(ms(4), 1400, FAR), ms(4), "and that of 4 ms shared");
        assert_eq!(trace.delivered(ms(4), 1, FAR), ms(5));
    }

    #[test]
    fn refuses_times_that_go_back_or_never_move() {
        let check = |times: &[u32]| {
            TraceSpec { opportunities: times.to_vec(), opportunity: None }.validate()
        };
        assert!(check(&[1, 2, 2]).is_ok());
        for times in [&[][..], &[0, 0], &[3, 2]] {
            assert!(check(times).is_err(), "{times:?}");
        }
    }
}
