//! A link whose packets are recorded.

use super::Link;
use crate::edge::Medium;
use crate::packet::{Backlog, Packet};
use crate::record::LinkCounters;
use crate::record::histogram::Histogram;
use crate::record::live::Tap;
use crate::units::{Span, Time};

/// A link as a medium with one channel: the network need not know that it is recorded.
pub struct RecordedLink {
    link: Link,
    tap: Tap,
}

impl RecordedLink {
    /// Records the packets of `link`, which has the same `tap` within.
    pub fn new(link: Link, tap: Tap) -> Self {
        RecordedLink { link, tap }
    }
}

impl Medium for RecordedLink {
    fn offer(&mut self, now: Time, _channel: usize, packet: Packet) {
        self.link.catch_up(now); // what happened before is told before
        self.tap.enqueue(now, &packet);
        self.link.offer(now, &packet);
    }

    fn poll(&mut self, now: Time) -> Option<(usize, Packet)> {
        let mut packet = Packet::default();
        Some((self.poll_into(now, &mut packet)?, packet))
    }

    fn poll_into(&mut self, now: Time, packet: &mut Packet) -> Option<usize> {
        self.link.poll_into(now, packet).then(|| {
            self.tap.deliver(now, packet);
            0
        })
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.link.next_wakeup()
    }

    fn report(&mut self, now: Time, _channel: usize) -> LinkCounters {
        self.link.report(now)
    }

    fn held(&self, _channel: usize) -> Backlog {
        self.link.held()
    }

    fn sojourn_histogram(&self, _channel: usize) -> Option<&Histogram> {
        self.link.sojourn_histogram()
    }

    fn end_warmup(&mut self, now: Time) {
        self.link.end_warmup(now);
    }

    fn least_delay(&self) -> Span {
        self.link.least_delay()
    }
}
