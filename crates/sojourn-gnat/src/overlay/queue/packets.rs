//! Packets of a group: in order, and by their remaining destinations.
//!
//! Whenever a neighbour has room, a node searches for the packet that best matches the gradients.
//! Packets for the same destinations match equally, so that only the oldest of each set is
//! examined.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::overlay::members::bits as members;
use crate::overlay::message::Copies;
use sojourn_net::multicast::MOST_MEMBERS;

/// Gradients of a group to a neighbour, by member.
pub(crate) type Gradients = [f64; MOST_MEMBERS];

/// Packets in order.
#[derive(Debug)]
pub(crate) struct Packets {
    /// From `first` on, by number, which counts those that came; none where one is gone.
    all: VecDeque<Option<Copies>>,
    first: u64,
    count: usize,
    /// Sets of packets for the same destinations, unordered.
    alike: Vec<Alike>,
    /// Limit of packets to search, their present number, and the number of the last.
    search: usize,
    inside: usize,
    edge: u64,
}

/// Packets for the same destinations.
#[derive(Debug)]
struct Alike {
    to: u64,
    oldest: u64,
    /// The oldest first, with some that are not for these any more.
    numbers: BinaryHeap<Reverse<u64>>,
}

/// A packet that suits.
#[derive(Clone, Copy, Debug)]
struct Found {
    number: u64,
    both: u64,
    score: f64,
}

impl Packets {
    /// An empty queue in which `search` packets are searched.
    pub(crate) fn new(search: usize) -> Self {
        let all = VecDeque::new();
        Packets { all, first: 0, count: 0, alike: vec![], search, inside: 0, edge: 0 }
    }

    /// Appends a packet.
    pub(crate) fn push(&mut self, parcel: Copies) {
        let number = self.first + self.all.len() as u64;
        self.join(parcel.to, number);
        self.all.push_back(Some(parcel));
        self.count += 1;
        if self.inside < self.search {
            self.inside += 1;
            self.edge = number;
        }
    }

