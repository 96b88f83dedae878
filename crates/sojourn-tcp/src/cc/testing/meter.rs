//! Counts and measurements of a sender: segments delivered, marked and lost, round-trip times and
//! delivery rates.

use crate::cc::{AckSample, Lost, RateSample, SenderView};
use crate::units::{Span, Time};

/// A sender's counts and estimates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    pub delivered: u64,
    pub delivered_ce: u64,
    pub lost: u64,
    pub srtt: Span,
    pub min_rtt: Span,
    delivered_at: Time,
    first_sent_at: Time,
}

/// The counts when a segment was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    pub sent_at: Time,
    in_flight: u32,
    delivered: u64,
    delivered_ce: u64,
    lost: u64,
    delivered_at: Time,
    first_sent_at: Time,
}

impl Meter {
    /// At the start of a connection.
    pub(crate) fn new(now: Time) -> Self {
        Meter {
            delivered: 0,
            delivered_ce: 0,
            lost: 0,
            srtt: Span::ZERO,
            min_rtt: Span::MAX,
            delivered_at: now,
            first_sent_at: now,
        }
    }

    /// A segment is sent; `in_flight` includes it.
    pub(crate) fn on_sent(&mut self, now: Time, in_flight: u32) -> Snapshot {
        if in_flight == 1 {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let Meter { delivered, delivered_ce, lost, delivered_at, first_sent_at, .. } = *self;
        Snapshot {
            sent_at: now,
            in_flight,
            delivered,
            delivered_ce,
            lost,
            delivered_at,
            first_sent_at,
        }
    }

    /// Segments were delivered.
    pub(crate) fn on_delivered(&mut self, segments: u32, marked: bool) {
        self.delivered += u64::from(segments);
        self.delivered_ce += if marked { u64::from(segments) } else { 0 };
    }

    /// A segment is marked lost.
    pub(crate) fn on_lost(&mut self, seq: u32, sent: &Snapshot) -> Lost {
        self.lost += 1;
        Lost {
            seq,
            tx_in_flight: sent.in_flight,
            prior_delivered: sent.delivered,
            prior_lost: sent.lost,
            total_lost: self.lost,
            app_limited: false,
        }
    }

    /// Samples of round-trip time and delivery rate from the newest segment delivered.
    pub(crate) fn sample(&mut self, now: Time, newest: &Snapshot) -> (Span, RateSample) {
        let rtt = now.since(newest.sent_at);
        self.min_rtt = self.min_rtt.min(rtt);
        self.srtt = if self.srtt == Span::ZERO { rtt } else { (self.srtt * 7 + rtt) / 8 };
        let ack_phase = now.since(newest.delivered_at);
        let interval = newest.sent_at.since(newest.first_sent_at).max(ack_phase);
        self.delivered_at = now;
        self.first_sent_at = newest.sent_at;
        let valid = interval >= self.min_rtt;
        let rate = RateSample {
            delivered: valid.then_some((self.delivered - newest.delivered) as u32),
            interval,
            prior_delivered: newest.delivered,
            prior_delivered_ce: newest.delivered_ce,
            prior_lost: newest.lost,
            tx_in_flight: newest.in_flight,
            app_limited: false,
            retransmitted: false,
        };
        (rtt, rate)
    }

    /// The part of a sender's state that the meter has.
    pub(crate) fn view(&self, una: u32, next: u32) -> SenderView {
        SenderView {
            una,
            next,
            delivered: self.delivered as u32,
            delivered_ce: self.delivered_ce as u32,
            ..SenderView::default()
        }
    }

    /// The part of an ACK's sample that it knows.
    pub(crate) fn ack_sample(&self) -> AckSample {
        AckSample {
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            delivered: self.delivered,
            delivered_ce: self.delivered_ce,
            total_lost: self.lost,
            ..AckSample::default()
        }
    }
}
