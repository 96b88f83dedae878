//! A link: egress queue, transmitter, losses, propagation.
//!
//! ```text
//! offer -> egress (queue discipline, device FIFO) -> transmitter -> exit (loss) -> pipe -> poll
//! ```
//!
//! A link is sans-io: time and packets go in, arriving packets and the next wake-up come out. It is
//! *lazy*: ends of transmissions and the discipline's timers need no wake-up of their own, since
//! nothing outside the link depends on them. Whenever the link is called, it first catches up,
//! handling what fell due in the meantime in the order of time and at its exact time. So the only
//! wake-up a packet costs is its arrival. What falls due at the very instant of an offer is handled
//! before it.

mod build;
mod egress;
mod exit;
mod pipe;
mod transmitter;

pub use build::Surroundings;
pub use egress::{Discipline, Egress};
pub use exit::{Exit, FlowDrops, RandomLoss};
pub use transmitter::Transmitter;

use crate::packet::Packet;
use crate::queue::Backlog;
use crate::record::LinkCounters;
use crate::record::histogram::Histogram;
use crate::units::{Span, Time};

use pipe::Pipe;

/// A link in one direction.
pub struct Link {
    /// Queue and serialisation; absent in a link that only delays.
    transmitter: Option<Transmitter>,
    /// What happens to packets as they leave the transmitter.
    exit: Option<Box<Exit>>,
    pipe: Pipe,
    offered: Backlog,
    arrived: Backlog,
}

impl Link {
    /// A link with a queue and a transmitter (unless it only delays), losses on leaving it, and a
    /// propagation delay.
    pub fn new(transmitter: Option<Transmitter>, exit: Option<Exit>, delay: Span) -> Self {
        Link {
            transmitter,
            exit: exit.map(Box::new),
            pipe: Pipe::new(delay),
            offered: Backlog::default(),
            arrived: Backlog::default(),
        }
    }

    /// A packet reaches the link.
    #[inline]
    pub fn offer(&mut self, now: Time, packet: Packet) {
        self.offered.add(&packet);
        if self.transmitter.is_some() {
            self.catch_up(now);
        }
        match &mut self.transmitter {
            Some(transmitter) => transmitter.offer(now, packet),
            None => self.leave(now, packet),
        }
    }

    /// The next packet that has arrived at the far end by `now`. To be called until it returns
    /// `None`.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Packet> {
        self.catch_up(now);
        let packet = self.pipe.pop(now)?;
        self.arrived.add(&packet);
        Some(packet)
    }

    /// When `poll` wants to be called next, if at all. Nothing arrives before.
    #[inline]
    pub fn next_wakeup(&self) -> Option<Time> {
        self.pipe.next_arrival().or_else(|| {
            let transmitter = self.transmitter.as_ref()?;
            transmitter
                .next_departure()
                .map(|end| end + self.pipe.delay())
                .or_else(|| transmitter.release())
        })
    }

    /// Handles everything that falls due up to `now`.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        while let Some(transmitter) = &mut self.transmitter
            && let Some((end, packet)) = transmitter.poll(now)
        {
            self.leave(end, packet);
        }
    }

    /// A packet leaves the transmitter.
    #[inline]
    fn leave(&mut self, now: Time, packet: Packet) {
        if let Some(exit) = &mut self.exit
            && exit.loses(&packet)
        {
            return;
        }
        self.pipe.push(now, packet);
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
        if let Some(exit) = &self.exit {
            counters.drops_loss = exit.lost().packets;
            counters.lost_bytes = exit.lost().bytes;
        }
        counters
    }

    /// Sojourn times in the queue since the end of the warm-up.
    pub fn sojourn_histogram(&self) -> Option<&Histogram> {
        self.transmitter.as_ref().map(|transmitter| transmitter.egress().sojourn_histogram())
    }

    /// The warm-up is over: distributions (not counters) start afresh.
    pub fn end_warmup(&mut self, now: Time) {
        self.catch_up(now);
        if let Some(transmitter) = &mut self.transmitter {
            transmitter.egress_mut().end_warmup();
        }
    }

    /// Packets and IP bytes anywhere inside the link: waiting, in service, or on their way.
    pub fn held(&self) -> Backlog {
        let waiting = self.transmitter.as_ref().map_or(Backlog::default(), Transmitter::held);
        let travelling = self.pipe.held();
        Backlog {
            packets: waiting.packets + travelling.packets,
            bytes: waiting.bytes + travelling.bytes,
        }
    }
}

#[cfg(test)]
mod tests;
