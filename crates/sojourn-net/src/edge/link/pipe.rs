//! Propagation: packets in flight on the link, in the order of their arrivals.

use super::variation::{Arrival, Variation};
use crate::packet::Packet;
use crate::queue::Backlog;
use crate::record::live::Tap;
use crate::ring::Ring;
use crate::units::{Span, Time};

/// Room for so many times the packets in flight is too much.
const SPARE: usize = 4;

/// A propagation delay, fixed unless there is a variation.
#[derive(Debug)]
pub(super) struct Pipe {
    delay: Span,
    packets: Ring<(Time, Packet)>,
    /// Arrival of the first of them, cached; [`Time::NEVER`] when there is none.
    next: Time,
    variation: Option<Box<Variation>>,
    thinned: Backlog,
    tap: Option<Tap>,
}

impl Pipe {
    pub(super) fn new(delay: Span, variation: Option<Box<Variation>>) -> Self {
        let (packets, thinned) = (Ring::default(), Backlog::default());
        Pipe { delay, packets, next: Time::NEVER, variation, thinned, tap: None }
    }

    /// The same; `tap` records thinned acknowledgments.
    #[must_use]
    pub(super) fn recorded(self, tap: Option<Tap>) -> Self {
        Pipe { tap, ..self }
    }

    /// Minimum time from entering to arrival.
    #[inline]
    pub(super) fn least_delay(&self) -> Span {
        if self.variation.is_some() { Span::ZERO } else { self.delay }
    }

    /// Whether a packet may arrive before another that entered before it.
    #[inline]
    pub(super) fn may_overtake(&self) -> bool {
        self.variation.as_ref().is_some_and(|variation| variation.reorders())
    }

    #[inline]
    pub(super) fn push(&mut self, now: Time, packet: &Packet) {
        match self.variation {
            None => {
                let arrival = now + self.delay;
                self.next = self.next.min(arrival);
                let last = self.packets.append();
                last.0 = arrival;
                last.1 = *packet;
            }
            Some(_) => self.push_varied(now, packet),
        }
    }

    #[inline(never)]
    fn push_varied(&mut self, now: Time, packet: &Packet) {
        let Some(variation) = &mut self.variation else { return };
        let last = self.packets.last().map_or(Time::ZERO, |(arrival, _)| *arrival);
        let Arrival { time, thin } = variation.arrival(now, packet, last);
        if let Some(keep) = thin {
            self.thin(now, time, packet, keep);
        }
        let place = self.packets.partition_point(|(arrival, _)| *arrival <= time);
        self.packets.insert(place, (time, *packet));
        self.look_ahead();
    }

    /// Makes room for one more acknowledgment like `packet` among those of its flow that arrive at
    /// `time`: at most `keep` stay; the oldest are removed.
    fn thin(&mut self, now: Time, time: Time, packet: &Packet, keep: u32) {
        let like = |(arrival, other): &(Time, Packet)| *arrival == time && packet.supersedes(other);
        let batch = self.packets.partition_point(|(arrival, _)| *arrival < time);
        let found = self.packets.iter_from(batch).filter(|entry| like(entry)).count();
        let oldest = self.packets.iter_from(batch).position(like);
        if let Some(offset) = oldest.filter(|_| found >= keep as usize) {
            let (_, old) = self.packets.remove(batch + offset);
            self.thinned.add(&old);
            if let Some(tap) = &self.tap {
                tap.lose(now, &old, "thinned");
            }
        }
    }

    /// Acknowledgments removed because later ones replace them.
    pub(super) fn thinned(&self) -> Backlog {
        self.thinned
    }

    #[inline]
    fn look_ahead(&mut self) {
        self.next = self.packets.first().map_or(Time::NEVER, |(arrival, _)| *arrival);
    }

    #[inline]
    pub(super) fn next_arrival(&self) -> Option<Time> {
        (self.next != Time::NEVER).then_some(self.next)
    }

    /// Moves the first packet into `packet` if it has arrived.
    #[inline]
    pub(super) fn pop(&mut self, now: Time, packet: &mut Packet) -> bool {
        if self.next > now {
            return false;
        }
        let Some((_, first)) = self.packets.first() else { return false };
        *packet = *first;
        self.packets.remove_first();
        self.look_ahead();
        true
    }

    /// Gives back most room that it does not need: all of a ring is used in turn, whatever is in it, and the
    /// ring of a pipe that a thousand flows once filled at their start displaces their state from the cache.
    #[cold]
    pub(super) fn fit(&mut self) {
        if self.packets.capacity() > SPARE * self.packets.len() {
            self.packets.resize(self.packets.len() + self.packets.len() / 2);
        }
    }

    pub(super) fn held(&self) -> Backlog {
        let mut held = Backlog::default();
        self.packets.iter_from(0).for_each(|(_, packet)| held.add(packet));
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_is_not_needed_is_given_back() {
        let (mut pipe, mut packet) = (Pipe::new(Span::ZERO, None), Packet::default());
        for index in 0..1000 {
            pipe.push(Time::from_nanos(index), &Packet { index: index as u32, ..packet });
        }
        (0..990).for_each(|_| assert!(pipe.pop(Time::NEVER, &mut packet)));
        pipe.fit();
        assert!((10..=40).contains(&pipe.packets.capacity()), "{}", pipe.packets.capacity());
        for index in 990..1000 {
            assert_eq!(pipe.next_arrival(), Some(Time::from_nanos(index)));
            assert!(pipe.pop(Time::NEVER, &mut packet) && u64::from(packet.index) == index);
        }
        assert_eq!(pipe.next_arrival(), None);
    }
}
