//! The receiver's out-of-order queue and the SACK blocks reported from it.
//!
//! Segments above the next expected one are kept as maximal runs in ascending order; RFC 2018:
//! the first block reported is the run that holds the most recently received segment, then the
//! most recently reported others. A duplicate is reported first, as a D-SACK (RFC 2883).

use crate::packet::{SackBlock, TcpAck};
use crate::units::Time;

/// Blocks remembered for reporting (`TCP_NUM_SACKS`).
const REMEMBERED: usize = 4;
/// Blocks that are taken to arrive even if ACKs are lost (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_EXPECTED: usize = 2;

/// Segments that are kept in one buffer at most (`MAX_SKB_FRAGS`).
pub const MOST_FRAGMENTS: u32 = 17;

/// A run of received segments above the next expected one.
#[derive(Clone, Copy, Debug)]
struct Run {
    block: SackBlock,
    bytes: u64,
    /// Sum of the segments' writing times in nanoseconds.
    written: u64,
    /// Buffers that hold it, and segments in the last of them.
    buffers: u32,
    fragments: u32,
}

/// Segments that become deliverable in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InOrder {
    /// How many.
    pub segments: u32,
    /// Their payload.
    pub bytes: u64,
    /// Sum of their writing times in nanoseconds.
    pub written: u64,
}

/// What an arriving data segment turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The next one expected, and perhaps the end of a hole: this is now deliverable.
    InOrder(InOrder),
    /// Above a hole.
    OutOfOrder,
    /// Received before.
    Duplicate,
}

/// The out-of-order queue.
#[derive(Debug)]
pub struct Reassembly {
    next: u32,
    runs: Vec<Run>,
    recent: [SackBlock; REMEMBERED],
    recent_len: usize,
    /// Payload waiting above the first hole.
    waiting_bytes: u64,
    /// Buffers that hold it.
    waiting_buffers: u32,
}

impl Reassembly {
    /// Nothing received; `first` is expected.
    pub fn new(first: u32) -> Self {
        Reassembly {
            next: first,
            runs: Vec::new(),
            recent: [SackBlock::default(); REMEMBERED],
            recent_len: 0,
            waiting_bytes: 0,
            waiting_buffers: 0,
        }
    }

    /// Next segment expected.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Whether nothing waits above a hole.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.runs.is_empty()
    }

    /// Payload bytes that wait above a hole.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Buffers in which they wait: a segment joins that of the one before it, if that has come and there
    /// is room (Linux `tcp_ooo_try_coalesce`).
    #[inline]
    pub fn waiting_buffers(&self) -> u32 {
        self.waiting_buffers
    }

    /// Takes a data segment in.
    #[inline]
    pub fn insert(&mut self, seq: u32, bytes: u16, written_at: Time) -> Arrival {
        let bytes = u64::from(bytes);
        let written = written_at.as_nanos();
        if seq == self.next {
            let mut released = InOrder { segments: 1, bytes, written };
            self.next += 1;
            if !self.runs.is_empty() {
                self.release(&mut released);
            }
            return Arrival::InOrder(released);
        }
        if seq < self.next || !self.insert_above(seq, bytes, written) {
            return Arrival::Duplicate;
        }
        self.waiting_bytes += bytes;
        Arrival::OutOfOrder
    }

    /// Hands out the first run if the hole below it is filled.
    fn release(&mut self, released: &mut InOrder) {
        if self.runs[0].block.start != self.next {
            return;
        }
        let run = self.runs.remove(0);
        released.segments += run.block.end - run.block.start;
        released.bytes += run.bytes;
        released.written = released.written.wrapping_add(run.written);
        self.waiting_bytes -= run.bytes;
        self.waiting_buffers -= run.buffers;
        self.next = run.block.end;
        self.forget_below(self.next);
    }

    /// Adds a segment above the first hole; false if it is there already.
    fn insert_above(&mut self, seq: u32, bytes: u64, written: u64) -> bool {
        // First run that ends at or after the segment.
        let at = self.runs.partition_point(|run| run.block.end < seq);
        let block = SackBlock { start: seq, end: seq + 1 };
        let mut new = Run { block, bytes, written, buffers: 1, fragments: 1 };
        match self.runs.get(at) {
            Some(run) if run.block.start <= seq && seq < run.block.end => return false,
            Some(run) if run.block.end == seq => {
                if run.fragments < MOST_FRAGMENTS {
                    (new.buffers, new.fragments) = (0, run.fragments + 1);
                }
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
        self.waiting_buffers += new.buffers;
        self.remember(self.runs[at].block);
        true
    }

    /// Puts a run at the head of the blocks to report, in place of those it has swallowed.
    fn remember(&mut self, block: SackBlock) {
        let mut kept = [SackBlock::default(); REMEMBERED];
        kept[0] = block;
        let mut len = 1;
        for &old in &self.recent[..self.recent_len] {
            if len < REMEMBERED && (old.end < block.start || old.start > block.end) {
                kept[len] = old;
                len += 1;
            }
        }
        self.recent = kept;
        self.recent_len = len;
    }

    /// Whether a segment that comes now is reported where it hides a block that no ACK may have told of
    /// yet: it begins one beside two others, or joins one that is not among the latest two.
    pub fn crowds(&self, seq: u32) -> bool {
        let at = self.runs.partition_point(|run| run.block.end <= seq);
        if seq <= self.next || self.runs.get(at).is_some_and(|run| run.block.start <= seq) {
            return false;
        }
        let recent = &self.recent[..self.recent_len];
        let joined = recent.iter().position(|block| block.end == seq || block.start == seq + 1);
        joined.unwrap_or(recent.len()) >= BLOCKS_EXPECTED
    }

    fn forget_below(&mut self, next: u32) {
        let mut len = 0;
        for i in 0..self.recent_len {
            if self.recent[i].start >= next {
                self.recent[len] = self.recent[i];
                len += 1;
            }
        }
        self.recent_len = len;
    }

    /// Writes the SACK blocks of an acknowledgment, a duplicate's first.
    pub fn report(&self, duplicate: Option<SackBlock>, ack: &mut TcpAck) {
        let blocks = duplicate.into_iter().chain(self.recent[..self.recent_len].iter().copied());
        ack.set_sacks(blocks);
    }
}

/// Two adjacent runs as one.
fn join(lower: Run, upper: Run) -> Run {
    Run {
        block: SackBlock { start: lower.block.start, end: upper.block.end },
        bytes: lower.bytes + upper.bytes,
        written: lower.written.wrapping_add(upper.written),
        buffers: lower.buffers + upper.buffers,
        fragments: upper.fragments,
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
            queue.insert(seq, 1448, Time::ZERO);
            queue.waiting_buffers()
        };
        assert_eq!([3, 4, 6, 5].map(&mut insert), [1, 1, 2, 2]);
        assert_eq!((7..24).map(&mut insert).last(), Some(3), "the second one has 17 segments");
        assert_eq!([1, 2].map(&mut insert), [3, 0]);
    }

    /// Linux `tcp_sack_new_ofo_skb`: a third block, or one that was not among the latest two.
    #[test]
    fn later_blocks_may_hide_earlier_ones() {
        let mut queue = Reassembly::new(1);
        for (seq, crowds) in
            [(3, false), (5, false), (7, true), (8, false), (10, true), (4, true), (8, false)]
        {
            assert_eq!(queue.crowds(seq), crowds, "{seq}");
            queue.insert(seq, 1448, Time::ZERO);
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
            assert_eq!(queue.insert(seq, 1, Time::ZERO), Arrival::OutOfOrder);
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
                match queue.insert(seq, seq as u16, Time::ZERO) {
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
