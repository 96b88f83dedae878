//! The receiver's side of a flow.

use std::collections::BTreeMap;

use sojourn_base::packet::Ecn;
use sojourn_base::units::{Span, Time};

use super::{Counters, unwrap};
use crate::wire::{Headers, Segment, Transport};

/// Gain of the smoothed time between arrivals.
const GAIN: f64 = 1.0 / 8.0;

/// Sequence numbers are relative to the SYN's, which is 0; data starts at 1.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    initial: Option<u32>,
    /// Next sequence number expected.
    next: u64,
    /// Runs beyond `next`: begin and end.
    beyond: BTreeMap<u64, u64>,
    last_arrival: Option<Time>,
}

impl Receiving {
    /// Takes `initial` for the SYN's sequence number.
    pub(super) fn join(&mut self, initial: u32) {
        (self.initial, self.next) = (Some(initial), 1);
    }

    pub(super) fn on_packet(&mut self, now: Time, headers: &Headers, counters: &mut Counters) {
        if let Transport::Tcp(segment) = headers.transport
            && segment.is_syn()
            && self.initial.is_none()
        {
            self.join(segment.seq);
        }
        if headers.payload == 0 {
            return;
        }
        counters.received.ce_received += u64::from(headers.ecn == Ecn::Ce);
        self.time_arrival(now, counters);
        let payload = u64::from(headers.payload);
        let (new, in_order) = match headers.transport {
            Transport::Tcp(segment) => self.on_segment(&segment, payload),
            Transport::Udp => (payload, payload),
        };
        match new {
            0 => counters.received.duplicates_received += 1,
            _ => counters.received.delivered_packets += 1,
        }
        counters.received.delivered_bytes += new;
        counters.received.in_order_bytes += in_order;
    }

    fn time_arrival(&mut self, now: Time, counters: &mut Counters) {
        if let Some(last) = self.last_arrival.replace(now) {
            let (gap, before) = (now.since(last), counters.received.idt_ewma);
            counters.received.idt_ewma = match before {
                Span::ZERO => gap,
                _ => before.mul_f64(1.0 - GAIN) + gap.mul_f64(GAIN),
            };
        }
    }

    /// Number of new bytes of a segment, and number of bytes that are now in order.
    fn on_segment(&mut self, segment: &Segment, payload: u64) -> (u64, u64) {
        let Some(initial) = self.initial else { return (0, 0) };
        let begin = unwrap(segment.seq.wrapping_sub(initial), self.next).max(self.next);
        let end = unwrap(segment.seq.wrapping_sub(initial), self.next) + payload;
        if end <= begin {
            return (0, 0);
        }
        let new = self.add(begin, end);
        let before = self.next;
        while let Some(run) = self.beyond.first_entry().filter(|run| *run.key() <= self.next) {
            self.next = run.remove();
        }
        (new, self.next - before)
    }

    /// Merges `begin..end` with the runs it touches; returns the number of new bytes.
    fn add(&mut self, mut begin: u64, mut end: u64) -> u64 {
        let mut new = end - begin;
        let touching = self.beyond.range(..=end).rev().take_while(|(_, there)| **there >= begin);
        let runs: Vec<(u64, u64)> = touching.map(|(from, to)| (*from, *to)).collect();
        for (from, to) in runs {
            let overlap = to.min(end).saturating_sub(from.max(begin));
            new = new.saturating_sub(overlap);
            self.beyond.remove(&from);
            (begin, end) = (begin.min(from), end.max(to));
        }
        self.beyond.insert(begin, end);
        new
    }
}
