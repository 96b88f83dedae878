//! Edges: the links and channels that carry packets between nodes.
//!
//! Most are a [`Link`], with one transmitter. A shared medium has several transmitters: each pair
//! of nodes that it joins is a *channel* of it, an edge like any other, and the [`Medium`] decides
//! which station transmits. Both are sans-I/O: time and packets go in, arriving packets and the
//! next wake-up come out.

pub mod link;
pub mod medium;
pub mod medium_spec;

pub use link::Link;

use std::collections::VecDeque;

use crate::packet::Packet;
use crate::queue::Backlog;
use crate::record::LinkCounters;
use crate::record::histogram::Histogram;
use crate::units::{Span, Time};

/// A medium that several transmitters share. Its channels are numbered from 0 in the order in which
/// they were added to the network.
pub trait Medium: Send {
    /// A packet enters a channel at its near end.
    fn offer(&mut self, now: Time, channel: usize, packet: Packet);

    /// The next packet that has arrived at the far end of a channel by `now`. Called until it
    /// returns `None`.
    fn poll(&mut self, now: Time) -> Option<(usize, Packet)>;

    /// The same, written to `packet`; returns its channel. For a medium that millions of packets pass,
    /// one that goes through an `Option` is copied twice.
    fn poll_into(&mut self, now: Time, packet: &mut Packet) -> Option<usize> {
        let (channel, arrived) = self.poll(now)?;
        *packet = arrived;
        Some(channel)
    }

    /// The next packet that has left its sender's host since the last call, either sent or dropped
    /// before. Called after `offer` and `poll` until it returns `None`.
    fn departure(&mut self) -> Option<Departure> {
        None
    }

    /// When `poll` should be called next, if at all.
    fn next_wakeup(&self) -> Option<Time>;

    /// Counters of a channel, brought up to `now`.
    fn report(&mut self, now: Time, channel: usize) -> LinkCounters;

    /// Packets in a channel: waiting, in service, or in propagation.
    fn held(&self, channel: usize) -> Backlog;

    /// Sojourn times in a channel's queue since the end of the warm-up, where it has one.
    fn sojourn_histogram(&self, _channel: usize) -> Option<&Histogram> {
        None
    }

    /// The warm-up is over: distributions (not counters) are reset.
    fn end_warmup(&mut self, _now: Time) {}

    /// Minimum time from offering a packet to its arrival.
    fn least_delay(&self) -> Span {
        Span::ZERO
    }
}

/// Departure of a packet from the host of its flow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The flow.
    pub flow: u32,
    /// The socket of that sender.
    pub socket: u32,
    /// Bytes of the IP packet.
    pub bytes: u32,
}

/// What polling an edge has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// A packet.
    Arrived,
    /// Nothing more until then, or until something is offered.
    Empty(Option<Time>),
}

/// An edge of the network, in one direction.
#[repr(u8)] // a tag of its own: it is looked at several times per packet
pub enum Edge {
    /// A link with a transmitter of its own.
    Link(Link),
    /// A channel of a shared medium.
    Channel {
        /// Index of the medium in its network.
        medium: u32,
        /// Number of the channel in its medium.
        channel: u32,
    },
    /// The far end of an edge that begins in another region of the network: arrivals to come, in
    /// the order of time.
    FarEnd(VecDeque<(Time, Packet)>),
    /// The near end of an edge that something outside the program stands for: what entered it waits
    /// to be taken there.
    Outside(VecDeque<Packet>),
    /// An edge that lies wholly in another region.
    Elsewhere,
}

impl Edge {
    /// Moves the next packet that has arrived by `now` into `packet`, or tells when to call again; for a
    /// channel, its medium is polled.
    #[inline(always)] // once more than packets per event
    pub fn poll_into(&mut self, now: Time, packet: &mut Packet) -> Polled {
        let Edge::Link(link) = self else { return self.poll_far_end(now, packet) };
        if link.poll_into(now, packet) {
            return Polled::Arrived;
        }
        Polled::Empty(link.next_wakeup())
    }

    #[inline(never)]
    fn poll_far_end(&mut self, now: Time, packet: &mut Packet) -> Polled {
        let Edge::FarEnd(arrivals) = self else { return Polled::Empty(None) };
        match arrivals.front() {
            Some((at, first)) if *at <= now => *packet = *first,
            next => return Polled::Empty(next.map(|(at, _)| *at)),
        }
        arrivals.pop_front();
        Polled::Arrived
    }

    /// When [`Edge::poll_into`] should be called next, if at all.
    pub fn next_wakeup(&self) -> Option<Time> {
        match self {
            Edge::Link(link) => link.next_wakeup(),
            Edge::FarEnd(arrivals) => arrivals.front().map(|(at, _)| *at),
            Edge::Channel { .. } | Edge::Outside(_) | Edge::Elsewhere => None,
        }
    }
}
