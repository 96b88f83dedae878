//! Processing of an arriving segment: reassembly, ECN echo, and the time of its acknowledgment.

use super::Receiver;
use super::due::Due;
use crate::cc;
use crate::packet::{Ecn, Flags, SackBlock, TcpSegment};
use crate::tcp::echo::Response;
use crate::tcp::reassembly::{Arrival, InOrder, Place};
use crate::units::{Span, Time};

/// The receiver's own RTO is the handshake's: an RTT, and the longer of this and two more.
const LONG_SILENCE: Span = Span::from_millis(200);

impl Receiver {
    pub(super) fn on_data(&mut self, now: Time, ecn: Ecn, segment: &TcpSegment) {
        self.measure_arrival(now, ecn, segment);
        // One that was held back is not reported any more (`tcp_data_queue`).
        self.duplicate = None;
        let marked = self.echo.heeds(ecn).then(|| self.respond(now, ecn, segment.flags));
        let flushed = marked.is_some_and(|(_, flushed)| flushed);
        if segment.seq <= self.acked_up_to {
            self.timestamp = segment.sent_at;
        }
        let crowds = self.compressed > 0
            && self.init.profile.flushes_sacks
            && self.queue.crowds(segment.seq);
        if crowds {
            self.flush_held(now);
        }
        let memory = self.memory.segment(self.frames);
        let held = self.memory_taken(segment.seq, memory);
        let above = segment.seq > self.queue.next();
        if held.is_some_and(|held| self.tune.on_segment(segment.payload, held, above)) {
            self.quick |= 1;
        }
        match self.queue.insert(segment.seq, segment.payload, segment.written_at, memory) {
            Arrival::InOrder(released) => {
                // Linux counts from the last ACK sent, and the flushed one is sent with this segment here.
                self.unacked = if flushed { 0 } else { self.unacked + released.segments };
                self.on_in_order(now, segment, released, held.unwrap_or_default());
            }
            Arrival::OutOfOrder => self.on_out_of_order(now, segment, crowds),
            Arrival::Duplicate => self.on_duplicate(now, segment, crowds),
        }
        if let Some((response, _)) = marked {
            self.echo.on_stored(ecn, self.queue.next());
            if response.at_once || response.quick > 0 {
                self.due = Due::Now;
            }
        }
    }

    /// The SACK that was held back goes before the segment is stored.
    #[inline(never)] // only where SACKs are held back
    fn flush_held(&mut self, now: Time) {
        self.flushed = Some(Box::new(self.acknowledgment(now, self.echo.flags())));
    }

    /// The response to a segment's mark, and whether it has sent the ACK that was pending. Its quick
    /// ACKs are there before the window grows, which may add one (`tcp_ecn_check_ce`).
    #[inline(never)]
    fn respond(&mut self, now: Time, ecn: Ecn, flags: Flags) -> (Response, bool) {
        let former = self.echo;
        let mut response = self.heard(now, ecn, flags);
        let flushed = response.flush && matches!(self.due, Due::At(_));
        if flushed {
            let (flags, next) = former.flushes(response, flags, self.queue.next());
            self.flushed = Some(Box::new(self.special_acknowledgment(now, flags, next)));
            response.quick = response.quick.max(u32::from(response.quick_if_flushed));
        }
        self.quick = self.quick.max(response.quick);
        (response, flushed)
    }

    /// Memory in use in the receive buffer when a new segment that occupies `own` arrives. Linux
    /// charges a segment in order, or one that joins another's buffer, before it computes the
    /// growth of the window; others after that.
    fn memory_taken(&self, seq: u32, own: u64) -> Option<u64> {
        let (own, buffers) = match self.queue.place(seq) {
            Place::Next => (own, 1),
            Place::Joins => (own, 0),
            Place::Apart => (0, 0),
            Place::Known => return None,
        };
        let buffers = u64::from(self.queue.waiting_buffers() + buffers);
        Some(self.queue.waiting_memory() + own + buffers * self.memory.head)
    }

    /// Response to the mark: by the echo's rules, or by those of a control at this end.
    fn heard(&mut self, now: Time, ecn: Ecn, flags: Flags) -> Response {
        let Some(control) = &mut self.control else { return self.echo.on_data(ecn, flags) };
        let (ce, next) = (ecn == Ecn::Ce, self.queue.next());
        let ack_held = matches!(self.due, Due::At(_));
        self.echo.ask(ecn, flags, |echoes| {
            control.on_arrival(now, &cc::Arrival { ce, ack_held, echoes, next })
        })
    }

