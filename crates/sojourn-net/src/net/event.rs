//! The event queue: a total order by time, then by sequence of scheduling.
//!
//! Arrivals from another region come before all other events of their instant, ordered by the index
//! of their edge: the order must not depend on when regions synchronise.
//!
//! Edges have a heap of their own: they are few and cause most events, which thus need not pass
//! through the timers of a thousand flows. A heap has four children per node: it is half as deep as
//! a binary one, and the children of a node lie within two cache lines. An event is one integer
//! (time, sequence, target from high to low bits), so one comparison orders two of them. Removing
//! an event leaves the root vacant until it is known whether a new one replaces it, as when a link
//! or a timer schedules its next wake-up: the heap is then restored once, not twice.

use crate::units::Time;

/// Component that an event wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A link: a transmission ends, a packet arrives, a queue's timer.
    Edge(u32),
    /// A timer of the network's hosts.
    Timer(u32),
    /// A shared medium.
    Medium(u32),
    /// A node's timer.
    Node(u32),
}

const INDEX_BITS: u32 = 24;
const TARGET_BITS: u32 = INDEX_BITS + 2;
const SEQUENCE_BITS: u32 = u64::BITS - TARGET_BITS;

impl Target {
    #[inline]
    fn pack(self) -> u64 {
        let (kind, index) = match self {
            Target::Edge(index) => (0, index),
            Target::Timer(index) => (1, index),
            Target::Medium(index) => (2, index),
            Target::Node(index) => (3, index),
        };
        debug_assert!(index < 1 << INDEX_BITS, "no network has so many parts");
        kind << INDEX_BITS | u64::from(index)
    }

    #[inline]
    fn unpack(packed: u64) -> Self {
        let index = (packed & ((1 << INDEX_BITS) - 1)) as u32;
        match (packed >> INDEX_BITS) & 3 {
            0 => Target::Edge(index),
            1 => Target::Timer(index),
            2 => Target::Medium(index),
            _ => Target::Node(index),
        }
    }
}

/// Pending events, earliest first; events of one instant in the order in which they were scheduled
/// (the sequence wraps after 2^38 events: two of one instant on either side of the wrap change
/// places).
#[derive(Debug, Default)]
pub struct EventQueue {
    edges: Heap,
    others: Heap,
    scheduled: u64,
}

impl EventQueue {
    /// Schedules a wake-up of `target` at `time`.
    #[inline]
    pub fn push(&mut self, time: Time, target: Target) {
        self.scheduled += 1;
        self.push_in_order(time, self.scheduled & ((1 << SEQUENCE_BITS) - 1), target);
    }

    /// Schedules a wake-up of `target` before those of [`EventQueue::push`] at `time`.
    #[inline]
    pub fn push_first(&mut self, time: Time, target: Target) {
        self.scheduled += 1;
        self.push_in_order(time, 0, target);
    }

    #[inline]
    fn push_in_order(&mut self, time: Time, sequence: u64, target: Target) {
        let order = sequence << TARGET_BITS | target.pack();
        let event = u128::from(time.as_nanos()) << u64::BITS | u128::from(order);
        match target {
            Target::Edge(_) | Target::Medium(_) => self.edges.push(event),
            Target::Timer(_) | Target::Node(_) => self.others.push(event),
        }
    }

    /// Removes and returns the earliest event unless it is later than `until`.
    #[inline]
    pub fn pop_until(&mut self, until: Time) -> Option<(Time, Target)> {
        let (edge, other) = (self.edges.first(), self.others.first());
        let first = edge.min(other);
        let time = Time::from_nanos((first >> u64::BITS) as u64);
        if time > until || first == NOTHING {
            return None;
        }
        let heap = if edge < other { &mut self.edges } else { &mut self.others };
        heap.vacant = true;
        Some((time, Target::unpack(first as u64)))
    }

    /// When the earliest event is due, if there is one.
    pub fn first(&mut self) -> Option<Time> {
        let first = self.edges.first().min(self.others.first());
        (first != NOTHING).then(|| Time::from_nanos((first >> u64::BITS) as u64))
    }

    /// Events scheduled since the start.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// Events pending.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.edges.len() + self.others.len()
    }
}

/// No event; sorts after all events.
const NOTHING: u128 = u128::MAX;

#[derive(Debug)]
struct Heap {
    /// The root, then whole groups of four; entries beyond `filled` are [`NOTHING`].
    nodes: Vec<u128>,
    /// Nodes in use, the root included if it is vacant.
    filled: usize,
    /// Whether the root has been removed and not replaced.
    vacant: bool,
}

