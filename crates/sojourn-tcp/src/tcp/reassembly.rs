//! The receiver's out-of-order queue and the SACK blocks reported from it.
//!
//! Segments above the next expected one are kept as maximal runs in ascending order; RFC 2018:
//! the first block reported is the run that holds the most recently received segment, then the
//! most recently reported others. A duplicate is reported first, as a D-SACK (RFC 2883).

use super::reported::{Reported, join_blocks};
use crate::packet::{SackBlock, TcpAck};
use crate::units::Time;

/// Segments that are kept in one buffer at most (`MAX_SKB_FRAGS`).
pub(super) const MOST_FRAGMENTS: u32 = 17;

/// A run of received segments above the next expected one.
#[derive(Clone, Copy, Debug)]
struct Run {
    block: SackBlock,
    bytes: u64,
    /// Sum of the segments' writing times in nanoseconds.
    written: u64,
    /// Memory that its segments take.
    memory: u64,
}

/// Segments that become deliverable in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InOrder {
    /// Number of segments.
    pub segments: u32,
    /// Their payload.
    pub bytes: u64,
    /// Sum of their writing times in nanoseconds.
    pub written: u64,
    /// How many of them are in the first one's buffer.
    pub together: u32,
    /// Buffers whose segments went to the one before them.
    pub merged: u32,
}

impl InOrder {
    /// Puts buffers with these numbers of segments behind the first segment: each goes to the one
    /// before it as long as that has room (Linux `tcp_ofo_queue`, `skb_try_coalesce`).
    fn merge(&mut self, buffers: impl Iterator<Item = u32>) {
        let mut last = 1;
        let mut is_first = true;
        for more in buffers {
            let fits = last + more <= MOST_FRAGMENTS;
            last = if fits { last + more } else { more };
            self.merged += u32::from(fits);
            is_first &= fits;
            if is_first {
                self.together = last;
            }
        }
    }
}

/// Classification of an arriving data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The next one expected, and perhaps the end of a hole: this is now deliverable.
    InOrder(InOrder),
    /// Above a hole.
    OutOfOrder,
    /// Received before.
    Duplicate,
}

/// Place of a data segment in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the next one expected.
    Next,
    /// In the buffer of the one before it, above a hole (Linux `tcp_ooo_try_coalesce`).
    Joins,
    /// In a buffer of its own, above a hole.
    Apart,
    /// It was received before.
    Known,
}

/// The out-of-order queue.
#[derive(Debug)]
pub(super) struct Reassembly {
    next: u32,
    runs: Vec<Run>,
    reported: Reported,
    /// Payload waiting above the first hole.
    waiting_bytes: u64,
    /// Memory of the segments that it came in.
    waiting_memory: u64,
    /// Buffers that hold it, in ascending order.
    buffers: Vec<SackBlock>,
}

impl Reassembly {
    /// An empty queue; `first` is expected.
    pub(super) fn new(first: u32) -> Self {
        Reassembly {
            next: first,
            runs: Vec::new(),
            reported: Reported::default(),
            waiting_bytes: 0,
            waiting_memory: 0,
            buffers: Vec::new(),
        }
    }

    /// Next segment expected.
    #[inline]
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Whether nothing waits above a hole.
    #[inline]
    pub(super) fn is_contiguous(&self) -> bool {
        self.runs.is_empty()
    }

    /// Payload bytes that wait above a hole.
    #[inline]
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Memory of the segments that wait above a hole, without that of the buffers which they are in.
    #[inline]
    pub(super) fn waiting_memory(&self) -> u64 {
        self.waiting_memory
    }

    /// Buffers in which they wait.
    #[inline]
    pub(super) fn waiting_buffers(&self) -> u32 {
        self.buffers.len() as u32
    }

    /// Place that a segment arriving now would get.
    #[inline]
    pub(super) fn place(&self, seq: u32) -> Place {
        if seq == self.next {
            return Place::Next;
        }
        if seq < self.next { Place::Known } else { self.place_above(seq) }
    }

