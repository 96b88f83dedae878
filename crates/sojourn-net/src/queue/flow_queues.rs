//! Flow queues with deficit round robin and priority for sparse flows (RFC 8290, sections 3 and 4;
//! Linux `net/sched/sch_fq_codel.c`), shared by FQ-CoDel and FQ-PIE.
//!
//! Packets are hashed by source, destination, flow and direction into a fixed number of queues. As
//! in Linux the hash is keyed and stochastic: two flows can share a queue, with 1024 queues and n
//! flows with probability of about n^2 / 2048. A queue that becomes active joins the list of new
//! queues, which is served first; once it has used up its quantum, or is found empty, it moves to
//! the list of old ones.
//!
//! All packets are in one store, and the active queues are linked by index.

use super::packet_list::Framing;
use super::store::{Chain, PacketStore, filled, memory_of};
use super::{Backlog, QueueInit};
use crate::packet::Packet;
use crate::rng::StreamKey;

const NONE: u32 = u32::MAX;

/// A FIFO of queues.
#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

const EMPTY: List = List { head: NONE, tail: NONE };

#[derive(Clone, Copy, Debug)]
struct FlowQueue {
    packets: Chain,
    bytes: u64,
    deficit: i64,
    /// The queue after this one in its list.
    next: u32,
    listed: bool,
}

/// A fixed number of queues, those that are active in two lists.
#[derive(Debug)]
pub struct FlowQueues {
    queues: Vec<FlowQueue>,
    store: PacketStore,
    new: List,
    old: List,
    backlog: Backlog,
    memory: u64,
    quantum: i64,
    keys: [StreamKey; 2],
    /// How bytes are counted.
    pub framing: Framing,
}

impl FlowQueues {
    /// `count` empty queues with `quantum` bytes each per turn; by default a full packet.
    pub fn new(count: u32, quantum: Option<u64>, init: &QueueInit) -> Self {
        let framing = Framing::new(init);
        let idle = FlowQueue {
            packets: Chain::default(),
            bytes: 0,
            deficit: 0,
            next: NONE,
            listed: false,
        };
        let key = init.random.child("flow hash");
        FlowQueues {
            queues: vec![idle; count as usize],
            store: PacketStore::default(),
            new: EMPTY,
            old: EMPTY,
            backlog: Backlog::default(),
            memory: 0,
            quantum: quantum.unwrap_or(framing.mtu) as i64,
            keys: [key.index(0), key.index(1)],
            framing,
        }
    }

    /// Number of queues, active or not.
    pub fn count(&self) -> usize {
        self.queues.len()
    }

    /// Packets and IP bytes that wait in all queues.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Bytes with overhead that wait in all queues.
    #[inline]
    pub fn total_bytes(&self) -> u64 {
        self.framing.bytes(self.backlog)
    }

    /// Bytes with overhead that wait in one queue.
    #[inline]
    pub fn bytes(&self, queue: usize) -> u64 {
        self.queues[queue].bytes
    }

    /// Kernel memory that the waiting packets would take.
    #[inline]
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// The queue of a packet's flow.
    #[inline]
    pub fn classify(&self, packet: &Packet) -> usize {
        let key = self.keys[packet.direction() as usize];
        let uniform = key.uniform_at(packet.tuple.fold());
        (uniform * self.queues.len() as f64) as usize
    }

    /// Appends a packet to a queue, which becomes active if it is not.
    #[inline]
    pub fn push(&mut self, index: usize, packet: Packet) {
        self.backlog.add(&packet);
        self.memory += memory_of(&packet);
        let queue = &mut self.queues[index];
        queue.bytes += self.framing.len(&packet);
        self.store.push(&mut queue.packets, packet);
        if !queue.listed {
            queue.listed = true;
            queue.deficit = self.quantum;
            append(&mut self.new, &mut self.queues, index as u32);
        }
    }

    /// Removes the oldest packet of a queue. The queue stays listed, even if now empty.
    #[inline]
    pub fn pop(&mut self, index: usize) -> Option<Packet> {
        filled(|packet| self.pop_into(index, packet))
    }

    /// The same, written to `packet`; whether there was one.
    #[inline]
    pub fn pop_into(&mut self, index: usize, packet: &mut Packet) -> bool {
        let queue = &mut self.queues[index];
        if !self.store.pop_into(&mut queue.packets, packet) {
            return false;
        }
        queue.bytes -= self.framing.len(packet);
        self.memory -= memory_of(packet);
        self.backlog.remove(packet);
        true
    }

