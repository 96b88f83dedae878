//! The list of segments neither SACKed nor waiting as lost, in the order of their last
//! transmission.

use super::{Marks, NONE, Scoreboard, Segment};
use crate::recovery::rack::Outstanding;
use crate::units::Time;

impl Scoreboard {
    /// Appends a segment to the transmission order.
    #[inline]
    pub(super) fn append(&mut self, seq: u32) {
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

    /// Removes a segment from the transmission order: it is SACKed, acknowledged or lost.
    #[inline]
    pub(super) fn unlink(&mut self, seq: u32) {
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
    pub(super) fn is_linked(marks: Marks) -> bool {
        !marks.has(Marks::SACKED) && (!marks.has(Marks::LOST) || marks.has(Marks::RETRANSMITTED))
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