impl Default for Heap {
    fn default() -> Self {
        Heap { nodes: vec![NOTHING], filled: 0, vacant: false }
    }
}

impl Heap {
    /// The earliest event, or [`NOTHING`].
    #[inline]
    fn first(&mut self) -> u128 {
        if self.vacant {
            self.close();
        }
        self.nodes[0]
    }

    /// Fills the vacant root with the last event.
    fn close(&mut self) {
        self.vacant = false;
        self.filled -= 1;
        let last = std::mem::replace(&mut self.nodes[self.filled], NOTHING);
        if self.filled > 0 {
            self.sink(last);
        }
    }

    /// Mostly in the place of the event that has come up.
    #[inline(always)] // once per event
    fn push(&mut self, event: u128) {
        if !self.vacant {
            return self.append(event);
        }
        self.vacant = false;
        self.sink(event);
    }

    #[inline(never)]
    fn append(&mut self, event: u128) {
        if self.filled == self.nodes.len() {
            self.nodes.extend([NOTHING; 4]);
        }
        self.filled += 1;
        self.rise(event);
    }

    /// Moves `event` from the root downwards to its place.
    #[inline]
    fn sink(&mut self, event: u128) {
        let nodes = &mut self.nodes[..];
        let mut hole = 0;
        while let Some(children) = nodes.get(4 * hole + 1..4 * hole + 5) {
            let least = least_of_four(children);
            let child = children[least];
            if event < child {
                break;
            }
            nodes[hole] = child;
            hole = 4 * hole + 1 + least;
        }
        nodes[hole] = event;
    }

    /// Moves `event` from the end upwards to its place.
    #[inline]
    fn rise(&mut self, event: u128) {
        let nodes = &mut self.nodes[..self.filled];
        let mut hole = nodes.len() - 1;
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if nodes[parent] <= event {
                break;
            }
            nodes[hole] = nodes[parent];
            hole = parent;
        }
        nodes[hole] = event;
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.filled - usize::from(self.vacant)
    }
}

/// Index of the least of four.
#[inline]
fn least_of_four(of: &[u128]) -> usize {
    let left = usize::from(of[1] < of[0]);
    let right = 2 + usize::from(of[3] < of[2]);
    if of[right] < of[left] { right } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn same_instant_keeps_scheduling_order() {
        let mut queue = EventQueue::default();
        let t = Time::from_nanos(5);
        queue.push(t, Target::Timer(9));
        queue.push(t, Target::Edge(1));
        queue.push(Time::ZERO, Target::Node(2));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_until(Time::NEVER)).collect();
        assert_eq!(
            order,
            [(Time::ZERO, Target::Node(2)), (t, Target::Timer(9)), (t, Target::Edge(1))]
        );
    }

    #[test]
    fn what_comes_first_does_so_in_the_order_of_targets() {
        let mut queue = EventQueue::default();
        let t = Time::from_nanos(5);
        queue.push(t, Target::Edge(1));
        [9, 4].into_iter().for_each(|edge| queue.push_first(t, Target::Edge(edge)));
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_until(t)).collect();
        assert_eq!(order, [4, 9, 1].map(|edge| (t, Target::Edge(edge))));
    }

    #[test]
    fn targets_survive_packing() {
        let index = (1 << INDEX_BITS) - 1;
        let indexed = [Target::Edge, Target::Timer, Target::Medium, Target::Node];
        for target in indexed.iter().flat_map(|target| [target(0), target(index)]) {
            assert_eq!(Target::unpack(target.pack()), target);
        }
    }

    proptest! {
        /// Whatever is scheduled and taken out when, the order is that of a sorted list.
        #[test]
        fn order_is_that_of_a_sorted_list(steps in prop::collection::vec((0u8..5, 0u64..30), 1..400)) {
            let mut queue = EventQueue::default();
            let mut list: Vec<(u64, u32)> = vec![];
            let target = |number: u32| match number % 3 {
                0 => Target::Timer(number),
                _ => Target::Edge(number),
            };
            for (number, (step, time)) in (0..).zip(steps) {
                if step < 3 {
                    queue.push(Time::from_nanos(time), target(number));
                    list.push((time, number));
                } else {
                    let first = list.iter().min().copied().filter(|first| first.0 <= time);
                    list.retain(|event| Some(*event) != first);
                    let expected = first.map(|(t, n)| (Time::from_nanos(t), target(n)));
                    prop_assert_eq!(queue.pop_until(Time::from_nanos(time)), expected);
                }
                prop_assert_eq!(queue.len(), list.len());
            }
        }
    }
}