    /// The next queue to serve: new ones first; queues without credit are moved back.
    #[inline]
    pub fn turn(&mut self) -> Option<usize> {
        loop {
            let list = if self.new.head != NONE { &mut self.new } else { &mut self.old };
            if list.head == NONE {
                return None;
            }
            let index = list.head;
            let queue = &mut self.queues[index as usize];
            if queue.deficit > 0 {
                return Some(index as usize);
            }
            queue.deficit += self.quantum;
            list.head = queue.next;
            append(&mut self.old, &mut self.queues, index);
        }
    }

    /// Counts `bytes` sent against a queue's credit.
    #[inline]
    pub fn charge(&mut self, index: usize, bytes: u64) {
        self.queues[index].deficit -= bytes as i64;
    }

    /// The queue that [`Self::turn`] returned was found empty: a new one moves to the old ones for
    /// one pass, so that it cannot starve them by emptying and coming back; an old one leaves.
    pub fn retire(&mut self) {
        let from_new = self.new.head != NONE;
        let list = if from_new { &mut self.new } else { &mut self.old };
        let index = list.head;
        list.head = self.queues[index as usize].next;
        if from_new && self.old.head != NONE {
            append(&mut self.old, &mut self.queues, index);
        } else {
            self.queues[index as usize].listed = false;
        }
    }

    /// The new queues and the old ones, each in the order of their turns.
    pub fn active(&self) -> [impl Iterator<Item = usize>; 2] {
        [self.new, self.old].map(|list| {
            let head = (list.head != NONE).then_some(list.head);
            let next = |index: &u32| Some(self.queues[*index as usize].next).filter(|n| *n != NONE);
            std::iter::successors(head, next).map(|index| index as usize)
        })
    }

    /// The queue with the most bytes, the first of several.
    pub fn fattest(&self) -> usize {
        let mut most = 0;
        for (index, queue) in self.queues.iter().enumerate() {
            if queue.bytes > self.queues[most].bytes {
                most = index;
            }
        }
        most
    }
}

fn append(list: &mut List, queues: &mut [FlowQueue], index: u32) {
    queues[index as usize].next = NONE;
    if list.head == NONE {
        list.head = index;
    } else {
        queues[list.tail as usize].next = index;
    }
    list.tail = index;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Direction, FiveTuple};
    use crate::queue::tests::init;

    fn packet(flow: u32, index: u32) -> Packet {
        let tuple = FiveTuple::of_flow(flow);
        Packet { flow, tuple, index, size: 1500, ..Packet::default() }
    }

    #[test]
    fn new_queues_come_first_then_all_in_turn() {
        let mut queues = FlowQueues::new(8, None, &init());
        for index in 0..3 {
            queues.push(0, packet(0, index));
            queues.push(1, packet(1, index));
        }
        let mut order = Vec::new();
        while let Some(index) = queues.turn() {
            let Some(packet) = queues.pop(index) else {
                queues.retire();
                continue;
            };
            queues.charge(index, 1514);
            order.push((packet.flow, packet.index));
            if order.len() == 3 {
                queues.push(5, Packet { flow: 5, ..packet });
            }
        }
        assert_eq!(order, [(0, 0), (1, 0), (0, 1), (5, 1), (1, 1), (0, 2), (1, 2)]);
        assert_eq!((queues.backlog(), queues.memory()), (Backlog::default(), 0));
    }

    #[test]
    fn a_queue_that_empties_passes_through_the_old_ones() {
        let mut queues = FlowQueues::new(8, None, &init());
        queues.push(0, packet(0, 0));
        queues.push(0, packet(0, 1));
        // Queue 0 is old once it has used up its quantum; queue 1 becomes empty and active again.
        assert_eq!(queues.turn(), Some(0));
        queues.pop(0);
        queues.charge(0, 1514);
        queues.push(1, Packet { size: 50, ..packet(1, 0) });
        assert_eq!(queues.turn(), Some(1));
        queues.pop(1);
        queues.charge(1, 64);
        // Empty, with credit left: it joins the old list, and is not new when its next packet
        // comes.
        assert_eq!(queues.turn(), Some(1));
        assert!(queues.pop(1).is_none());
        queues.retire();
        queues.push(1, Packet { size: 50, ..packet(1, 1) });
        assert_eq!(queues.turn(), Some(0));
    }

    #[test]
    fn hash_spreads_flows_and_tells_directions_apart() {
        let queues = FlowQueues::new(1024, None, &init());
        let mut used: Vec<usize> = (0..1000).map(|f| queues.classify(&packet(f, 0))).collect();
        used.sort_unstable();
        used.dedup();
        // Expected number of used queues: 1024 (1 - exp(-1000/1024)) = 638.
        assert!((590..690).contains(&used.len()), "{}", used.len());
        let back = Packet { way: Direction::Backward.into(), ..packet(1, 0) };
        assert_ne!(queues.classify(&packet(1, 0)), queues.classify(&back));
        assert_eq!(queues.classify(&packet(1, 0)), queues.classify(&packet(1, 9)));
    }
}
