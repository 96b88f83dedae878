//! Many FIFOs of packets in one slab, so that a discipline with a thousand queues allocates nothing
//! per packet and a short backlog stays within a few cache lines.

use super::QueueInit;
use crate::packet::Packet;
use crate::quantity::Limit;

const NIL: u32 = u32::MAX;

#[derive(Debug)]
struct Node {
    packet: Packet,
    next: u32,
}

/// Storage for the packets of any number of [`Chain`]s; grows to the largest backlog that occurs.
#[derive(Debug)]
pub struct PacketStore {
    nodes: Vec<Node>,
    free: u32,
}

/// Where a packet is kept while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u32);

/// A FIFO of packets kept in a [`PacketStore`].
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    head: u32,
    tail: u32,
}

impl Default for PacketStore {
    fn default() -> Self {
        PacketStore { nodes: Vec::new(), free: NIL }
    }
}

impl Default for Chain {
    fn default() -> Self {
        Chain { head: NIL, tail: NIL }
    }
}

impl Chain {
    /// Whether it holds no packet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NIL
    }
}

/// A packet, if `fill` has written one to its place.
#[inline]
pub(crate) fn filled(fill: impl FnOnce(&mut Packet) -> bool) -> Option<Packet> {
    let mut packet = Packet::default();
    fill(&mut packet).then_some(packet)
}

impl PacketStore {
    /// Appends `packet` to `chain`.
    #[inline]
    pub fn push(&mut self, chain: &mut Chain, packet: Packet) {
        let index = self.take_node(packet);
        if chain.is_empty() {
            chain.head = index;
        } else {
            self.nodes[chain.tail as usize].next = index;
        }
        chain.tail = index;
    }

    /// Removes the first packet of `chain`.
    #[inline]
    pub fn pop(&mut self, chain: &mut Chain) -> Option<Packet> {
        filled(|packet| self.pop_into(chain, packet))
    }

    /// The same, written to `packet`; whether there was one.
    #[inline(always)] // once per packet
    pub fn pop_into(&mut self, chain: &mut Chain, packet: &mut Packet) -> bool {
        if chain.is_empty() {
            return false;
        }
        let index = chain.head;
        let node = &mut self.nodes[index as usize];
        *packet = node.packet;
        chain.head = node.next;
        node.next = self.free;
        self.free = index;
        true
    }

    /// The packets of `chain` in order, each with its place.
    pub fn iter(&self, chain: &Chain) -> impl Iterator<Item = (Place, &Packet)> {
        let nodes = &self.nodes;
        let node = move |index: u32| nodes.get(index as usize).map(|node| (index, node));
        let found = std::iter::successors(node(chain.head), move |(_, last)| node(last.next));
        found.map(|(index, node)| (Place(index), &node.packet))
    }

    /// The last packet of `chain`, with its place.
    pub fn last(&self, chain: &Chain) -> Option<(Place, &Packet)> {
        let node = self.nodes.get(chain.tail as usize).filter(|_| !chain.is_empty())?;
        Some((Place(chain.tail), &node.packet))
    }

    /// Removes the packet of `chain` that is after a place, or its first one.
    pub fn remove_after(&mut self, chain: &mut Chain, before: Option<Place>) -> Option<Packet> {
        let Some(Place(before)) = before else { return self.pop(chain) };
        let index = self.nodes[before as usize].next;
        let removed = self.nodes.get_mut(index as usize)?;
        let (packet, next) = (removed.packet, removed.next);
        removed.next = self.free;
        self.free = index;
        self.nodes[before as usize].next = next;
        if chain.tail == index {
            chain.tail = before;
        }
        Some(packet)
    }

    #[inline]
    fn take_node(&mut self, packet: Packet) -> u32 {
        let node = Node { packet, next: NIL };
        if self.free == NIL {
            self.nodes.push(node);
            return (self.nodes.len() - 1) as u32;
        }
        let index = self.free;
        let slot = &mut self.nodes[index as usize];
        self.free = slot.next;
        *slot = node;
        index
    }
}

/// Kernel memory of a packet (`skb->truesize`): Ethernet header, headroom and the shared info in a
/// power of two, and the `sk_buff` itself.
#[inline]
pub fn memory_of(packet: &Packet) -> u64 {
    u64::from((packet.size + 14 + 64 + 320).next_power_of_two()) + 256
}

/// Kernel memory within a limit; packets count as full ones.
pub fn memory_within(limit: Limit, init: &QueueInit) -> u64 {
    let (packets, bytes) = init.limit(limit);
    let full = Packet { size: init.full_packet, ..Packet::default() };
    packets.saturating_mul(memory_of(&full)).min(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_fifos_and_share_the_slab() {
        let mut store = PacketStore::default();
        let mut chains = [Chain::default(); 2];
        for index in 0..6 {
            let packet = Packet { index, ..Packet::default() };
            store.push(&mut chains[index as usize % 2], packet);
        }
        let first = store.pop(&mut chains[1]).map(|p| p.index);
        store.push(&mut chains[0], Packet { index: 6, ..Packet::default() });
        let even: Vec<_> =
            std::iter::from_fn(|| store.pop(&mut chains[0])).map(|p| p.index).collect();
        let odd: Vec<_> =
            std::iter::from_fn(|| store.pop(&mut chains[1])).map(|p| p.index).collect();
        assert_eq!((first, even, odd), (Some(1), vec![0, 2, 4, 6], vec![3, 5]));
        assert_eq!(store.nodes.len(), 6, "a freed place is used again");
    }

    #[test]
    fn packets_leave_from_the_middle_and_the_end() {
        let mut store = PacketStore::default();
        let mut chain = Chain::default();
        for index in 0..4 {
            store.push(&mut chain, Packet { index, ..Packet::default() });
        }
        let numbers = |store: &PacketStore, chain: &Chain| -> Vec<u32> {
            store.iter(chain).map(|(_, packet)| packet.index).collect()
        };
        let places: Vec<_> = store.iter(&chain).map(|(place, _)| place).collect();
        for (before, gone, left) in [
            (Some(places[1]), 2, vec![0, 1, 3]),
            (Some(places[1]), 3, vec![0, 1]),
            (None, 0, vec![1]),
        ] {
            assert_eq!(store.remove_after(&mut chain, before).map(|p| p.index), Some(gone));
            assert_eq!(numbers(&store, &chain), left);
        }
        assert!(store.remove_after(&mut chain, Some(places[1])).is_none());
        store.push(&mut chain, Packet { index: 9, ..Packet::default() });
        assert_eq!((numbers(&store, &chain), store.nodes.len()), (vec![1, 9], 4));
    }

    #[test]
    fn memory_is_the_kernel_s_for_full_packets_and_acks() {
        assert_eq!(memory_of(&Packet { size: 1500, ..Packet::default() }), 2304);
        assert_eq!(memory_of(&Packet { size: 52, ..Packet::default() }), 768);
    }
}
