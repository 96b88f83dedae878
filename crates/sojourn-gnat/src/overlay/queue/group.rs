//! The queue of a multicast group: packets in order, and for each destination a depth, zombies, and
//! the state of zombie latency reduction and of the relief of starvation.

use super::depth::{Depth, Shown};
use super::packets::Packets;
use super::starvation::Starvation;
use super::zombies::Reduction;
use crate::overlay::members::bits as members;
use crate::overlay::message::Copies;
use sojourn_base::units::Time;

/// Queue state of one destination.
#[derive(Clone, Debug, Default)]
struct Lane {
    bytes: u64,
    zombies: u64,
    reduction: Reduction,
    starvation: Starvation,
    depth: Depth,
}

/// The queue of a group.
#[derive(Debug)]
pub(crate) struct GroupQueue {
    packets: Packets,
    lanes: Vec<Lane>,
    how: Shown,
    shown: Vec<f64>,
    /// Destinations with packets, and with zombies.
    waiting: u64,
    haunted: u64,
}

impl GroupQueue {
    /// An empty queue for `members` members, in which `search` packets are searched.
    pub(crate) fn new(members: usize, how: Shown, search: usize) -> Self {
        GroupQueue {
            packets: Packets::new(search),
            lanes: vec![Lane::default(); members],
            how,
            shown: vec![0.0; members],
            waiting: 0,
            haunted: 0,
        }
    }

    /// Appends a packet.
    pub(crate) fn push(&mut self, now: Time, mut parcel: Copies) {
        parcel.since = now;
        for member in members(parcel.to) {
            let lane = &mut self.lanes[member];
            lane.bytes += u64::from(parcel.size);
            lane.reduction.on_depth(now, lane.bytes);
        }
        let to = parcel.to;
        self.waiting |= to;
        self.packets.push(parcel);
        self.show(now, to);
    }

    /// The packets.
    pub(crate) fn packets(&self) -> &Packets {
        &self.packets
    }

    /// Destinations with packets.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Destinations with zombies and without packets.
    pub(crate) fn only_zombies(&self) -> u64 {
        self.haunted & !self.waiting
    }

    /// Removes the packet of this number for some of its destinations; for the others it stays.
    /// With `reduce`, zombies may take its place. Also whether it stays.
    pub(crate) fn take(
        &mut self,
        now: Time,
        number: u64,
        set: u64,
        reduce: bool,
    ) -> Option<(Copies, bool)> {
        let (taken, stays) = self.packets.take(number, set)?;
        let bytes = u64::from(taken.size);
        for member in members(taken.to) {
            let lane = &mut self.lanes[member];
            lane.bytes -= bytes;
            if reduce {
                lane.zombies += lane.reduction.on_packet(now, bytes, lane.bytes, lane.zombies);
            }
            lane.starvation.on_packet(now);
        }
        self.mark(taken.to);
        self.show(now, taken.to);
        Some((taken, stays))
    }

    /// Removes up to `most` bytes of zombies for each destination of a set; returns the largest
    /// number removed.
    pub(crate) fn take_zombies(&mut self, now: Time, set: u64, most: u64) -> u64 {
        let mut largest = 0;
        for member in members(set) {
            let lane = &mut self.lanes[member];
            let bytes = lane.zombies.min(most);
            lane.zombies -= bytes;
            if bytes > 0 {
                lane.reduction.on_zombie(now);
            }
            largest = largest.max(bytes);
        }
        self.mark(set);
        self.show(now, set);
        largest
    }

    /// Relieves starvation of one destination, whose group's gradient lacks this to be the largest.
    pub(crate) fn relieve(&mut self, now: Time, member: usize, capacity: f64, lacks: f64) {
        let first = self.packets.first(member);
        let Some(since) = first.map(|parcel| parcel.since) else { return };
        let lane = &mut self.lanes[member];
        lane.zombies += lane.starvation.relief(now, since, capacity, lacks);
        self.mark(1 << member);
        self.show(now, 1 << member);
    }

