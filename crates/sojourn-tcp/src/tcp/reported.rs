//! The SACK blocks that a receiver reports: the latest ones, the one with the latest segment first (RFC 2018).

use crate::packet::SackBlock;

/// Blocks remembered for reporting (`TCP_NUM_SACKS`).
const REMEMBERED: usize = 4;
/// Blocks that are assumed to arrive even if ACKs are lost (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_EXPECTED: usize = 2;

/// The block that two have in common which touch.
pub(super) fn join_blocks(one: SackBlock, other: SackBlock) -> SackBlock {
    SackBlock { start: one.start.min(other.start), end: one.end.max(other.end) }
}

fn touch(one: SackBlock, other: SackBlock) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// The blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reported {
    recent: [SackBlock; REMEMBERED],
    len: usize,
}

impl Reported {
    /// The latest first.
    pub(super) fn blocks(&self) -> &[SackBlock] {
        &self.recent[..self.len]
    }

    /// The place of the block that segment `seq` touches.
    fn place(&self, seq: u32) -> Option<usize> {
        let own = SackBlock { start: seq, end: seq + 1 };
        self.blocks().iter().position(|&block| touch(block, own))
    }

    /// Segment `seq` has arrived. It is in the first block, with the one that it touches and others that
    /// this touches then. Blocks that are remembered no more do not count (Linux `tcp_sack_new_ofo_skb`,
    /// `tcp_sack_maybe_coalesce`).
    #[inline(never)] // only above a hole
    pub(super) fn add(&mut self, seq: u32) {
        let mut block = SackBlock { start: seq, end: seq + 1 };
        let joined = self.place(seq);
        if let Some(at) = joined {
            block = join_blocks(block, self.recent[at]);
        }
        let mut kept = [SackBlock::default(); REMEMBERED];
        let mut len = 1;
        for (at, &old) in self.blocks().iter().enumerate() {
            if joined.is_some() && touch(old, block) {
                block = join_blocks(block, old);
            } else if Some(at) != joined && len < REMEMBERED {
                kept[len] = old;
                len += 1;
            }
        }
        kept[0] = block;
        *self = Reported { recent: kept, len };
    }

    /// Whether segment `seq` begins a block beside two others, or joins one that is not among the latest
    /// two: it hides one that perhaps no ACK has reported yet.
    #[inline(never)] // only above a hole
    pub(super) fn crowds(&self, seq: u32) -> bool {
        self.place(seq).unwrap_or(self.len) >= BLOCKS_EXPECTED
    }

    /// Everything below `next` has arrived.
    pub(super) fn forget_below(&mut self, next: u32) {
        let mut len = 0;
        for at in 0..self.len {
            if self.recent[at].start >= next {
                self.recent[len] = self.recent[at];
                len += 1;
            }
        }
        self.len = len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_blocks_do_not_grow() {
        let mut reported = Reported::default();
        for seq in [3, 5, 7, 9, 11, 4] {
            reported.add(seq);
        }
        let blocks: Vec<_> = reported.blocks().iter().map(|b| (b.start, b.end)).collect();
        assert_eq!(blocks, [(4, 6), (11, 12), (9, 10), (7, 8)], "3 is not with 4");
    }
}
