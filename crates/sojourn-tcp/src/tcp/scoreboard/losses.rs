//! Segments marked lost, and their retransmissions.

use std::cmp::Reverse;

use super::{Marks, Scoreboard};
use crate::recovery::rate::Snapshot;

impl Scoreboard {
    /// Marks a segment lost, or its retransmission if that was in flight. Returns whether a
    /// retransmission was lost.
    pub(crate) fn mark_lost(&mut self, seq: u32) -> bool {
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
    pub(crate) fn next_to_retransmit(&mut self) -> Option<u32> {
        while let Some(&Reverse(seq)) = self.waiting.peek() {
            if seq >= self.una && Self::awaits_retransmission(self.segment(seq).marks) {
                return Some(seq);
            }
            self.waiting.pop();
        }
        None
    }

    /// The lost segments that have not been retransmitted since, in no order; some may come twice.
    pub(crate) fn lost(&self) -> impl Iterator<Item = u32> {
        let waits = move |seq: &u32| {
            *seq >= self.una && Self::awaits_retransmission(self.segment(*seq).marks)
        };
        self.waiting.iter().map(|Reverse(seq)| *seq).filter(waits)
    }

    /// How many segments from `seq` on, of `most`, wait to be retransmitted side by side; `seq` counts.
    pub(crate) fn lost_from(&self, seq: u32, most: u32) -> u32 {
        let end = seq.saturating_add(most.max(1)).min(self.next());
        let waits = |next: &u32| Self::awaits_retransmission(self.segment(*next).marks);
        1 + (seq + 1..end).take_while(waits).count() as u32
    }

    fn awaits_retransmission(marks: Marks) -> bool {
        marks.has(Marks::LOST) && !marks.has(Marks::RETRANSMITTED) && !marks.has(Marks::SACKED)
    }

    /// Records a retransmission of `seq` (lost, or a probe of one that is not).
    pub(crate) fn mark_retransmitted(&mut self, seq: u32, snapshot: Snapshot, limited: bool) {
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

    /// A duplicate SACK shows that the retransmission of a segment that is SACKed or not lost has
    /// arrived.
    pub(crate) fn clear_retransmission(&mut self, seq: u32) {
        if self.segment(seq).marks.has(Marks::SACKED)
            && self.segment(seq).marks.has(Marks::RETRANSMITTED)
        {
            self.segment_mut(seq).marks.clear(Marks::RETRANSMITTED);
            self.retrans_out -= 1;
        }
    }

    /// Clears all loss marks (an undo found them spurious). Costs a pass over the window.
    pub(crate) fn clear_losses(&mut self) {
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
