//! The sender's scoreboard: the state of every outstanding segment.
//!
//! Segments live in a ring indexed by their number. Beside it run a list in order of transmission
//! (for RACK: it holds only segments neither SACKed nor waiting as lost) and a heap of lost
//! segments waiting to be retransmitted, lowest first. A SACKed segment stores the end of its run
//! of SACKed segments, so that a block reported again is skipped in one step: the cost per segment
//! does not depend on the window.
//!
//! Follows Linux's counters: `packets_out`, `sacked_out`, `lost_out`, `retrans_out`, and
//! in flight = `packets_out - sacked_out - lost_out + retrans_out`.

mod losses;
mod order;
mod segment;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::recovery::rate::Snapshot;
use crate::units::Time;

pub(super) use segment::{Marks, Segment};

/// No segment.
const NONE: u32 = u32::MAX;
/// Least room, in segments.
const LEAST: u32 = 4;

/// Segments that left the scoreboard together, fresh and in the order in which they were sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Their payload in bytes.
    pub bytes: u64,
    /// When the first of them was sent.
    pub first_sent: Time,
    /// The last of them.
    pub last: Segment,
}

/// Outstanding segments `una..next`.
#[derive(Debug)]
pub(super) struct Scoreboard {
    ring: Vec<Segment>,
    mask: u32,
    una: u32,
    next: u32,
    /// Ends of the list in order of transmission.
    oldest: u32,
    newest: u32,
    waiting: BinaryHeap<Reverse<u32>>,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    /// One past the highest SACKed segment; `una` if none.
    highest_sacked: u32,
}

impl Scoreboard {
    /// An empty scoreboard whose first segment will be `first`.
    pub(super) fn new(first: u32) -> Self {
        // All of a ring is used, whatever the window: a ring no larger than necessary stays in
        // cache.
        let capacity = 8;
        Scoreboard {
            ring: vec![Segment::default(); capacity as usize],
            mask: capacity - 1,
            una: first,
            next: first,
            oldest: NONE,
            newest: NONE,
            waiting: BinaryHeap::new(),
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            highest_sacked: first,
        }
    }

    /// First segment not cumulatively acknowledged.
    #[inline]
    pub(super) fn una(&self) -> u32 {
        self.una
    }

    /// Next segment to be sent for the first time.
    #[inline]
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Segments sent and not cumulatively acknowledged.
    #[inline]
    pub(super) fn packets_out(&self) -> u32 {
        self.next - self.una
    }

    /// Outstanding segments that are SACKed.
    #[inline]
    pub(super) fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    /// Outstanding segments marked lost.
    #[inline]
    pub(super) fn lost_out(&self) -> u32 {
        self.lost_out
    }

    /// Retransmissions in flight.
    #[inline]
    pub(super) fn retrans_out(&self) -> u32 {
        self.retrans_out
    }

