//! The sender's side of a TCP flow.

use std::collections::VecDeque;

use sojourn_base::units::{Span, Time};
use sojourn_net::record::histogram::Histogram;

use super::{Counters, unwrap};
use crate::wire::Segment;

/// Gain of the smoothed RTT.
const GAIN: f64 = 1.0 / 8.0;

/// A segment that has not been acknowledged.
#[derive(Debug)]
struct Outstanding {
    end: u64,
    sent_at: Time,
    /// Whether it was sent more than once, so that its ACK gives no RTT.
    again: bool,
}

/// Sequence numbers are relative to the SYN's, which is 0; data starts at 1.
#[derive(Debug, Default)]
pub(super) struct Sending {
    initial: Option<u32>,
    next: u64,
    acked: u64,
    acked_at: Time,
    outstanding: VecDeque<Outstanding>,
    /// RTT smoothed as in RFC 6298.
    smoothed_rtt: Option<Span>,
    pub least_rtt: Option<Span>,
    pub rtts: Histogram,
}

impl Sending {
    /// Takes `initial` for the SYN's sequence number.
    pub(super) fn join(&mut self, initial: u32) {
        (self.initial, self.next) = (Some(initial), 1);
    }

    pub(super) fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        payload: u16,
        counters: &mut Counters,
    ) {
        if segment.is_syn() {
            self.join(segment.seq);
        }
        let Some(initial) = self.initial else { return };
        if payload == 0 {
            return;
        }
        let begin = unwrap(segment.seq.wrapping_sub(initial), self.next);
        let end = begin + u64::from(payload);
        if begin >= self.next {
            self.outstanding.push_back(Outstanding { end, sent_at: now, again: false });
            self.next = end;
            return;
        }
        counters.recovery.retransmissions += 1;
        let first = self.outstanding.partition_point(|sent| sent.end <= begin);
        for sent in self.outstanding.range_mut(first..) {
            sent.again = true;
            if sent.end >= end {
                break;
            }
        }
    }

    pub(super) fn on_ack(&mut self, now: Time, segment: &Segment, counters: &mut Counters) {
        let Some(initial) = self.initial.filter(|_| segment.has_ack()) else { return };
        if segment.is_syn() {
            counters.established_at.get_or_insert(now);
        }
        counters.echoes.ece_acks += u64::from(segment.echoes_ce());
        let acked = unwrap(segment.ack.wrapping_sub(initial), self.acked);
        if acked <= self.acked {
            return;
        }
        (self.acked, self.acked_at) = (acked, now);
        let mut latest = None;
        while self.outstanding.front().is_some_and(|sent| sent.end <= acked) {
            latest = self.outstanding.pop_front();
        }
        if let Some(sent) = latest.filter(|sent| !sent.again) {
            let rtt = now.since(sent.sent_at);
            self.rtts.add(rtt);
            let smoothed = |before: Span| before.mul_f64(1.0 - GAIN) + rtt.mul_f64(GAIN);
            self.smoothed_rtt = Some(self.smoothed_rtt.map_or(rtt, smoothed));
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
            counters.rtt.rtt_sum += rtt;
            counters.rtt.rtt_count += 1;
        }
    }

    /// Advances `counters` by `time` from the outstanding segments and the observed RTTs: for
    /// senders whose kernel is not queried.
    pub(super) fn integrate(&self, time: Span, counters: &mut Counters) {
        let seconds = time.as_secs_f64();
        counters.window.in_flight = self.outstanding.len() as u32;
        counters.window.in_flight_time += seconds * self.outstanding.len() as f64;
        if let Some((srtt, least)) = self.smoothed_rtt.zip(self.least_rtt) {
            (counters.rtt.srtt, counters.rtt.min_rtt) = (srtt, least);
            counters.rtt.srtt_time += seconds * srtt.as_secs_f64();
            counters.rtt.srtt_known += seconds;
        }
    }

    /// A sequence number relative to the SYN's.
    pub(super) fn offset(&self, number: u32) -> u32 {
        number.wrapping_sub(self.initial.unwrap_or_default())
    }

    pub(super) fn acked(&self) -> (u64, Time) {
        (self.acked.saturating_sub(1), self.acked_at)
    }
}
