//! A link: egress queue, transmitter, losses, propagation.
//!
//! ```text
//! offer -> policer -> egress (queue discipline, device FIFO) -> transmitter (rate, token bucket,
//!       schedule, trace) -> impairments (loss, ECN faults, duplication) -> pipe (delay) -> poll
//! ```
//!
//! A link is sans-I/O: time and packets go in, arriving packets and the next wake-up come out. It
//! is *lazy*: ends of transmissions and the discipline's timers need no events, since nothing
//! outside the link depends on them. Every call first catches up: it handles all that has fallen
//! due in the meantime, in the order of time and at its exact time. So a packet costs one wake-up,
//! its arrival. What falls due at the instant of an offer is handled before the offer.

pub mod bucket;
mod build;
pub mod burst_loss;
mod draw;
pub mod ecn_fault;
mod egress;
mod impairments;
pub mod outage;
mod pace;
mod pipe;
mod recorded;
mod recorded_queue;
pub mod schedule;
mod spec;
pub mod trace;
mod transmitter;
pub mod variation;

pub use build::LinkInit;
pub use egress::Egress;
pub use impairments::{FlowDrops, Impairments, RandomLoss};
pub use recorded::RecordedLink;
pub(crate) use recorded_queue::RecordedQueue;
pub use spec::LinkSpec;
pub use transmitter::Transmitter;

use crate::packet::Packet;
use crate::queue::Backlog;
use crate::record::LinkCounters;
use crate::record::histogram::Histogram;
use crate::units::{Span, Time};

use bucket::Policer;
use pipe::Pipe;

/// Arrivals after which a link gives back room.
const FITTED: u64 = 4096;

/// A link in one direction.
pub struct Link {
    /// Drops packets that exceed a rate, before the queue.
    policer: Option<Box<Policer>>,
    /// Queue and serialisation; absent in a link that only delays.
    transmitter: Option<Box<Transmitter>>,
    /// Applied to packets as they leave the transmitter.
    impairments: Option<Box<Impairments>>,
    pipe: Pipe,
    offered: Backlog,
    arrived: Backlog,
}

impl Link {
    /// A link with a queue and a transmitter (unless it only delays), losses on leaving it, and a
    /// propagation delay.
    pub fn new(
        transmitter: Option<Transmitter>,
        impairments: Option<Impairments>,
        delay: Span,
    ) -> Self {
        Link {
            policer: None,
            transmitter: transmitter.map(Box::new),
            impairments: impairments.map(Box::new),
            pipe: Pipe::new(delay, None),
            offered: Backlog::default(),
            arrived: Backlog::default(),
        }
    }

    /// A packet enters the link.
    #[inline(always)] // once per packet and link
    pub fn offer(&mut self, now: Time, packet: &Packet) {
        self.offered.add(packet);
        self.catch_up(now);
        if let Some(policer) = &mut self.policer
            && !policer.admits(now, packet)
        {
            return;
        }
        match &mut self.transmitter {
            Some(transmitter) => transmitter.offer(now, packet),
            None => leave(&mut self.impairments, &mut self.pipe, now, packet),
        }
    }

    /// The next packet that has arrived at the far end by `now`. Call it until it returns `None`.
    pub fn poll(&mut self, now: Time) -> Option<Packet> {
        let mut packet = Packet::default();
        self.poll_into(now, &mut packet).then_some(packet)
    }

    /// The same, written to `packet`: the event loop moves millions of packets, and one that passes
    /// through an `Option` is copied twice.
    #[inline(always)]
    pub fn poll_into(&mut self, now: Time, packet: &mut Packet) -> bool {
        self.catch_up(now);
        let arrived = self.pipe.pop(now, packet);
        if arrived {
            self.arrived.add(packet);
            if self.arrived.packets.is_multiple_of(FITTED) {
                self.pipe.fit();
            }
        }
        arrived
    }

    /// Passes every arrival before `until`, with its time, to `each` at once. No packet that
    /// arrives earlier than `until` may be offered afterwards.
    pub fn arrivals(&mut self, now: Time, until: Time, mut each: impl FnMut(Time, Packet)) {
        self.catch_up(now);
        let mut packet = Packet::default();
        while let Some(at) = self.pipe.next_arrival().filter(|at| *at < until) {
            self.pipe.pop(at, &mut packet);
            self.arrived.add(&packet);
            each(at, packet);
        }
    }