    /// Number of packets.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Their bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.all.iter().flatten().map(|parcel| u64::from(parcel.size)).sum()
    }

    /// The oldest for a member.
    pub(crate) fn first(&self, member: usize) -> Option<&Copies> {
        let sets = self.alike.iter().filter(|alike| alike.to >> member & 1 == 1);
        self.get(sets.map(|alike| alike.oldest).min()?)
    }

    fn get(&self, number: u64) -> Option<&Copies> {
        self.all.get(number.checked_sub(self.first)? as usize)?.as_ref()
    }

    /// Members that a packet is still for, as bits.
    pub(crate) fn destinations(&self, number: u64) -> u64 {
        self.get(number).map_or(0, |parcel| parcel.to)
    }

    /// Removes a packet for some of its destinations; for the others it stays. Also whether it
    /// stays.
    pub(crate) fn take(&mut self, number: u64, set: u64) -> Option<(Copies, bool)> {
        let place = number.checked_sub(self.first)? as usize;
        let entry = self.all.get_mut(place)?;
        let parcel = entry.as_mut()?;
        let (before, rest) = (parcel.to, parcel.to & !set);
        parcel.to = rest;
        let taken = if rest == 0 { entry.take()? } else { parcel.clone() };
        self.leave(before, number);
        if rest != 0 {
            self.join(rest, number);
        } else {
            self.forget_gone();
            self.draw_in(number);
        }
        Some((Copies { to: before & set, ..taken }, rest != 0))
    }

    /// Accounts for a packet that has left, and drops empty places at the front.
    fn forget_gone(&mut self) {
        self.count -= 1;
        while self.all.front().is_some_and(Option::is_none) {
            self.all.pop_front();
            self.first += 1;
        }
    }

    fn join(&mut self, to: u64, number: u64) {
        match self.alike.iter_mut().find(|alike| alike.to == to) {
            Some(alike) => {
                alike.numbers.push(Reverse(number));
                alike.oldest = alike.oldest.min(number);
            }
            None => {
                self.alike.push(Alike { to, oldest: number, numbers: [Reverse(number)].into() })
            }
        }
    }

    fn leave(&mut self, to: u64, number: u64) {
        let Some(place) = self.alike.iter().position(|alike| alike.to == to) else { return };
        if self.alike[place].oldest != number {
            return;
        }
        while let Some(Reverse(oldest)) = self.alike[place].numbers.peek() {
            if self.get(*oldest).is_some_and(|parcel| parcel.to == to) {
                self.alike[place].oldest = *oldest;
                return;
            }
            self.alike[place].numbers.pop();
        }
        self.alike.swap_remove(place);
    }

    /// A packet within the searched part has left: the next one joins that part.
    fn draw_in(&mut self, gone: u64) {
        if gone > self.edge {
            return;
        }
        let end = self.first + self.all.len() as u64;
        match (self.edge + 1..end).find(|number| self.get(*number).is_some()) {
            Some(number) => self.edge = number,
            None => self.inside -= 1,
        }
    }

    /// The packet whose destinations in a set have most of the gradient, the oldest of those alike,
    /// and which these are. Where none that is searched is for any, the first beyond.
    pub(crate) fn suits(&self, set: u64, each: &Gradients) -> Option<(u64, u64)> {
        let mut best: Option<Found> = None;
        let mut beyond: Option<(u64, u64)> = None;
        for Alike { to, oldest: number, .. } in &self.alike {
            let (both, number) = (to & set, *number);
            if both == 0 {
                continue;
            }
            if number > self.edge {
                let nearer = beyond.is_none_or(|(nearest, _)| number < nearest);
                beyond = if nearer { Some((number, both)) } else { beyond };
                continue;
            }
            let score = match best {
                Some(best) if best.both == both => best.score,
                // All gradients are positive: less than the best.
                Some(best) if both & !best.both == 0 => continue,
                _ => members(both).map(|to| each[to]).sum(),
            };
            let better =
                |best: Found| score > best.score || score == best.score && number < best.number;
            if best.is_none_or(better) {
                best = Some(Found { number, both, score });
            }
        }
        best.map(|best| (best.number, best.both)).or(beyond)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use std::sync::Arc;

    use super::*;
    use sojourn_base::packet::Packet;

    /// The same by a search over all packets.
    fn one_by_one(packets: &Packets, set: u64, each: &Gradients) -> Option<(u64, u64)> {
        let mut best: Option<Found> = None;
        let all = (packets.first..).zip(&packets.all);
        let all = all.filter_map(|(number, parcel)| Some((number, parcel.as_ref()?)));
        for (place, (number, parcel)) in all.enumerate() {
            if place >= packets.search && best.is_some() {
                break;
            }
            let both = parcel.to & set;
            let score: f64 = members(both).map(|to| each[to]).sum();
            if both != 0 && best.is_none_or(|best| score > best.score) {
                best = Some(Found { number, both, score });
            }
        }
        best.map(|best| (best.number, best.both))
    }

    proptest! {
        /// What is found by sets is what a search through the queue finds.
        #[test]
        fn the_packet_that_suits_is_that_of_a_search_one_by_one(
            search in 1_usize..12,
            gradients in prop::collection::vec(1_u32..5, 6),
            steps in prop::collection::vec((1_u64..64, 1_u64..64, 0_usize..3), 1..80),
        ) {
            let mut each = [0.0; MOST_MEMBERS];
            for (each, gradient) in each.iter_mut().zip(gradients) {
                *each = f64::from(gradient);
            }
            let mut packets = Packets::new(search);
            for (to, set, pushes) in steps {
                for more in 0..pushes as u64 {
                    let to = (to + more) % 63 + 1;
                    packets.push(Copies::new(Arc::new(Packet::default().into()), 0, to));
                }
                let found = packets.suits(set, &each);
                prop_assert_eq!(found, one_by_one(&packets, set, &each));
                for member in 0..6 {
                    let first = packets.all.iter().flatten().find(|parcel| parcel.to >> member & 1 == 1);
                    let [first, known] = [first, packets.first(member)].map(|p| p.map(|p| p.to));
                    prop_assert_eq!(first, known);
                }
                if let Some((number, both)) = found {
                    packets.take(number, both);
                }
            }
        }
    }
}
