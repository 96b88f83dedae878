//! Delivery-rate samples (Linux `net/ipv4/tcp_rate.c`, draft-cheng-iccrg-delivery-rate-estimation).
//!
//! Each segment carries the sender's delivery count at its sending; when it is delivered, the
//! difference over the longer of the send and the ACK interval is a rate sample. The sample of an
//! ACK is that of its most recently sent segment. Times are read in whole microseconds.

use crate::cc::RateSample;
use crate::units::{Span, Time};

/// The sender's state at a segment's last transmission, for rate samples and loss reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Snapshot {
    /// When the segment was sent.
    pub sent_at: Time,
    /// Start of the sending phase of its rate sample.
    pub first_sent_at: Time,
    /// Time of the latest delivery known then.
    pub delivered_at: Time,
    /// Segments delivered then.
    pub delivered: u32,
    /// CE-marked segments delivered then.
    pub delivered_ce: u32,
    /// Segments lost then.
    pub lost: u32,
    /// Segments in flight, this one included.
    pub in_flight: u32,
}

/// A segment that was delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// Its number.
    pub seq: u32,
    /// The sender's state at its last transmission.
    pub snapshot: Snapshot,
    /// Whether the application limited the sending then.
    pub app_limited: bool,
    /// Whether it was ever retransmitted.
    pub retransmitted: bool,
}

/// The connection's delivery state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Segments delivered (cumulatively acknowledged or SACKed).
    pub delivered: u32,
    /// Of those, known to be CE-marked.
    pub delivered_ce: u32,
    /// Segments marked lost.
    pub lost: u32,
    delivered_at: Time,
    first_sent_at: Time,
    /// Delivery count at which the application-limited phase ends; zero if there is none.
    app_limited_until: u32,
}

/// The sample being collected while one ACK is processed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sampler {
    best: Option<Delivered>,
}

impl Delivery {
    /// Snapshot for a segment sent now; `idle` when nothing is outstanding.
    #[inline]
    pub fn snapshot(&mut self, now: Time, idle: bool, in_flight: u32) -> Snapshot {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Snapshot {
            sent_at: now,
            first_sent_at: self.first_sent_at,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            delivered_ce: self.delivered_ce,
            lost: self.lost,
            in_flight,
        }
    }

    /// Whether the sending is limited by the application.
    #[inline]
    pub fn app_limited(&self) -> bool {
        self.app_limited_until != 0
    }

    /// Delivery count at which the application-limited phase ends; zero if there is none.
    pub fn app_limited_until(&self) -> u32 {
        self.app_limited_until
    }

    /// When the sending phase of the next sample began, and when something was last delivered.
    pub fn phases(&self) -> (Time, Time) {
        (self.first_sent_at, self.delivered_at)
    }

    /// The application has left the window unused: samples of what is in flight are too low.
    pub fn set_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// Ends an ACK: `delivered` segments were delivered by it, `sampled` among them. Returns its rate
    /// sample.
    #[inline]
    pub fn finish(
        &mut self,
        now: Time,
        sampled: Option<&Delivered>,
        delivered: u32,
        min_rtt: Span,
    ) -> RateSample {
        if self.app_limited() && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if delivered > 0 {
            self.delivered_at = now;
        }
        let Some(Delivered { snapshot, app_limited, retransmitted, .. }) = sampled else {
            return RateSample::default();
        };
        let send = snapshot.sent_at.micros_since(snapshot.first_sent_at);
        let ack = now.micros_since(snapshot.delivered_at);
        let interval = send.max(ack);
        RateSample {
            // Samples over less than the minimum RTT would be too high.
            delivered: (interval >= min_rtt).then(|| self.delivered - snapshot.delivered),
            interval,
            prior_delivered: u64::from(snapshot.delivered),
            prior_delivered_ce: u64::from(snapshot.delivered_ce),
            prior_lost: u64::from(snapshot.lost),
            tx_in_flight: snapshot.in_flight,
            app_limited: *app_limited,
            retransmitted: *retransmitted,
        }
    }
}

impl Sampler {
    /// A segment was delivered (acknowledged or SACKed for the first time).
    #[inline]
    pub fn on_delivered(&mut self, delivery: &mut Delivery, segment: Delivered) {
        let order = |segment: &Delivered| (segment.snapshot.sent_at, segment.seq);
        if self.best.as_ref().is_none_or(|best| order(&segment) > order(best)) {
            delivery.first_sent_at = segment.snapshot.sent_at;
            self.best = Some(segment);
        }
    }

    /// The sampled segment's state at its sending, if any segment was delivered.
    #[inline]
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.best.as_ref().map(|best| &best.snapshot)
    }

    /// The segment whose sample is the ACK's.
    #[inline]
    pub fn best(&self) -> Option<&Delivered> {
        self.best.as_ref()
    }
}