    fn mark(&mut self, set: u64) {
        for member in members(set) {
            let (lane, bit) = (&self.lanes[member], 1 << member);
            self.waiting = self.waiting & !bit | if lane.bytes > 0 { bit } else { 0 };
            self.haunted = self.haunted & !bit | if lane.zombies > 0 { bit } else { 0 };
        }
    }

    /// The advertised depths, with those of a set updated now.
    pub(crate) fn show(&mut self, now: Time, set: u64) -> &[f64] {
        let count = self.lanes.len();
        for member in members(set).take_while(|member| *member < count) {
            let lane = &mut self.lanes[member];
            let bytes = (lane.bytes + lane.zombies) as f64;
            self.shown[member] = lane.depth.show(now, self.how, bytes);
        }
        &self.shown
    }

    /// The depths advertised last.
    pub(crate) fn last_shown(&self) -> &[f64] {
        &self.shown
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use sojourn_base::packet::Packet;
    use sojourn_base::units::Span;
    use sojourn_net::multicast::MOST_MEMBERS;

    fn parcel(index: u32, to: u64) -> Copies {
        Copies::new(
            std::sync::Arc::new(Packet { size: 1_000, index, ..Packet::default() }.into()),
            0,
            to,
        )
    }

    proptest! {
        /// Every packet leaves once for each of its destinations, and depths equal the waiting
        /// packets.
        #[test]
        fn every_destination_of_every_packet_comes_out_once(
            pushed in prop::collection::vec(1_u64..256, 1..40),
            taken in prop::collection::vec((0_u64..40, 1_u64..256), 0..80),
        ) {
            let mut queue = GroupQueue::new(8, Shown::Instantaneous, 5);
            for (index, to) in pushed.iter().enumerate() {
                queue.push(Time::ZERO, parcel(index as u32, *to));
            }
            let mut left = pushed.clone();
            let all = (0..40).map(|number| (number, u64::MAX));
            for (step, (number, set)) in taken.into_iter().chain(all).enumerate() {
                let now = Time::ZERO + Span::from_millis(step as u64);
                let Some((parcel, stays)) = queue.take(now, number, set, false) else { continue };
                let rest = &mut left[parcel.packet.index as usize];
                prop_assert_eq!(parcel.to & !*rest, 0, "a destination that it had");
                *rest &= !parcel.to;
                prop_assert_eq!(stays, *rest != 0);
                for member in 0..8 {
                    let waits = left.iter().filter(|to| **to >> member & 1 == 1).count();
                    prop_assert_eq!(queue.last_shown()[member], 1_000.0 * waits as f64);
                    prop_assert_eq!(queue.waiting() >> member & 1 == 1, waits > 0);
                }
            }
            prop_assert!(left.iter().all(|to| *to == 0));
        }
    }

    #[test]
    fn zombies_keep_the_depth_of_each_destination() {
        let mut queue = GroupQueue::new(2, Shown::Instantaneous, 5);
        (0..50).for_each(|index| queue.push(Time::ZERO, parcel(index, 0b11)));
        for ms in 0..5_000_u64 {
            let now = Time::ZERO + Span::from_millis(ms);
            let depth = queue.last_shown()[0];
            // Destination 0 is served and fed at the same rate, destination 1 not at all.
            let first = queue.packets().suits(0b01, &[1.0; MOST_MEMBERS]);
            let _ = queue.take(now, first.map_or(0, |(number, _)| number), 0b01, true);
            if queue.last_shown()[0] < depth {
                queue.push(now, parcel(50, 0b01));
            }
        }
        assert_eq!(queue.last_shown(), [50_000.0, 50_000.0]);
        assert_eq!(queue.haunted, 0b01, "only where it was served");
        assert_eq!(queue.take_zombies(Time::ZERO, 0b11, 1_500), 1_500);
        assert_eq!(queue.last_shown(), [48_500.0, 50_000.0]);
    }
}