    #[inline(never)] // most segments arrive in order
    fn place_above(&self, seq: u32) -> Place {
        let mut before = self.buffers[self.buffers.partition_point(|b| b.end < seq)..].iter();
        match before.next() {
            Some(buffer) if buffer.start <= seq && seq < buffer.end => Place::Known,
            Some(buffer) if buffer.end == seq && before.next().is_some_and(|b| b.start == seq) => {
                Place::Known
            }
            Some(buffer) if buffer.end == seq && buffer.end - buffer.start < MOST_FRAGMENTS => {
                Place::Joins
            }
            _ => Place::Apart,
        }
    }

    /// Inserts a data segment that occupies `memory` bytes.
    #[inline]
    pub(super) fn insert(
        &mut self,
        seq: u32,
        bytes: u16,
        written_at: Time,
        memory: u64,
    ) -> Arrival {
        let bytes = u64::from(bytes);
        let written = written_at.as_nanos();
        if seq != self.next {
            let is_new = self.insert_elsewhere(seq, bytes, written, memory);
            return if is_new { Arrival::OutOfOrder } else { Arrival::Duplicate };
        }
        let mut released = InOrder { segments: 1, bytes, written, together: 1, merged: 0 };
        self.next += 1;
        if !self.runs.is_empty() {
            self.release(&mut released);
        }
        Arrival::InOrder(released)
    }

    /// Inserts one that is not the next; returns whether it is new.
    #[inline(never)] // most segments arrive in order
    fn insert_elsewhere(&mut self, seq: u32, bytes: u64, written: u64, memory: u64) -> bool {
        match self.place(seq) {
            Place::Known => {
                if seq > self.next {
                    self.reported.add(seq);
                }
                return false;
            }
            place => self.keep(seq, place),
        }
        let block = SackBlock { start: seq, end: seq + 1 };
        self.insert_above(Run { block, bytes, written, memory });
        self.waiting_bytes += bytes;
        self.waiting_memory += memory;
        true
    }

    /// Finds memory for a segment above a hole.
    fn keep(&mut self, seq: u32, place: Place) {
        let at = self.buffers.partition_point(|buffer| buffer.start < seq);
        match place {
            Place::Joins => self.buffers[at - 1].end += 1,
            _ => self.buffers.insert(at, SackBlock { start: seq, end: seq + 1 }),
        }
    }

    /// Releases the first run if the hole below it is filled.
    #[inline(never)] // only below runs
    fn release(&mut self, released: &mut InOrder) {
        if self.runs[0].block.start != self.next {
            return;
        }
        let run = self.runs.remove(0);
        released.segments += run.block.end - run.block.start;
        released.bytes += run.bytes;
        released.written = released.written.wrapping_add(run.written);
        self.waiting_bytes -= run.bytes;
        self.waiting_memory -= run.memory;
        let gone = self.buffers.partition_point(|buffer| buffer.start < run.block.end);
        released.merge(self.buffers.drain(..gone).map(|buffer| buffer.end - buffer.start));
        self.next = run.block.end;
        self.reported.forget_below(self.next);
    }

    /// Adds a segment above the first hole to the runs.
    fn insert_above(&mut self, new: Run) {
        let seq = new.block.start;
        // First run that ends at or after the segment.
        let at = self.runs.partition_point(|run| run.block.end < seq);
        match self.runs.get(at) {
            Some(run) if run.block.end == seq => {
                self.runs[at] = join(*run, new);
                let closes_hole =
                    self.runs.get(at + 1).is_some_and(|later| later.block.start == seq + 1);
                if closes_hole {
                    let later = self.runs.remove(at + 1);
                    self.runs[at] = join(self.runs[at], later);
                }
            }
            Some(run) if run.block.start == seq + 1 => self.runs[at] = join(new, *run),
            _ => self.runs.insert(at, new),
        }
        self.reported.add(seq);
    }

    /// Whether reporting a segment that arrives now hides a block that perhaps no ACK has reported
    /// yet.
    #[inline]
    pub(super) fn crowds(&self, seq: u32) -> bool {
        seq > self.next && self.reported.crowds(seq)
    }

