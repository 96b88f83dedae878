//! Processing of an arriving segment: reassembly, ECN echo, and the time of its acknowledgment.

use super::Receiver;
use super::due::Due;
use crate::cc;
use crate::packet::{Ecn, Flags, SackBlock, TcpSegment};
use crate::tcp::echo::Response;
use crate::tcp::reassembly::{Arrival, InOrder, Place};
use crate::units::{Span, Time};

/// SACKs sent at once after a hole appears (`TCP_FASTRETRANS_THRESH`).
const SACKS_AT_ONCE: u32 = 3;
/// SACKs held back at most (`tcp_comp_sack_nr`).
const COMPRESSED_MAX: u32 = 44;
/// Longest spacing of compressed SACKs (`tcp_comp_sack_delay_ns`).
const COMPRESSION_MAX: Span = Span::from_millis(1);
/// Segments that GRO merges at most (64 kB).
const GRO_SEGMENTS: u32 = 45;
/// An idle time this long beyond the RTT starts quick ACKs again (the receiver's own RTO).
const LONG_SILENCE: Span = Span::from_millis(200);

impl Receiver {
    pub(super) fn on_data(&mut self, now: Time, ecn: Ecn, segment: &TcpSegment) {
        self.measure_arrival(now, ecn, segment);
        let former = self.echo;
        let response = self.heard(now, ecn, segment.flags);
        let flushed = response.flush && matches!(self.due, Due::At(_));
        if flushed {
            let (flags, next) = former.flushes(response, segment.flags, self.queue.next());
            self.flushed = Some(Box::new(self.special_acknowledgment(now, flags, next)));
        }
        if segment.seq <= self.acked_up_to {
            self.timestamp = segment.sent_at;
        }
        if self.compressed > 0 && self.init.profile.flushes_sacks && self.queue.crowds(segment.seq)
        {
            self.flushed = Some(Box::new(self.acknowledgment(now, self.echo.flags())));
        }
        let memory = self.memory.segment(self.frames);
        let held = self.memory_taken(segment.seq, memory);
        if held.is_some_and(|held| self.tune.on_segment(segment.payload, held)) {
            self.quick |= 1;
        }
        match self.queue.insert(segment.seq, segment.payload, segment.written_at, memory) {
            Arrival::InOrder(released) => self.on_in_order(now, segment, released, flushed),
            Arrival::OutOfOrder => self.on_out_of_order(now, segment),
            Arrival::Duplicate => self.on_duplicate(segment.seq),
        }
        self.echo.on_stored(ecn, self.queue.next());
        self.heed(response, flushed);
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

    /// Applies the response to a congestion mark.
    fn heed(&mut self, response: Response, flushed: bool) {
        let quick = response.quick.max(u32::from(flushed && response.quick_if_flushed));
        self.quick = self.quick.max(quick);
        if response.at_once || quick > 0 {
            self.due = Due::Now;
        }
    }

    fn measure_arrival(&mut self, now: Time, ecn: Ecn, segment: &TcpSegment) {
        if segment.echo > Time::ZERO {
            self.tune.on_echo(now, segment.echo);
        }
        if let Some(last) = self.last_arrival {
            let gap = now.since(last);
            let ewma = self.received.idt_ewma;
            self.received.idt_ewma = if ewma == Span::ZERO { gap } else { (ewma * 7 + gap) / 8 };
            if gap > LONG_SILENCE + self.tune.rtt().unwrap_or_default() {
                self.quick = self.quick.max(self.init.profile.quick_acks);
            }
        }
        self.last_arrival = Some(now);
        match ecn {
            Ecn::Ce => self.received.ce_received += 1,
            Ecn::Ect1 => self.received.sce_received += 1,
            _ => {}
        }
    }

    fn on_in_order(&mut self, now: Time, segment: &TcpSegment, released: InOrder, flushed: bool) {
        self.received.delivered_bytes += u64::from(segment.payload);
        self.received.delivered_packets += 1;
        self.received.in_order_bytes += released.bytes;
        let total = now.as_nanos().wrapping_mul(u64::from(released.segments));
        let delay = total.wrapping_sub(released.written);
        self.received.one_way_delay_sum += Span::from_nanos(delay);
        self.received.one_way_delay_count += u64::from(released.segments);
        match &mut self.unread {
            None => {
                let together = u64::from(released.together * self.init.mss);
                self.tune.on_read(now, released.bytes, together, self.queue.waiting_bytes());
            }
            Some(unread) => unread.bytes += released.bytes,
        }
        // Linux counts from the last ACK sent, and the flushed one is sent with this segment here.
        self.unacked = if flushed { 0 } else { self.unacked + released.segments };
        let hole_filled = released.segments > 1 || !self.queue.is_contiguous();
        let pushed = self.init.profile.acks_pushed && segment.flags.has(Flags::PSH);
        if let Some(unread) = &mut self.unread {
            unread.pushed |= pushed;
        }
        // Linux `__tcp_cleanup_rbuf`: nothing is left in the buffer.
        let read = pushed && self.unread.is_none();
        let due = self.unacked >= self.init.ack_every || self.quick > 0 || read;
        let merging =
            self.init.gro.is_some() && self.unacked < GRO_SEGMENTS && !hole_filled && !pushed;
        let rest = segment.flags.has(Flags::MORE);
        if !rest && (hole_filled || (due && !merging)) {
            self.due = Due::Now;
        } else {
            let merged = self.init.gro.filter(|_| due && !rest);
            let at = merged.map_or_else(|| self.delayed(now), |wait| now + wait);
            self.due = self.due.no_later_than(at);
        }
    }

    fn on_out_of_order(&mut self, now: Time, segment: &TcpSegment) {
        self.received.delivered_bytes += u64::from(segment.payload);
        self.received.delivered_packets += 1;
        let slack = self.init.profile.sack_compression;
        let compress = slack.is_some()
            && self.quick == 0
            && self.unacked < self.init.ack_every
            && self.compressed < COMPRESSED_MAX;
        if self.hole != self.queue.next() {
            self.hole = self.queue.next();
            self.sacks_at_hole = 0;
        }
        if !compress || self.sacks_at_hole < SACKS_AT_ONCE {
            self.sacks_at_hole += u32::from(compress);
            self.due = match segment.flags.has(Flags::MORE) {
                true => self.due.no_later_than(self.delayed(now)),
                false => Due::Now,
            };
            return;
        }
        self.compressed += 1;
        if self.compressed_at.is_none() {
            let wait = self.spacing_of_sacks() + slack.unwrap_or_default();
            self.compressed_at = Some(now + wait);
        }
    }

    /// When the timer of a delayed ACK fires.
    fn delayed(&self, now: Time) -> Time {
        self.init.profile.fires(now, self.init.profile.delayed_ack)
    }

    /// 5 % of the RTT, by timestamps or the connection's own where that is less: of an end that only
    /// receives, the handshake's (`__tcp_ack_snd_check`: `tp->srtt_us < rtt`).
    fn spacing_of_sacks(&self) -> Span {
        let least = self.tune.rtt().into_iter().chain(self.handshake_rtt).min();
        least.map_or(COMPRESSION_MAX, |rtt| COMPRESSION_MAX.min(rtt / 20))
    }

    fn on_duplicate(&mut self, seq: u32) {
        self.received.duplicates_received += 1;
        if self.init.profile.undo {
            self.duplicate = Some(SackBlock { start: seq, end: seq + 1 });
        }
        self.quick = self.quick.max(self.init.profile.quick_acks);
        self.due = Due::Now;
    }
}
