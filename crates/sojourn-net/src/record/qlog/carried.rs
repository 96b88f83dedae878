//! Which packet carries which bytes of a connection.

use std::collections::VecDeque;

use crate::packet::{Flags, TcpAck, TcpSegment};

/// The last packet that carried a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    /// The packet's number.
    pub index: u32,
    /// The segment's first byte among all that the application writes.
    pub offset: u64,
    pub payload: u16,
    acked: bool,
    lost: bool,
}

/// Segments that are not all acknowledged, in their order; the SYN is one of them.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// Number of the first of them.
    first: u32,
    outstanding: VecDeque<Carried>,
    /// One past the last byte of them.
    end: u64,
}

impl Segments {
    /// A packet carries a segment, for the first time or again. None if it carries none.
    pub(super) fn note(&mut self, index: u32, segment: &TcpSegment) -> Option<Carried> {
        let payload = segment.payload;
        if payload == 0 && !segment.flags.has(Flags::SYN) {
            return None;
        }
        if self.outstanding.is_empty() {
            self.first = segment.seq;
        }
        let place = segment.seq.checked_sub(self.first)? as usize;
        let sent = Carried { index, offset: self.end, payload, acked: false, lost: false };
        if place == self.outstanding.len() {
            self.end += u64::from(payload);
            self.outstanding.push_back(sent);
            return Some(sent);
        }
        let again = self.outstanding.get_mut(place)?;
        *again = Carried { offset: again.offset, ..sent };
        Some(*again)
    }

    /// The packets that an acknowledgment tells of for the first time, as ranges from the first to the
    /// last number of each.
    pub(super) fn acknowledge(&mut self, ack: &TcpAck) -> Vec<[u32; 2]> {
        let mut numbers = Vec::new();
        while self.first < ack.next
            && let Some(carried) = self.outstanding.pop_front()
        {
            self.first += 1;
            if !carried.acked {
                numbers.push(carried.index);
            }
        }
        for block in ack.sacks() {
            let from = block.start.saturating_sub(self.first) as usize;
            let to = block.end.saturating_sub(self.first) as usize;
            let length = to.saturating_sub(from);
            for carried in self.outstanding.iter_mut().skip(from).take(length) {
                if !std::mem::replace(&mut carried.acked, true) {
                    numbers.push(carried.index);
                }
            }
        }
        ranges(numbers)
    }

    /// A segment is taken for lost; the packet that carried it, unless that was said before.
    pub(super) fn lose(&mut self, segment: u32) -> Option<Carried> {
        let place = segment.checked_sub(self.first)? as usize;
        let carried = self.outstanding.get_mut(place)?;
        let is_new = !carried.acked && !std::mem::replace(&mut carried.lost, true);
        is_new.then_some(*carried)
    }
}

fn ranges(mut numbers: Vec<u32>) -> Vec<[u32; 2]> {
    numbers.sort_unstable();
    let mut ranges: Vec<[u32; 2]> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some([_, last]) if *last + 1 == number => *last = number,
            _ => ranges.push([number, number]),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::SackBlock;

    fn data(seq: u32) -> TcpSegment {
        TcpSegment { seq, payload: 100, flags: Flags::ACK, ..TcpSegment::default() }
    }

    fn ack(next: u32, blocks: &[(u32, u32)]) -> TcpAck {
        let mut ack = TcpAck { next, ..TcpAck::default() };
        ack.set_sacks(blocks.iter().map(|&(start, end)| SackBlock { start, end }));
        ack
    }

    #[test]
    fn each_packet_is_acknowledged_once() {
        let mut segments = Segments::default();
        for seq in 1..=6 {
            let carried = segments.note(seq + 1, &data(seq)).unwrap();
            assert_eq!(carried.offset, u64::from(seq - 1) * 100);
        }
        assert_eq!(segments.acknowledge(&ack(1, &[(3, 4), (5, 7)])), [[4, 4], [6, 7]]);
        assert_eq!(segments.acknowledge(&ack(2, &[(3, 4), (5, 7)])), [[2, 2]]);
        let again = segments.note(8, &data(2)).unwrap();
        assert_eq!((again.index, again.offset), (8, 100));
        assert_eq!(segments.acknowledge(&ack(7, &[(1, 3)])), [[5, 5], [8, 8]]);
        assert_eq!(segments.note(9, &data(7)).unwrap().offset, 600);
    }

    #[test]
    fn a_packet_is_lost_once_and_what_replaces_it_may_be() {
        let mut segments = Segments::default();
        for seq in 1..=3 {
            segments.note(seq, &data(seq));
        }
        let index = |lost: Option<Carried>| lost.map(|carried| carried.index);
        assert_eq!(index(segments.lose(1)), Some(1));
        assert_eq!(index(segments.lose(1)), None);
        segments.note(4, &data(1));
        assert_eq!(index(segments.lose(1)), Some(4));
        segments.acknowledge(&ack(1, &[(2, 3)]));
        assert_eq!(index(segments.lose(2)), None);
        assert_eq!(index(segments.lose(9)), None);
    }

    #[test]
    fn what_carries_nothing_is_no_segment() {
        let mut segments = Segments::default();
        let opens = TcpSegment { flags: Flags::SYN, ..TcpSegment::default() };
        assert!(segments.note(0, &opens).is_some());
        let bare = TcpSegment { flags: Flags::ACK, ..TcpSegment::default() };
        assert_eq!(segments.note(1, &bare), None);
        assert_eq!(segments.acknowledge(&ack(1, &[])), [[0, 0]]);
        assert_eq!(segments.note(2, &data(1)).unwrap().offset, 0);
    }
}