    /// Writes the SACK blocks of an acknowledgment, a duplicate's first.
    #[inline(never)] // most ACKs have none
    pub(super) fn report(&self, duplicate: Option<SackBlock>, ack: &mut TcpAck) {
        let blocks = duplicate.into_iter().chain(self.reported.blocks().iter().copied());
        ack.set_sacks(blocks);
    }
}

/// Two adjacent runs as one.
fn join(lower: Run, upper: Run) -> Run {
    Run {
        block: join_blocks(lower.block, upper.block),
        bytes: lower.bytes + upper.bytes,
        written: lower.written.wrapping_add(upper.written),
        memory: lower.memory + upper.memory,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn segments_share_buffers_with_those_before_them() {
        let mut queue = Reassembly::new(1);
        let mut insert = |seq| {
            queue.insert(seq, 1448, Time::ZERO, 0);
            queue.waiting_buffers()
        };
        assert_eq!([3, 4, 6, 5].map(&mut insert), [1, 1, 2, 2]);
        assert_eq!((7..24).map(&mut insert).last(), Some(3), "the second one has 17 segments");
        assert_eq!(queue.insert(1, 1448, Time::ZERO, 0), one(1));
        let Arrival::InOrder(released) = queue.insert(2, 1448, Time::ZERO, 0) else { panic!() };
        assert_eq!((released.segments, released.together, queue.waiting_buffers()), (22, 4, 0));
        assert_eq!(released.merged, 1, "that of 3 to 5, but neither that of 17 nor that of one");
    }

    fn one(together: u32) -> Arrival {
        Arrival::InOrder(InOrder { segments: 1, bytes: 1448, written: 0, together, merged: 0 })
    }

    /// Linux `tcp_sack_new_ofo_skb`: a third block, or one that was not among the latest two.
    #[test]
    fn later_blocks_may_hide_earlier_ones() {
        let mut queue = Reassembly::new(1);
        for (seq, crowds) in
            [(3, false), (5, false), (7, true), (8, false), (10, true), (4, true), (8, true)]
        {
            assert_eq!(queue.crowds(seq), crowds, "{seq}");
            queue.insert(seq, 1448, Time::ZERO, 0);
        }
    }

    fn blocks(queue: &Reassembly, duplicate: Option<SackBlock>) -> Vec<(u32, u32)> {
        let mut ack = TcpAck::default();
        queue.report(duplicate, &mut ack);
        ack.sacks().iter().map(|b| (b.start, b.end)).collect()
    }

    #[test]
    fn most_recent_run_is_reported_first() {
        let mut queue = Reassembly::new(1);
        for seq in [3, 5, 7, 9, 6] {
            assert_eq!(queue.insert(seq, 1, Time::ZERO, 0), Arrival::OutOfOrder);
        }
        assert_eq!(blocks(&queue, None), [(5, 8), (9, 10), (3, 4)]);
        let dsack = SackBlock { start: 5, end: 6 };
        assert_eq!(blocks(&queue, Some(dsack)), [(5, 6), (5, 8), (9, 10)]);
    }

    proptest! {
        /// Whatever the order of arrival, each segment is delivered once and in order.
        #[test]
        fn delivers_everything_once(mut order in Just((1u32..60).collect::<Vec<_>>()).prop_shuffle(),
                                    again in prop::collection::vec(1u32..60, 0..20)) {
            order.extend(&again);
            let mut queue = Reassembly::new(1);
            let (mut segments, mut bytes, mut duplicates) = (0, 0, 0);
            for &seq in &order {
                match queue.insert(seq, seq as u16, Time::ZERO, 0) {
                    Arrival::InOrder(released) => { segments += released.segments; bytes += released.bytes; }
                    Arrival::OutOfOrder => {}
                    Arrival::Duplicate => duplicates += 1,
                }
            }
            prop_assert_eq!(segments, 59);
            prop_assert_eq!(bytes, (1..60u64).sum::<u64>());
            prop_assert_eq!(duplicates, again.len());
            prop_assert!(queue.is_contiguous());
            prop_assert_eq!(queue.waiting_bytes(), 0);
        }
    }
}
