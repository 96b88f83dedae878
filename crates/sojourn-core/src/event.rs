//! The event queue: a total order by time, then by sequence of scheduling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Time;

/// Who is woken by an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A link: a transmission ends, a packet arrives, a queue's timer.
    Link(u32),
    /// An endpoint's timer.
    Endpoint(u32),
    /// A traffic source's next action.
    Source(u32),
    /// A flow stops offering data.
    Stop(u32),
    /// The recorders' sampling instant.
    Sample,
    /// The end of the warm-up.
    WarmupEnd,
}

/// Pending events, earliest first; events of one instant in the order they were scheduled.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Reverse<(Time, u64, Target)>>,
    scheduled: u64,
}

impl EventQueue {
    /// Schedules a wake-up of `target` at `time`.
    #[inline]
    pub fn push(&mut self, time: Time, target: Target) {
        self.heap.push(Reverse((time, self.scheduled, target)));
        self.scheduled += 1;
    }

    /// Removes and returns the earliest event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Target)> {
        self.heap.pop().map(|Reverse((time, _, target))| (time, target))
    }

    /// Removes and returns the earliest event unless it is later than `until`.
    #[inline]
    pub fn pop_until(&mut self, until: Time) -> Option<(Time, Target)> {
        if self.next_time()? > until {
            return None;
        }
        self.pop()
    }

    /// Time of the earliest event.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((time, _, _))| *time)
    }

    /// Events scheduled since the start.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// Events pending.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_instant_keeps_scheduling_order() {
        let mut queue = EventQueue::default();
        let t = Time::from_nanos(5);
        queue.push(t, Target::Link(9));
        queue.push(t, Target::Link(1));
        queue.push(Time::ZERO, Target::Sample);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, target)| target).collect();
        assert_eq!(order, [Target::Sample, Target::Link(9), Target::Link(1)]);
    }
}
