//! Recognition of packets of IPv6 that come back from a router: they have no identification that a
//! queue may not look at, so it is all their bytes that tell them apart, but for what a router changes.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Packets that are remembered; those that a queue has dropped never come back. Fewer than there are
/// numbers, so that none has two meanings.
const MOST: usize = 1 << 15;
/// Bytes at the beginning that have the traffic class, and the place of the hop limit: routers change
/// both.
const CLASS: usize = 2;
const HOP_LIMIT: usize = 7;

/// The packets in a router, by what they look like.
#[derive(Debug, Default)]
pub(super) struct Likeness {
    /// Numbers of packets that look alike, in the order in which they entered.
    numbers: HashMap<u64, VecDeque<u16>>,
    /// All that have entered lately.
    order: VecDeque<(u64, u16)>,
}

impl Likeness {
    /// A packet enters the router under a number.
    pub(super) fn enter(&mut self, packet: &[u8], number: u16) {
        if self.order.len() == MOST
            && let Some((look, oldest)) = self.order.pop_front()
        {
            self.remove(look, oldest);
        }
        let look = look(packet);
        self.order.push_back((look, number));
        self.numbers.entry(look).or_default().push_back(number);
    }

    /// The number of a packet that leaves the router: of those that look alike, the one that entered
    /// first.
    pub(super) fn leave(&mut self, packet: &[u8]) -> Option<u16> {
        let look = look(packet);
        let number = *self.numbers.get(&look)?.front()?;
        self.remove(look, number);
        Some(number)
    }

    /// Forgets a number, if it is the first of those that look alike.
    fn remove(&mut self, look: u64, number: u16) {
        let Some(alike) = self.numbers.get_mut(&look) else { return };
        if alike.front() == Some(&number) {
            alike.pop_front();
        }
        if alike.is_empty() {
            self.numbers.remove(&look);
        }
    }
}

/// What a packet looks like, whatever a router does with it.
fn look(packet: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let kept = [packet.get(CLASS..HOP_LIMIT), packet.get(HOP_LIMIT + 1..)];
    kept.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(last: u8) -> Vec<u8> {
        let mut packet = vec![0; 48];
        (packet[0], packet[7], packet[47]) = (0x60, 64, last);
        packet
    }

    #[test]
    fn a_packet_is_recognised_behind_a_router() {
        let mut likeness = Likeness::default();
        for (number, last) in [(7, 1), (8, 2), (9, 1)] {
            likeness.enter(&packet(last), number);
        }
        let mut marked = packet(1);
        (marked[0], marked[1], marked[7]) = (0x60, 0x30, 63);
        assert_eq!(likeness.leave(&packet(2)), Some(8));
        assert_eq!(likeness.leave(&marked), Some(7));
        assert_eq!(likeness.leave(&packet(1)), Some(9));
        assert_eq!(likeness.leave(&packet(1)), None);
        assert_eq!(likeness.leave(&packet(3)), None);
    }

    #[test]
    fn what_never_comes_back_is_forgotten() {
        let mut likeness = Likeness::default();
        likeness.enter(&packet(1), 1);
        for number in 0..MOST {
            likeness.enter(&packet(2), number as u16);
        }
        assert_eq!(likeness.leave(&packet(1)), None);
        assert_eq!(likeness.order.len(), MOST);
        assert_eq!(likeness.leave(&packet(2)), Some(0));
    }
}
