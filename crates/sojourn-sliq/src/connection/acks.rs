//! Scheduling of ACKs.

use super::Connection;
use super::overview::places;
use crate::payload::Payload;
use crate::stream::Arrival;
use crate::wire::{MAX_DATAGRAM, Measurement, Message, ReceivedCount};
use sojourn_base::units::{Span, Time};

/// Data packets after which an ACK is sent.
const EVERY: u32 = 2;
const DELAY: Span = Span::from_millis(40);
const LEAST_DELAY: f64 = 0.001;
/// ACKs after the last missing packet has arrived.
const AFTER_RECOVERY: u8 = 3;
/// Data packets after which their count is sent along.
pub(super) const COUNT_EVERY: u32 = 32;
const COUNT_SIZE: usize = 12;
const MEASUREMENT_SIZE: usize = 8;

/// State of the ACKs to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acks {
    /// Streams (a bit each) whose ACK is due.
    pub due: u64,
    since_last: u32,
    pub at: Option<Time>,
    /// The shortest time between data packets, in seconds.
    gap: Option<f64>,
    last_data: Option<Time>,
}

impl Acks {
    fn measure_gap(&mut self, now: Time, size: usize) {
        if let Some(last) = self.last_data.replace(now) {
            let full = (MAX_DATAGRAM / size.max(1)) as f64;
            let gap = full * now.since(last).as_secs_f64();
            self.gap = Some(self.gap.map_or(gap, |least| least.min(gap)));
        }
    }
}

impl<P: Payload> Connection<P> {
    /// A data packet of `size` bytes arrived on the stream that is `at` this place.
    pub(super) fn schedule_ack(
        &mut self,
        now: Time,
        at: usize,
        size: usize,
        had_gap: bool,
        arrival: Arrival,
    ) {
        self.acks.measure_gap(now, size);
        let per = self.shared.per.rate;
        let (stream, overview) = (&mut self.streams[at], &mut self.overview);
        let mut ack_now = arrival.ack_now;
        if had_gap && !stream.receiver.has_gap() {
            stream.extra_acks = stream.extra_acks.max(AFTER_RECOVERY);
        }
        if stream.config.is_adaptive() {
            ack_now = true;
            let wanted = (3.0 + 20.0 * per).ceil() as u8;
            stream.extra_acks = stream.extra_acks.max(wanted);
        }
        self.acks.since_last += 1;
        let at_once = ack_now || self.acks.since_last >= EVERY;
        stream.delayed_ack |= !at_once;
        overview.note_stream(at, stream);
        if at_once {
            self.send_acks(1 << at);
        } else {
            self.acks.at.get_or_insert(now + DELAY);
        }
    }

    /// Makes ACKs due for the streams in these places, and for those with news to report.
    fn send_acks(&mut self, streams: u32) {
        self.acks.since_last = 0;
        self.acks.at = None;
        for at in places(streams | self.overview.waiting()) {
            self.acks.due |= 1 << self.overview.id(at);
        }
    }

    pub(super) fn on_ack_timeout(&mut self, now: Time) {
        if self.acks.at.is_some_and(|at| now >= at) {
            self.send_acks(0);
        }
    }

    /// The next ACK that is due, with what else fits; whether there is one.
    pub(super) fn put_due_ack(&mut self, now: Time, message: &mut Message<P>) -> bool {
        if self.acks.due == 0 {
            return false;
        }
        let id = self.acks.due.trailing_zeros() as u8;
        self.acks.due &= self.acks.due - 1;
        self.put_ack(now, id, message);
        self.put_counts(now, 0, message);
        if self.acks.due == 0 {
            self.restart_ack_timer(now);
        }
        true
    }

    fn put_ack(&mut self, now: Time, id: u8, message: &mut Message<P>) {
        let (stamp, delta) = (self.shared.clock.stamp(now), self.shared.delta);
        let Some(at) = self.position(id) else { return };
        let stream = &mut self.streams[at];
        stream.delayed_ack = false;
        stream.extra_acks = stream.extra_acks.saturating_sub(1);
        self.overview.note_stream(at, stream);
        message.ack = Some(stream.receiver.ack(now, stamp, delta));
    }

    fn restart_ack_timer(&mut self, now: Time) {
        if self.overview.extra != 0 {
            let gap = (1.5 * self.acks.gap.unwrap_or(0.0)).max(LEAST_DELAY);
            self.acks.at = Some(now + Span::from_secs_f64(gap));
        } else if self.overview.delayed != 0 {
            self.acks.at = Some(now + DELAY);
        }
    }

    /// Adds to a data packet of `size` bytes an ACK that waits, if it fits.
    pub(super) fn piggyback_ack(&mut self, now: Time, size: usize, message: &mut Message<P>) {
        let Some(at) = places(self.overview.waiting()).next() else { return };
        if size + LARGEST_ACK > self.largest {
            return;
        }
        self.put_ack(now, self.overview.id(at), message);
        if self.overview.waiting() == 0 {
            self.acks.since_last = 0;
            self.acks.at = None;
        }
    }

    /// Adds a received-packet count and a measurement that are due, if they fit.
    pub(super) fn put_counts(&mut self, now: Time, size: usize, message: &mut Message<P>) {
        let measures = self.shared.with_delta && now >= self.measurement_at;
        if self.received_since < COUNT_EVERY && !measures {
            return;
        }
        let mut size = size + message.overhead();
        if self.received_since >= COUNT_EVERY && size + COUNT_SIZE <= self.largest {
            message.count = Some(self.take_count());
            size += COUNT_SIZE;
        }
        let max_delay = self.shared.rtt.max_delay();
        if measures && max_delay > 0.0 && size + MEASUREMENT_SIZE <= self.largest {
            let seq = self.measurement_seq;
            self.measurement_seq = seq.wrapping_add(1);
            self.measurement_at = now + self.shared.rtt.interval();
            message.measurement = Some(Measurement { seq, max_delay: (max_delay * 1e6) as u32 });
        }
    }

    pub(super) fn take_count(&mut self) -> ReceivedCount {
        self.received_since = 0;
        self.received
    }
}

/// Bytes of an ACK that is as full as it gets.
const LARGEST_ACK: usize = 16 + 7 * 8 + 11 * 2;