    /// Minimum time from offering a packet to its arrival.
    pub fn least_delay(&self) -> Span {
        self.pipe.least_delay()
    }

    /// When `poll` should be called next, if at all. Nothing arrives before.
    #[inline]
    pub fn next_wakeup(&self) -> Option<Time> {
        // A packet that enters later arrives later, unless it may overtake.
        match self.pipe.next_arrival() {
            Some(arrival) if self.pipe.may_overtake() => {
                Some(self.next_entry().map_or(arrival, |entry| entry.min(arrival)))
            }
            Some(arrival) => Some(arrival),
            None => self.next_entry(),
        }
    }

    /// Whether offering another packet cannot make `next_wakeup` earlier: a packet in propagation,
    /// or the one in service, arrives first.
    #[inline]
    pub fn is_steady(&self) -> bool {
        let sends = |transmitter: &Transmitter| transmitter.next_departure().is_some();
        !self.pipe.may_overtake()
            && (self.pipe.next_arrival().is_some()
                || (self.impairments.is_none() && self.transmitter.as_deref().is_some_and(sends)))
    }

    /// Earliest arrival of the next packet that is not in the pipe yet, or the time at which a
    /// queue that holds everything back must be polled again.
    #[inline]
    fn next_entry(&self) -> Option<Time> {
        let transmitter = self.transmitter.as_ref()?;
        match transmitter.next_departure() {
            Some(end) => Some(end + self.pipe.least_delay()),
            None => transmitter.release(),
        }
    }

    /// Handles everything that falls due up to `now`.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time) {
        if self.transmitter.as_ref().is_some_and(|transmitter| transmitter.is_due(now)) {
            self.transmit(now);
        }
    }

    #[inline(never)]
    fn transmit(&mut self, now: Time) {
        let Some(transmitter) = &mut self.transmitter else { return };
        while let Some(end) = transmitter.poll(now) {
            leave(&mut self.impairments, &mut self.pipe, end, transmitter.sent());
            transmitter.serve_next(end);
        }
    }

    /// Counters brought up to `now`.
    pub fn report(&mut self, now: Time) -> LinkCounters {
        self.catch_up(now);
        let mut counters = LinkCounters {
            offered_packets: self.offered.packets,
            offered_bytes: self.offered.bytes,
            arrived_packets: self.arrived.packets,
            arrived_bytes: self.arrived.bytes,
            ..LinkCounters::default()
        };
        if let Some(transmitter) = &mut self.transmitter {
            transmitter.report(now, &mut counters);
        }
        if let Some(impairments) = &self.impairments {
            impairments.report(&mut counters);
        }
        if let Some(policer) = &self.policer {
            policer.report(&mut counters);
        }
        counters.thinned_packets = self.pipe.thinned().packets;
        counters.thinned_bytes = self.pipe.thinned().bytes;
        counters
    }

    /// Sojourn times in the queue since the end of the warm-up.
    pub fn sojourn_histogram(&self) -> Option<&Histogram> {
        self.transmitter.as_ref().map(|transmitter| transmitter.egress().sojourn_histogram())
    }

    /// The warm-up is over: distributions (not counters) are reset.
    pub fn end_warmup(&mut self, now: Time) {
        self.catch_up(now);
        if let Some(transmitter) = &mut self.transmitter {
            transmitter.egress_mut().end_warmup();
        }
    }

    /// Packets and IP bytes anywhere inside the link: waiting, in service, or on their way.
    pub fn held(&self) -> Backlog {
        let waiting =
            self.transmitter.as_ref().map_or(Backlog::default(), |transmitter| transmitter.held());
        let travelling = self.pipe.held();
        Backlog {
            packets: waiting.packets + travelling.packets,
            bytes: waiting.bytes + travelling.bytes,
        }
    }
}

/// A packet leaves the transmitter.
#[inline]
fn leave(impairments: &mut Option<Box<Impairments>>, pipe: &mut Pipe, now: Time, packet: &Packet) {
    match impairments {
        Some(impairments) => pass(impairments, pipe, now, *packet),
        None => pipe.push(now, packet),
    }
}

#[inline(never)]
fn pass(impairments: &mut Impairments, pipe: &mut Pipe, now: Time, mut packet: Packet) {
    for _ in 0..impairments.copies(now, &mut packet) {
        pipe.push(now, &packet);
    }
}

#[cfg(test)]
mod feature_tests;
#[cfg(test)]
mod tests;
