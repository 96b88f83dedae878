//! Propagation: packets on their way wait in the order of their arrivals.

use std::collections::VecDeque;

use crate::packet::Packet;
use crate::queue::Backlog;
use crate::units::{Span, Time};

/// A fixed delay.
#[derive(Debug)]
pub struct Pipe {
    delay: Span,
    packets: VecDeque<(Time, Packet)>,
}

impl Pipe {
    pub fn new(delay: Span) -> Self {
        Pipe { delay, packets: VecDeque::new() }
    }

    pub fn delay(&self) -> Span {
        self.delay
    }

    #[inline]
    pub fn push(&mut self, now: Time, packet: Packet) {
        self.packets.push_back((now + self.delay, packet));
    }

    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        self.packets.front().map(|(arrival, _)| *arrival)
    }

    #[inline]
    pub fn pop(&mut self, now: Time) -> Option<Packet> {
        if self.next_arrival()? > now {
            return None;
        }
        self.packets.pop_front().map(|(_, packet)| packet)
    }

    pub fn held(&self) -> Backlog {
        let mut held = Backlog::default();
        self.packets.iter().for_each(|(_, packet)| held.add(packet));
        held
    }
}
