//! The sender's side of a TCP flow.

use std::collections::VecDeque;

use sojourn_core::record::histogram::Histogram;
use sojourn_core::units::Time;

use super::{Counters, unwrap};
use crate::wire::Segment;

/// A segment that has not been acknowledged.
#[derive(Debug)]
struct Outstanding {
    end: u64,
    sent_at: Time,
    /// It was sent more than once, so that its ACK tells no RTT.
    again: bool,
}

/// Sequence numbers count from the SYN's, which is 0; data starts at 1.
#[derive(Debug, Default)]
pub struct Sending {
    initial: Option<u32>,
    next: u64,
    acked: u64,
    acked_at: Time,
    outstanding: VecDeque<Outstanding>,
    pub rtts: Histogram,
}

impl Sending {
    pub fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        payload: u16,
        counters: &mut Counters,
    ) {
        if segment.is_syn() {
            self.initial = Some(segment.seq);
            self.next = 1;
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

    pub fn on_ack(&mut self, now: Time, segment: &Segment, counters: &mut Counters) {
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
            counters.rtt.rtt_sum += rtt;
            counters.rtt.rtt_count += 1;
        }
    }

    pub fn acked(&self) -> (u64, Time) {
        (self.acked.saturating_sub(1), self.acked_at)
    }
}
