//! The queue of one destination: packets in order, latency-sensitive ones separately, and zombies.
//!
//! Latency-sensitive packets are in the order of the time to the deadline that they had on arrival.
//! The public program subtracts the latency of the fastest path, which all packets of a queue
//! share.

use std::collections::VecDeque;

use super::depth::{Depth, Shown};
use super::starvation::Starvation;
use super::zombies::Reduction;
use crate::overlay::message::{Class, Parcel};
use sojourn_base::units::Time;

/// Packets and zombies of one class.
#[derive(Debug, Default)]
struct Part {
    /// Packets with their arrival times, in increasing order of the time to the deadline that they
    /// had then.
    packets: VecDeque<(Time, Parcel)>,
    bytes: u64,
    zombies: u64,
    reduction: Reduction,
}

impl Part {
    fn insert(&mut self, now: Time, parcel: Parcel) {
        let to_go = |since: Time, parcel: &Parcel| parcel.due.map(|due| due.since(since));
        let own = to_go(now, &parcel);
        let before = |(since, other): &(Time, Parcel)| to_go(*since, other) <= own;
        let place = self.packets.iter().rposition(before).map_or(0, |last| last + 1);
        self.packets.insert(place, (now, parcel));
    }
}

/// The queue of a destination.
#[derive(Debug)]
pub(crate) struct Bin {
    parts: [Part; 2],
    starvation: Starvation,
    how: Shown,
    depths: [Depth; 2],
    shown: [f64; 2],
}

impl Bin {
    /// An empty queue that advertises its depth in this way.
    pub(crate) fn new(how: Shown) -> Self {
        Bin {
            parts: Default::default(),
            starvation: Starvation::default(),
            how,
            depths: Default::default(),
            shown: [0.0; 2],
        }
    }

    /// Appends a packet.
    pub(crate) fn push(&mut self, now: Time, parcel: Parcel) {
        let part = &mut self.parts[Class::of(&parcel) as usize];
        part.bytes += u64::from(parcel.size);
        part.insert(now, parcel);
        part.reduction.on_depth(now, part.bytes);
        self.shown(now);
    }

    /// Packets of a class, the oldest first.
    pub(crate) fn packets(&self, class: Class) -> impl Iterator<Item = &Parcel> {
        self.parts[class as usize].packets.iter().map(|(_, parcel)| parcel)
    }

    /// Number of packets.
    pub(crate) fn count(&self) -> usize {
        self.parts.iter().map(|part| part.packets.len()).sum()
    }

    /// Whether there is nothing of a class.
    pub(crate) fn is_empty(&self, class: Class) -> bool {
        let part = &self.parts[class as usize];
        part.packets.is_empty() && part.zombies == 0
    }

    /// Removes the packet at this place; with `reduce`, a zombie may take its place.
    pub(crate) fn take(
        &mut self,
        now: Time,
        class: Class,
        place: usize,
        reduce: bool,
    ) -> Option<Parcel> {
        let part = &mut self.parts[class as usize];
        let (_, parcel) = part.packets.remove(place)?;
        let bytes = u64::from(parcel.size);
        part.bytes -= bytes;
        if reduce {
            part.zombies += part.reduction.on_packet(now, bytes, part.bytes, part.zombies);
        }
        self.starvation.on_packet(now);
        self.shown(now);
        Some(parcel)
    }

    /// Removes up to `most` bytes of zombies; returns the number removed.
    pub(crate) fn take_zombie(&mut self, now: Time, class: Class, most: u64) -> u64 {
        let part = &mut self.parts[class as usize];
        let bytes = part.zombies.min(most);
        part.zombies -= bytes;
        if bytes > 0 {
            part.reduction.on_zombie(now);
        }
        self.shown(now);
        bytes
    }

    /// Turns a packet that cannot arrive in time into a zombie, which keeps its place in the queue.
    pub(crate) fn kill(&mut self, class: Class, place: usize) -> Option<Parcel> {
        let part = &mut self.parts[class as usize];
        let (_, parcel) = part.packets.remove(place)?;
        part.bytes -= u64::from(parcel.size);
        part.zombies += u64::from(parcel.size);
        Some(parcel)
    }

    /// Relieves starvation; `lacks` is what the gradient of the bin lacks to be the largest.
    pub(crate) fn relieve(&mut self, now: Time, capacity: f64, lacks: f64) {
        let first = |part: &Part| part.packets.front().map(|(since, _)| *since);
        let Some(since) = self.parts.iter().filter_map(first).min() else { return };
        let more = self.starvation.relief(now, since, capacity, lacks);
        let timed = !self.parts[Class::Timed as usize].packets.is_empty();
        self.parts[usize::from(timed)].zombies += more;
        self.shown(now);
    }

    /// Bytes of all that is in it.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes + part.zombies).sum()
    }

    /// Bytes of packets.
    pub(crate) fn packet_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Whether there are zombies of a class.
    pub(crate) fn has_zombies(&self, class: Class) -> bool {
        self.parts[class as usize].zombies > 0
    }

    /// Bytes of zombies.
    pub(crate) fn zombie_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.zombies).sum()
    }

    /// The advertised depths: of all traffic, and of latency-sensitive traffic.
    pub(crate) fn shown(&mut self, now: Time) -> [f64; 2] {
        let timed = &self.parts[Class::Timed as usize];
        let bytes = [self.bytes() as f64, (timed.bytes + timed.zombies) as f64];
        self.shown = [0, 1].map(|index| self.depths[index].show(now, self.how, bytes[index]));
        self.shown
    }

    /// The depths advertised last, when a packet last entered or left.
    pub(crate) fn last_shown(&self) -> [f64; 2] {
        self.shown
    }

    /// The windows of zombie latency reduction, in seconds.
    pub(crate) fn windows(&self) -> [f64; 2] {
        [0, 1].map(|class| self.parts[class].reduction.window().as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::packet::Packet;
    use sojourn_base::units::Span;

    #[test]
    fn packets_with_less_time_to_go_are_before_those_with_more_others_in_turn() {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut bin = Bin::new(Shown::default());
        let came =
            [(0, Some(120)), (1, Some(60)), (2, Some(61)), (3, Some(60)), (4, None), (5, None)];
        for (index, (ms, to_go)) in came.into_iter().enumerate() {
            let packet = Packet { index: index as u32, size: 1_000, ..Packet::default() };
            let due = to_go.map(|to_go| at(ms + to_go));
            bin.push(at(ms), Parcel::new(packet, 1, due));
        }
        let order =
            |class| bin.packets(class).map(|parcel| parcel.packet.index).collect::<Vec<_>>();
        assert_eq!((order(Class::Timed), order(Class::Normal)), (vec![1, 3, 2, 0], vec![4, 5]));
    }
}
