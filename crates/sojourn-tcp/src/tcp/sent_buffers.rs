//! Buffers of data that was sent and is not acknowledged (Linux's retransmission queue): how many there
//! are decides how much memory they take.
//!
//! A large segment is one buffer. Buffers side by side whose data is SACKed become one
//! (`tcp_shift_skb_data`); one of which a part is SACKed is split there (`tcp_match_skb_to_sack`), and
//! so is one of which only a part is sent again (`tcp_retransmit_skb`).
//!
//! Deviation: the last segment of a buffer is not split off by a tail loss probe.

use std::collections::VecDeque;

/// Segments of a joined buffer at most: 17 fragments of 32 kB (`MAX_SKB_FRAGS`).
const MOST: u32 = (17 << 15) / 1448;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Buffer {
    /// The first segment behind it.
    end: u32,
    is_sacked: bool,
}

/// The buffers, in ascending order.
#[derive(Debug)]
pub(super) struct SentBuffers {
    /// The first segment that is not acknowledged.
    una: u32,
    queue: VecDeque<Buffer>,
}

impl SentBuffers {
    /// None, before segment `first`.
    pub(super) fn new(first: u32) -> Self {
        SentBuffers { una: first, queue: VecDeque::new() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// The segment before `end` was sent; `joined`: in the buffer of the one before it.
    pub(super) fn push(&mut self, end: u32, joined: bool) {
        match self.queue.back_mut() {
            Some(last) if joined => last.end = end,
            _ => self.queue.push_back(Buffer { end, is_sacked: false }),
        }
    }

    /// Everything below `una` is acknowledged.
    #[inline(never)] // few flows have a buffer that grows
    pub(super) fn on_acked(&mut self, una: u32) {
        while self.queue.front().is_some_and(|buffer| buffer.end <= una) {
            self.queue.pop_front();
        }
        self.una = una;
    }

    /// Segment `seq` is SACKed.
    pub(super) fn on_sacked(&mut self, seq: u32) {
        let Some((mut at, buffer)) = self.find(seq) else { return };
        if buffer.is_sacked {
            return;
        }
        let start = self.start(at);
        if start < seq {
            self.queue.insert(at, Buffer { end: seq, is_sacked: false });
            at += 1;
        }
        let is_last = buffer.end == seq + 1;
        match (start == seq && self.takes(at, seq), is_last) {
            (true, true) => {
                self.queue.remove(at);
                self.queue[at - 1].end = seq + 1;
                self.join_next(at - 1);
            }
            (true, false) => self.queue[at - 1].end = seq + 1,
            (false, true) => self.queue[at].is_sacked = true,
            (false, false) => self.queue.insert(at, Buffer { end: seq + 1, is_sacked: true }),
        }
    }

    /// Segment `seq` is sent again, with as many of its buffer behind it as there is `room` for; returns
    /// how many these are.
    pub(super) fn on_sent_again(&mut self, seq: u32, room: u32) -> u32 {
        let Some((at, buffer)) = self.find(seq) else { return 1 };
        let end = buffer.end.min(seq + room.max(1));
        if self.start(at) == seq && end < buffer.end {
            self.queue.insert(at, Buffer { end, ..buffer });
        }
        end - seq
    }

    /// The buffer that has segment `seq`, and its place.
    fn find(&self, seq: u32) -> Option<(usize, Buffer)> {
        let at = self.queue.partition_point(|buffer| buffer.end <= seq);
        self.queue.get(at).map(|&buffer| (at, buffer))
    }

    /// The first segment of the buffer at a place.
    fn start(&self, at: usize) -> u32 {
        at.checked_sub(1).map_or(self.una, |before| self.queue[before].end)
    }

    /// Whether the buffer before a place is SACKed and takes segment `seq`.
    fn takes(&self, at: usize, seq: u32) -> bool {
        at > 0 && self.queue[at - 1].is_sacked && seq - self.start(at - 1) < MOST
    }

    /// Joins the buffer at a place with the next one if that is SACKed, too.
    fn join_next(&mut self, at: usize) {
        let Some(next) = self.queue.get(at + 1) else { return };
        if next.is_sacked && next.end - self.start(at) <= MOST {
            self.queue.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buffers of two segments each, from segment 1 on.
    fn pairs(number: u32) -> SentBuffers {
        let mut sent = SentBuffers::new(1);
        for seq in 1..=2 * number {
            sent.push(seq + 1, seq % 2 == 0);
        }
        sent
    }

    fn sacked(sent: &mut SentBuffers, segments: impl IntoIterator<Item = u32>) -> usize {
        segments.into_iter().for_each(|seq| sent.on_sacked(seq));
        sent.len()
    }

    #[test]
    fn neighbours_that_are_sacked_become_one() {
        let mut sent = pairs(5);
        assert_eq!(sacked(&mut sent, [3, 4]), 5, "a whole buffer");
        assert_eq!(sacked(&mut sent, [5, 6]), 4, "with the one before");
        assert_eq!(sacked(&mut sent, [9, 10]), 4);
        assert_eq!(sacked(&mut sent, [7]), 4, "a part of one, to the one before");
        assert_eq!(sacked(&mut sent, [8]), 2, "the rest, and the one behind");
        sent.on_acked(3);
        assert_eq!(sent.len(), 1);
    }

    #[test]
    fn parts_that_are_sacked_or_sent_again_are_split_off() {
        let mut sent = pairs(3);
        assert_eq!(sacked(&mut sent, [4]), 4, "the second of a pair");
        assert_eq!(sacked(&mut sent, [3]), 4, "nothing is SACKed before it");
        assert_eq!((sent.on_sent_again(1, 1), sent.len()), (1, 5));
        assert_eq!((sent.on_sent_again(5, 2), sent.len()), (2, 5), "there is room for both");
    }
}
