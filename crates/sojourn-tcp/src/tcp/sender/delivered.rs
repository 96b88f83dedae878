//! Deliveries of an ACK: SACKed segments and those below the cumulative acknowledgment (Linux
//! `tcp_sacktag_write_queue`, `tcp_clean_rtx_queue`).

use std::ops::Range;

use super::Sender;
use super::ack::Ack;
use crate::packet::{Flags, MAX_SACK_BLOCKS, SackBlock, TcpAck};
use crate::recovery::rate::Sampler;
use crate::tcp::scoreboard::{Marks, Run, Segment};
use crate::units::Time;

/// Extends the range of times to include `at`.
fn extend(range: &mut Option<(Time, Time)>, at: Time) {
    *range = Some((range.map_or(at, |(first, _)| first), at));
}

impl Sender {
    pub(super) fn process_dsack(&mut self, packet: &TcpAck, ack: &mut Ack) -> Option<SackBlock> {
        let block = *packet.sacks().first()?;
        if !packet.flags.has(Flags::DSACK) {
            return None;
        }
        ack.dsack = true;
        self.counters.recovery.spurious_retransmissions += u64::from(block.end - block.start);
        if self.recovery.probe_retransmitted && self.recovery.probe_end == Some(block.end) {
            ack.dsack_of_probe = true;
        } else {
            self.rack.on_dsack();
        }
        let marker = self.recovery.undo_marker.unwrap_or(u32::MAX);
        if block.end > marker {
            self.recovery.retransmission_was_needless(block.end - block.start);
        }
        Some(block)
    }

    #[inline(never)] // most ACKs have none
    pub(super) fn process_sacks(
        &mut self,
        now: Time,
        packet: &TcpAck,
        ack: &mut Ack,
        sampler: &mut Sampler,
    ) {
        let mut blocks = packet.sacks();
        if let Some(block) = self.process_dsack(packet, ack) {
            blocks = &blocks[1..];
            if block.start >= self.board.una() && block.start < self.board.next() {
                self.board.clear_retransmission(block.start);
            }
        }
        let una = self.board.una().max(packet.next);
        // Upwards, so that blocks of one ACK are no reordering.
        let mut ascending = [SackBlock::default(); MAX_SACK_BLOCKS];
        let ascending = &mut ascending[..blocks.len()];
        ascending.copy_from_slice(blocks);
        ascending.sort_unstable_by_key(|block| block.start);
        for block in ascending {
            let start = block.start.max(una);
            let end = block.end.min(self.board.next());
            if start >= end {
                continue;
            }
            let mut from = start;
            while let Some(seq) = self.board.first_unsacked(from, end) {
                self.on_sacked(now, seq, end, ack, sampler);
                from = seq + 1;
            }
            self.board.close_block(start, end);
        }
    }

    /// A segment is SACKed for the first time (Linux `tcp_sacktag_one`).
    fn on_sacked(&mut self, now: Time, seq: u32, end: u32, ack: &mut Ack, sampler: &mut Sampler) {
        let prior_highest = self.board.highest_sacked();
        let segment = self.board.mark_sacked(seq, end);
        self.frontier.on_sacked(seq);
        if let Some(memory) = self.app.memory() {
            memory.sent.on_sacked(seq);
        }
        self.count_for_rack(now, seq, &segment);
        if !segment.marks.has(Marks::EVER_RETRANSMITTED) {
            if seq + 1 < prior_highest {
                ack.reordered = Some(ack.reordered.map_or(seq, |low| low.min(seq)));
            }
            ack.original_delivered |= seq < self.recovery.high_seq;
            extend(&mut ack.sacked_sent, segment.snapshot.sent_at);
        }
        ack.sacked += 1;
        self.deliver(seq, &segment, sampler);
        self.board.mark_rate_sampled(seq);
    }