    fn measure_arrival(&mut self, now: Time, ecn: Ecn, segment: &TcpSegment) {
        if segment.echo > Time::ZERO {
            self.tune.on_echo(now, segment.echo, segment.payload);
        }
        if let Some(last) = self.last_arrival {
            let gap = now.since(last);
            let ewma = self.received.idt_ewma;
            self.received.idt_ewma = if ewma == Span::ZERO { gap } else { (ewma * 7 + gap) / 8 };
        }
        self.last_arrival = Some(now);
        if segment.seq == self.queue.next() {
            let next = self.received.in_order_bytes + u64::from(segment.payload);
            self.tune.on_advance(now, next, self.offered.window());
            self.pace_acks(now);
        }
        match ecn {
            Ecn::Ce => self.received.ce_received += 1,
            Ecn::Ect1 => self.received.sce_received += 1,
            _ => {}
        }
    }

    /// With the first data in order ACKs are quick, unless one above a hole was before and no more are, and
    /// again after a long silence (`tcp_event_data_recv`).
    fn pace_acks(&mut self, now: Time) {
        let gap_began = self.last_in_order.replace(now).unwrap_or(now);
        if !self.patience.stays(now, gap_began) {
            self.pace_acks_anew(now, gap_began);
        }
    }

    #[inline(never)] // segments mostly follow each other
    fn pace_acks_anew(&mut self, now: Time, gap_began: Time) {
        let rto = self.own_rto();
        let first = !self.patience.is_set();
        if first {
            self.patience.end();
        }
        if first || now.since(gap_began) > rto {
            self.quick = self.quick.max(self.init.profile.quick_acks);
        } else {
            self.patience.adapt(now, gap_began, rto);
        }
    }

    pub(super) fn own_rto(&self) -> Span {
        let rtt = self.handshake_rtt.unwrap_or_default();
        rtt + LONG_SILENCE.max(rtt * 2)
    }

    fn on_in_order(&mut self, now: Time, segment: &TcpSegment, released: InOrder, held: u64) {
        self.received.delivered_bytes += u64::from(segment.payload);
        self.received.delivered_packets += 1;
        self.received.in_order_bytes += released.bytes;
        let total = now.as_nanos().wrapping_mul(u64::from(released.segments));
        let delay = total.wrapping_sub(released.written);
        self.received.one_way_delay_sum += Span::from_nanos(delay);
        self.received.one_way_delay_count += u64::from(released.segments);
        // Before the application reads it.
        let merged = u64::from(released.merged) * self.memory.head;
        let choice = self.tune.choose(held.saturating_sub(merged));
        match &mut self.unread {
            None => {
                let together = u64::from(released.together * self.init.mss);
                self.tune.on_read(now, released.bytes, together, self.queue.waiting_bytes());
            }
            Some(unread) => unread.bytes += released.bytes,
        }
        self.schedule_in_order(now, segment, released, choice);
    }

    #[inline(never)] // most segments arrive in order
    fn on_out_of_order(&mut self, now: Time, segment: &TcpSegment, crowds: bool) {
        self.received.delivered_bytes += u64::from(segment.payload);
        self.received.delivered_packets += 1;
        // The SACK that went before it, after it had asked for one, counts as its own (`icsk_ack.pending`).
        if !crowds {
            self.schedule_above_hole(now, segment.flags);
        }
    }

    #[inline(never)] // few arrive twice
    fn on_duplicate(&mut self, now: Time, segment: &TcpSegment, crowds: bool) {
        let seq = segment.seq;
        self.received.duplicates_received += 1;
        if self.init.profile.undo {
            self.duplicate = Some(SackBlock { start: seq, end: seq + 1 });
        }
        if seq < self.queue.next() || !self.init.profile.tunes_exactly {
            self.quick =
                self.quick.max(self.init.profile.quick_acks) + u32::from(self.answers_old(seq));
            self.patience.end();
            self.due = Due::Now;
        } else if !crowds {
            self.schedule_above_hole(now, segment.flags);
        }
    }

    /// Whether the ACK of this duplicate is none of the quick ones: it is sent for an old segment, while none is
    /// due for new ones (`tcp_send_dupack`, `tcp_dec_quickack_mode`).
    fn answers_old(&self, seq: u32) -> bool {
        self.init.profile.tunes_exactly && seq + 1 < self.acked_up_to && self.due == Due::No
    }
}
