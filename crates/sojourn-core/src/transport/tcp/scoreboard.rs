//! The sender's scoreboard: what is known of every outstanding segment.
//!
//! Segments live in a ring indexed by their number. Beside it run a list in order of transmission
//! (for RACK: it holds only segments whose fate is open) and a heap of lost segments waiting to be
//! retransmitted, lowest first. A SACKed segment remembers how far the run of SACKed segments
//! reaches, so that a block reported again is skipped in a step: the cost per segment does not
//! depend on the window.
//!
//! Follows Linux's counters: `packets_out`, `sacked_out`, `lost_out`, `retrans_out`, and
//! in flight = `packets_out - sacked_out - lost_out + retrans_out`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::transport::recovery::rack::Outstanding;
use crate::transport::recovery::rate::{Delivered, Snapshot};
use crate::units::Time;

/// No segment.
const NONE: u32 = u32::MAX;

/// What is known of a segment, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u8);

impl Marks {
    /// SACKed by the receiver.
    pub const SACKED: Marks = Marks(1);
    /// Judged lost.
    pub const LOST: Marks = Marks(1 << 1);
    /// A retransmission of it is in flight.
    pub const RETRANSMITTED: Marks = Marks(1 << 2);
    /// It was retransmitted at some time: its RTT is ambiguous.
    pub const EVER_RETRANSMITTED: Marks = Marks(1 << 3);
    /// Its delivery has been counted in a rate sample.
    pub const RATE_SAMPLED: Marks = Marks(1 << 4);
    /// At its last transmission, the application limited the sending.
    pub const APP_LIMITED: Marks = Marks(1 << 5);

    /// Whether all of `other` is set.
    #[inline]
    pub fn has(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }

    #[inline]
    fn set(&mut self, other: Marks) {
        self.0 |= other.0;
    }

    #[inline]
    fn put(&mut self, other: Marks, on: bool) {
        self.0 = self.0 & !other.0 | if on { other.0 } else { 0 };
    }

    #[inline]
    fn clear(&mut self, other: Marks) {
        self.0 &= !other.0;
    }
}

/// One outstanding segment: just a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Segment {
    /// State at its last transmission.
    pub snapshot: Snapshot,
    /// When the application wrote it.
    pub written_at: Time,
    /// Bytes of payload.
    pub payload: u16,
    /// What is known of it.
    pub marks: Marks,
    /// Neighbours in the order of transmission. `earlier` of the first one means nothing, so that
    /// taking it out touches no other segment.
    earlier: u32,
    later: u32,
    /// If SACKed: all segments from this one up to here are SACKed.
    run_end: u32,
}

impl Segment {
    /// What a rate sample needs of it, if its delivery has not been counted in one.
    #[inline]
    pub fn rate_candidate(&self, seq: u32) -> Option<Delivered> {
        (!self.marks.has(Marks::RATE_SAMPLED)).then(|| Delivered {
            seq,
            snapshot: self.snapshot,
            app_limited: self.marks.has(Marks::APP_LIMITED),
            retransmitted: self.marks.has(Marks::EVER_RETRANSMITTED),
        })
    }
}