    /// Segments believed to be in the network.
    #[inline]
    pub(super) fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }

    /// One past the highest SACKed segment; `una` if none is SACKed.
    #[inline]
    pub(super) fn highest_sacked(&self) -> u32 {
        self.highest_sacked.max(self.una)
    }

    /// A segment that is outstanding.
    #[inline]
    pub(super) fn segment(&self, seq: u32) -> &Segment {
        debug_assert!(seq >= self.una && seq < self.next);
        &self.ring[(seq & self.mask) as usize]
    }

    #[inline]
    fn segment_mut(&mut self, seq: u32) -> &mut Segment {
        &mut self.ring[(seq & self.mask) as usize]
    }

    /// Adds the next new segment, sent `limited` by the application or not; returns its number.
    #[inline(always)] // once per segment
    pub(super) fn push(
        &mut self,
        payload: u16,
        written: Time,
        state: Snapshot,
        limited: bool,
    ) -> u32 {
        if self.packets_out() > self.mask {
            self.resize(2 * (self.mask + 1));
        }
        let seq = self.next;
        self.next += 1;
        let mut marks = Marks::default();
        marks.put(Marks::APP_LIMITED, limited);
        let (snapshot, written_at) = (state, written);
        *self.segment_mut(seq) =
            Segment { snapshot, written_at, payload, marks, ..Segment::default() };
        self.append(seq);
        seq
    }

    /// Gives back room that the window no longer needs.
    pub(super) fn fit(&mut self) {
        let capacity = (2 * self.packets_out()).next_power_of_two().max(LEAST);
        if capacity <= self.mask {
            self.resize(capacity);
        }
    }

    #[cold]
    fn resize(&mut self, capacity: u32) {
        let mut ring = vec![Segment::default(); capacity as usize];
        for seq in self.una..self.next {
            ring[(seq & (capacity - 1)) as usize] = *self.segment(seq);
        }
        self.ring = ring;
        self.mask = capacity - 1;
    }

    /// Removes the first segment, which the cumulative acknowledgment covers, and returns it.
    pub(super) fn pop_acked(&mut self) -> Segment {
        let seq = self.una;
        let segment = *self.segment(seq);
        if Self::is_linked(segment.marks) {
            self.unlink(seq);
        }
        if segment.marks.has(Marks::SACKED) {
            self.sacked_out -= 1;
        }
        if segment.marks.has(Marks::RETRANSMITTED) {
            self.retrans_out -= 1;
        }
        if segment.marks.has(Marks::LOST) {
            self.lost_out -= 1;
        }
        self.una += 1;
        segment
    }

    /// Removes the segments `una..next`, of which there is at least one, if nothing has happened to any
    /// of them but that they were sent: most ACKs cover such a run.
    #[inline]
    pub(super) fn pop_run(&mut self, next: u32) -> Option<Run> {
        let first = self.una;
        let (mut bytes, mut later) = (0, self.oldest);
        for seq in first..next {
            let segment = self.segment(seq);
            if later != seq || !segment.marks.is_fresh() {
                return None;
            }
            bytes += u64::from(segment.payload);
            later = segment.later;
        }
        self.oldest = later;
        if later == NONE {
            self.newest = NONE;
        }
        let (first_sent, last) = (self.segment(first).snapshot.sent_at, *self.segment(next - 1));
        self.una = next;
        Some(Run { bytes, first_sent, last })
    }

    /// First segment in `seq..end` that is not SACKed, stepping over SACKed runs.
    #[inline]
    pub(super) fn first_unsacked(&self, mut seq: u32, end: u32) -> Option<u32> {
        while seq < end {
            let segment = self.segment(seq);
            if !segment.marks.has(Marks::SACKED) {
                return Some(seq);
            }
            seq = segment.run_end;
        }
        None
    }

    /// Marks a segment SACKed; `end` closes the SACK block it was reported in. Returns the segment
    /// as it was before. As in Linux, a retransmission assumed in flight keeps counting as such
    /// unless the segment was also marked lost.
    pub(super) fn mark_sacked(&mut self, seq: u32, end: u32) -> Segment {
        let before = *self.segment(seq);
        if Self::is_linked(before.marks) {
            self.unlink(seq);
        }
        let mut lost = 0;
        let mut retrans = 0;
        let segment = self.segment_mut(seq);
        if segment.marks.has(Marks::LOST) {
            lost = 1;
            segment.marks.clear(Marks::LOST);
            if segment.marks.has(Marks::RETRANSMITTED) {
                retrans = 1;
                segment.marks.clear(Marks::RETRANSMITTED);
            }
        }
        segment.marks.set(Marks::SACKED);
        segment.run_end = end;
        self.lost_out -= lost;
        self.retrans_out -= retrans;
        self.sacked_out += 1;
        self.highest_sacked = self.highest_sacked.max(seq + 1);
        before
    }

    /// Remembers that all of the block `start..end` is SACKed.
    #[inline]
    pub(super) fn close_block(&mut self, start: u32, end: u32) {
        let segment = self.segment_mut(start);
        segment.run_end = segment.run_end.max(end);
    }

    /// Marks the segment's delivery as counted in a rate sample.
    #[inline]
    pub(super) fn mark_rate_sampled(&mut self, seq: u32) {
        self.segment_mut(seq).marks.set(Marks::RATE_SAMPLED);
    }

    /// Whether the first segment, which the receiver still expects, is one that it had SACKed.
    #[inline]
    pub(super) fn head_is_sacked(&self) -> bool {
        self.una < self.next && self.segment(self.una).marks.has(Marks::SACKED)
    }

    /// Clears all SACK marks. Costs a pass over the window.
    pub(super) fn forget_sacks(&mut self) {
        for seq in self.una..self.next {
            if self.segment(seq).marks.has(Marks::SACKED) {
                self.segment_mut(seq).marks.clear(Marks::SACKED);
                self.append(seq);
            }
        }
        self.sacked_out = 0;
        self.highest_sacked = self.una;
    }
}

#[cfg(test)]
mod tests;
