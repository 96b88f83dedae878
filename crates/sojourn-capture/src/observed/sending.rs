//! The sender's side of a TCP flow.

use std::collections::VecDeque;
use std::mem;

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
    /// Whether it has arrived, beyond what is acknowledged.
    sacked: bool,
}

/// Sequence numbers are relative to the SYN's, which is 0; data starts at 1.
#[derive(Debug, Default)]
pub(super) struct Sending {
    initial: Option<u32>,
    next: u64,
    acked: u64,
    acked_at: Time,
    outstanding: VecDeque<Outstanding>,
    /// Those of them that have arrived.
    sacked: usize,
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
            self.outstanding.push_back(Outstanding {
                end,
                sent_at: now,
                again: false,
                sacked: false,
            });
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
        if acked < self.acked {
            return;
        }
        if acked > self.acked {
            (self.acked, self.acked_at) = (acked, now);
        }
        let (mut sent_at, again) = self.acknowledge(acked);
        for block in segment.sacks.blocks() {
            let [from, to] = block.map(|edge| unwrap(edge.wrapping_sub(initial), acked));
            // What is below tells of a duplicate (RFC 2883).
            if from >= acked {
                let arrived = self.arrive(from, to);
                sent_at = sent_at.or(arrived.filter(|_| !again));
            }
        }
        if let Some(sent_at) = sent_at {
            self.on_rtt(now.since(sent_at), counters);
        }
    }

    /// Everything below `acked` has arrived: when the latest segment was sent of which that is news,
    /// and whether one was sent again. There is no time then: it may have waited for that one.
    fn acknowledge(&mut self, acked: u64) -> (Option<Time>, bool) {
        let (mut sent_at, mut again) = (None, false);
        while let Some(sent) = self.outstanding.front().filter(|sent| sent.end <= acked) {
            again |= sent.again;
            match sent.sacked {
                true => self.sacked -= 1,
                false => sent_at = Some(sent.sent_at),
            }
            self.outstanding.pop_front();
        }
        (sent_at.filter(|_| !again), again)
    }

    /// A block has arrived: when its first segment was sent of which that is news, and which was sent
    /// once.
    fn arrive(&mut self, from: u64, to: u64) -> Option<Time> {
        let first = self.outstanding.partition_point(|sent| sent.end <= from);
        let mut sent_at = None;
        for sent in self.outstanding.range_mut(first..) {
            if sent.end > to {
                break;
            }
            if !mem::replace(&mut sent.sacked, true) {
                self.sacked += 1;
                sent_at = sent_at.or((!sent.again).then_some(sent.sent_at));
            }
        }
        sent_at
    }

    fn on_rtt(&mut self, rtt: Span, counters: &mut Counters) {
        self.rtts.add(rtt);
        let smoothed = |before: Span| before.mul_f64(1.0 - GAIN) + rtt.mul_f64(GAIN);
        self.smoothed_rtt = Some(self.smoothed_rtt.map_or(rtt, smoothed));
        self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        counters.rtt.rtt_sum += rtt;
        counters.rtt.rtt_count += 1;
    }

    /// Advances `counters` by `time` from the outstanding segments and the observed RTTs: for
    /// senders whose kernel is not queried.
    pub(super) fn integrate(&self, time: Span, counters: &mut Counters) {
        let seconds = time.as_secs_f64();
        let in_flight = self.outstanding.len() - self.sacked;
        counters.window.in_flight = in_flight as u32;
        counters.window.in_flight_time += seconds * in_flight as f64;
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