/// Outstanding segments `una..next`.
#[derive(Debug)]
pub struct Scoreboard {
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
    pub fn new(first: u32) -> Self {
        // A ring is used all round, whatever the window: one no larger than need be stays in cache.
        let capacity = 16;
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
    pub fn una(&self) -> u32 {
        self.una
    }

    /// Next segment to be sent for the first time.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Segments sent and not cumulatively acknowledged.
    #[inline]
    pub fn packets_out(&self) -> u32 {
        self.next - self.una
    }

    /// Outstanding segments that are SACKed.
    #[inline]
    pub fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    /// Outstanding segments judged lost.
    #[inline]
    pub fn lost_out(&self) -> u32 {
        self.lost_out
    }

    /// Retransmissions in flight.
    #[inline]
    pub fn retrans_out(&self) -> u32 {
        self.retrans_out
    }

    /// Segments believed to be in the network.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }

    /// One past the highest SACKed segment; `una` if none is SACKed.
    #[inline]
    pub fn highest_sacked(&self) -> u32 {
        self.highest_sacked.max(self.una)
    }

    /// A segment that is outstanding.
    #[inline]
    pub fn segment(&self, seq: u32) -> &Segment {
        debug_assert!(seq >= self.una && seq < self.next);
        &self.ring[(seq & self.mask) as usize]
    }

    #[inline]
    fn segment_mut(&mut self, seq: u32) -> &mut Segment {
        &mut self.ring[(seq & self.mask) as usize]
    }

    /// Adds the next new segment, sent `limited` by the application or not; returns its number.
    pub fn push(&mut self, payload: u16, written: Time, state: Snapshot, limited: bool) -> u32 {
        if self.packets_out() > self.mask {
            self.grow();
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

    fn grow(&mut self) {
        let capacity = 2 * (self.mask + 1);
        let mut ring = vec![Segment::default(); capacity as usize];
        for seq in self.una..self.next {
            ring[(seq & (capacity - 1)) as usize] = *self.segment(seq);
        }
        self.ring = ring;
        self.mask = capacity - 1;
    }

    /// Puts a segment at the young end of the transmission order.
    #[inline]
    fn append(&mut self, seq: u32) {
        let newest = self.newest;
        let segment = self.segment_mut(seq);
        segment.earlier = newest;
        segment.later = NONE;
        if newest == NONE {
            self.oldest = seq;
        } else {
            self.segment_mut(newest).later = seq;
        }
        self.newest = seq;
    }

    /// Takes a segment out of the transmission order: its fate is known.
    #[inline]
    fn unlink(&mut self, seq: u32) {
        let &Segment { earlier, later, .. } = self.segment(seq);
        if seq == self.oldest {
            self.oldest = later;
            if later == NONE {
                self.newest = NONE;
            }
            return;
        }
        self.segment_mut(earlier).later = later;
        if later == NONE {
            self.newest = earlier;
        } else {
            self.segment_mut(later).earlier = earlier;
        }
    }

    /// Whether the segment is in the transmission order: neither SACKed nor lost and waiting.
    #[inline]
    fn is_linked(marks: Marks) -> bool {
        !marks.has(Marks::SACKED) && (!marks.has(Marks::LOST) || marks.has(Marks::RETRANSMITTED))
    }

    /// Removes the first segment, which the cumulative acknowledgment covers, and returns it.
    pub fn pop_acked(&mut self) -> Segment {
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

    /// First segment in `seq..end` that is not SACKed, stepping over SACKed runs.
    #[inline]
    pub fn first_unsacked(&self, mut seq: u32, end: u32) -> Option<u32> {
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
    /// as it was before. As Linux does, a retransmission believed to be in flight keeps counting
    /// as such unless the segment was also judged lost.
    pub fn mark_sacked(&mut self, seq: u32, end: u32) -> Segment {
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
    pub fn close_block(&mut self, start: u32, end: u32) {
        let segment = self.segment_mut(start);
        segment.run_end = segment.run_end.max(end);
    }

    /// Judges a segment lost, or its retransmission if that was in flight. Returns whether a
    /// retransmission was lost.
    pub fn mark_lost(&mut self, seq: u32) -> bool {
        let marks = self.segment(seq).marks;
        if marks.has(Marks::SACKED) || !Self::is_linked(marks) {
            return false;
        }
        self.unlink(seq);
        self.waiting.push(Reverse(seq));
        let retransmitted = marks.has(Marks::RETRANSMITTED);
        if retransmitted {
            self.segment_mut(seq).marks.clear(Marks::RETRANSMITTED);
            self.retrans_out -= 1;
        }
        if !marks.has(Marks::LOST) {
            self.segment_mut(seq).marks.set(Marks::LOST);
            self.lost_out += 1;
        }
        retransmitted
    }

    /// The lowest lost segment that has not been retransmitted since.
    pub fn next_to_retransmit(&mut self) -> Option<u32> {
        while let Some(&Reverse(seq)) = self.waiting.peek() {
            if seq >= self.una && Self::awaits_retransmission(self.segment(seq).marks) {
                return Some(seq);
            }
            self.waiting.pop();
        }
        None
    }

    fn awaits_retransmission(marks: Marks) -> bool {
        marks.has(Marks::LOST) && !marks.has(Marks::RETRANSMITTED) && !marks.has(Marks::SACKED)
    }

    /// Records a retransmission of `seq` (lost, or a probe of an open one).
    pub fn mark_retransmitted(&mut self, seq: u32, snapshot: Snapshot, limited: bool) {
        let marks = self.segment(seq).marks;
        if Self::is_linked(marks) {
            self.unlink(seq);
        }
        if !marks.has(Marks::RETRANSMITTED) {
            self.retrans_out += 1;
        }
        let segment = self.segment_mut(seq);
        segment.marks.set(Marks::RETRANSMITTED);
        segment.marks.set(Marks::EVER_RETRANSMITTED);
        segment.marks.clear(Marks::RATE_SAMPLED);
        segment.marks.put(Marks::APP_LIMITED, limited);
        segment.snapshot = snapshot;
        self.append(seq);
    }

    /// Whether the retransmission of `seq` at `sent_at` is the latest, its fate unknown.
    pub fn retransmission_in_flight(&self, seq: u32, sent_at: Time) -> bool {
        if seq < self.una {
            return false;
        }
        let Segment { marks, snapshot, .. } = self.segment(seq);
        let open = marks.has(Marks::RETRANSMITTED) && !marks.has(Marks::SACKED);
        open && snapshot.sent_at == sent_at
    }

    /// A duplicate SACK shows that the retransmission of a SACKed or open segment has arrived.
    pub fn clear_retransmission(&mut self, seq: u32) {
        if self.segment(seq).marks.has(Marks::SACKED)
            && self.segment(seq).marks.has(Marks::RETRANSMITTED)
        {
            self.segment_mut(seq).marks.clear(Marks::RETRANSMITTED);
            self.retrans_out -= 1;
        }
    }

    /// Marks the segment's delivery as counted in a rate sample.
    #[inline]
    pub fn mark_rate_sampled(&mut self, seq: u32) {
        self.segment_mut(seq).marks.set(Marks::RATE_SAMPLED);
    }

    /// Forgets every judgement of loss (an undo found them wrong). Costs a pass over the window.
    pub fn clear_losses(&mut self) {
        for seq in self.una..self.next {
            let marks = self.segment(seq).marks;
            if !marks.has(Marks::LOST) {
                continue;
            }
            let relink = !Self::is_linked(marks);
            self.segment_mut(seq).marks.clear(Marks::LOST);
            if relink {
                self.append(seq);
            }
        }
        self.lost_out = 0;
        self.waiting.clear();
    }
}

impl Outstanding for Scoreboard {
    #[inline]
    fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    #[inline]
    fn later(&self, seq: u32) -> Option<u32> {
        let later = self.segment(seq).later;
        (later != NONE).then_some(later)
    }

    #[inline]
    fn sent_at(&self, seq: u32) -> Time {
        self.segment(seq).snapshot.sent_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn board(segments: u32) -> Scoreboard {
        let mut board = Scoreboard::new(1);
        for _ in 0..segments {
            board.push(1448, Time::ZERO, Snapshot::default(), false);
        }
        board
    }

    fn sack(board: &mut Scoreboard, start: u32, end: u32) {
        let mut seq = start;
        while let Some(hole) = board.first_unsacked(seq, end) {
            board.mark_sacked(hole, end);
            seq = hole + 1;
        }
        board.close_block(start, end);
    }

    #[test]
    fn counts_like_linux() {
        let mut board = board(10);
        sack(&mut board, 3, 6);
        board.mark_lost(1);
        board.mark_lost(2);
        assert_eq!((board.sacked_out(), board.lost_out(), board.in_flight()), (3, 2, 5));
        assert_eq!(board.next_to_retransmit(), Some(1));
        board.mark_retransmitted(1, Snapshot::default(), false);
        assert_eq!((board.retrans_out(), board.in_flight()), (1, 6));
        assert_eq!(board.next_to_retransmit(), Some(2));
        assert!(board.mark_lost(1), "a lost retransmission is reported");
        assert_eq!(board.in_flight(), 5);
    }

    #[test]
    fn transmission_order_follows_retransmissions() {
        let mut board = board(4);
        board.mark_lost(1);
        board.mark_retransmitted(1, Snapshot::default(), false);
        let mut order = vec![];
        let mut seq = board.oldest();
        while let Some(s) = seq {
            order.push(s);
            seq = board.later(s);
        }
        assert_eq!(order, [2, 3, 4, 1]);
    }

    proptest! {
        /// Random operations keep the counters equal to a recount and the list equal to the set
        /// of open segments.
        #[test]
        fn counters_match_a_recount(ops in prop::collection::vec((0u8..6, 0u32..40, 1u32..8), 1..300)) {
            let mut board = board(5);
            for (op, at, len) in ops {
                let out = board.packets_out();
                let seq = board.una() + if out == 0 { 0 } else { at % out };
                match op {
                    0 => { board.push(1, Time::ZERO, Snapshot::default(), false); }
                    1 if out > 0 => { board.pop_acked(); }
                    2 if out > 0 => { let end = (seq + len).min(board.next()); sack(&mut board, seq, end); }
                    3 if out > 0 => { board.mark_lost(seq); }
                    4 => if let Some(s) = board.next_to_retransmit() {
                        board.mark_retransmitted(s, Snapshot::default(), false);
                    },
                    5 if at == 0 => board.clear_losses(),
                    _ => {}
                }
                let count = |mark| (board.una()..board.next())
                    .filter(|&s| board.segment(s).marks.has(mark)).count() as u32;
                prop_assert_eq!(board.sacked_out(), count(Marks::SACKED));
                prop_assert_eq!(board.lost_out(), count(Marks::LOST));
                prop_assert_eq!(board.retrans_out(), count(Marks::RETRANSMITTED));
                let mut listed = vec![];
                let mut at = board.oldest();
                while let Some(s) = at { listed.push(s); at = board.later(s); }
                listed.sort_unstable();
                let open: Vec<u32> = (board.una()..board.next())
                    .filter(|&s| Scoreboard::is_linked(board.segment(s).marks)).collect();
                prop_assert_eq!(listed, open);
            }
        }
    }
}