    #[inline]
    fn deliver(&mut self, seq: u32, segment: &Segment, sampler: &mut Sampler) {
        self.delivery.delivered += 1;
        if let Some(delivered) = segment.rate_candidate(seq) {
            sampler.on_delivered(&mut self.delivery, delivered);
        }
    }

    /// Whether the ACK echoes a time before this segment's retransmission, which then was needless: it
    /// tells RACK nothing (Linux `tcp_skb_spurious_retrans`).
    fn is_of_original(&self, segment: &Segment) -> bool {
        self.profile.undo
            && segment.marks.has(Marks::EVER_RETRANSMITTED)
            && self.timestamp(self.last_echo) < self.timestamp(segment.snapshot.sent_at)
    }

    #[inline]
    fn count_for_rack(&mut self, now: Time, seq: u32, segment: &Segment) {
        let retransmitted = segment.marks.has(Marks::EVER_RETRANSMITTED);
        let sent = (segment.snapshot.sent_at, seq);
        self.rack.on_delivered(now, sent, retransmitted, self.rtt.min_rtt());
    }

    /// Removes the segments below `next` from the scoreboard (Linux `tcp_clean_rtx_queue`). Those
    /// below `prior_highest`, the end of the segments SACKed before this ACK, were reordered.
    pub(super) fn process_cumulative(
        &mut self,
        now: Time,
        next: u32,
        prior_highest: u32,
        ack: &mut Ack,
        sampler: &mut Sampler,
    ) {
        let next = next.min(self.board.next());
        let first = self.board.una();
        let above_all_sacked = prior_highest <= first;
        match above_all_sacked.then(|| self.board.pop_run(next)).flatten() {
            Some(run) => self.deliver_run(now, first..next, &run, ack, sampler),
            None => self.deliver_each(now, next, prior_highest, ack, sampler),
        }
        self.outstanding_bytes -= ack.bytes;
        self.app.on_acked(now, ack.bytes, next);
        self.recovery.timeouts = 0;
        ack.rearm = true;
    }

    /// What [`Sender::deliver_each`] does, for segments that were sent once, in order, with none SACKed:
    /// the last one decides.
    #[inline]
    fn deliver_run(
        &mut self,
        now: Time,
        seqs: Range<u32>,
        run: &Run,
        ack: &mut Ack,
        sampler: &mut Sampler,
    ) {
        let segments = seqs.end - seqs.start;
        ack.bytes += run.bytes;
        ack.cum_acked += segments;
        ack.acked_sent = Some((run.first_sent, run.last.snapshot.sent_at));
        ack.original_delivered |= seqs.start < self.recovery.high_seq;
        self.count_for_rack(now, seqs.end - 1, &run.last);
        self.delivery.delivered += segments - 1;
        self.deliver(seqs.end - 1, &run.last, sampler);
    }

    #[inline(never)]
    fn deliver_each(
        &mut self,
        now: Time,
        next: u32,
        prior_highest: u32,
        ack: &mut Ack,
        sampler: &mut Sampler,
    ) {
        while self.board.una() < next {
            let seq = self.board.una();
            let segment = self.board.pop_acked();
            ack.bytes += u64::from(segment.payload);
            let sacked = segment.marks.has(Marks::SACKED);
            self.frontier.on_acked(seq, sacked);
            if segment.marks.has(Marks::EVER_RETRANSMITTED) {
                ack.retransmission_acked = true;
            } else if !sacked {
                extend(&mut ack.acked_sent, segment.snapshot.sent_at);
                if seq + 1 < prior_highest {
                    ack.reordered = Some(ack.reordered.map_or(seq, |low| low.min(seq)));
                }
                ack.original_delivered |= seq < self.recovery.high_seq;
            }
            if !sacked {
                if !self.is_of_original(&segment) {
                    self.count_for_rack(now, seq, &segment);
                }
                self.deliver(seq, &segment, sampler);
            }
            ack.cum_acked += 1;
        }
    }
}
