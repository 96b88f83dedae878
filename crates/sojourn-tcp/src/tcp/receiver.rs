//! The receiving end of a TCP flow.
//!
//! RFC 5681 §4.2 and Linux `tcp_input.c` (`__tcp_ack_snd_check`): one ACK for every `ack_every`
//! segments or after 40 ms; at once in the quick-ACK phase when data first arrives or after a long
//! silence, when a hole is filled, for duplicates, when the application has read the end of what was
//! written (PSH), and when congestion marks ask for it; the first
//! three ACKs above a hole at once, the following spaced by the lesser of 1 ms and 5 % of the RTT
//! (SACK compression, Linux since 4.18), or before another would need more blocks. With `gro`, the segments of a moment are acknowledged as one;
//! a burst that stays one packet on its way is so, too.
//!
//! The SYN-ACK is repeated when the SYN is, and after a timeout that doubles.
//!
//! Deviation: the application reads at once unless it is given a reader (`reader`).

use super::autotune::Autotune;
use super::card_memory::CardMemory;
use super::echo::{Echo, Response};
use super::reader::Unread;
use super::reassembly::{Arrival, InOrder, Place, Reassembly};
use super::{HEADER, SYN_SIZE, TcpInit, sack_option_size};
use crate::cc::{self, CongestionControl};
use crate::counters::{AckCounters, FlowCounters, ReceiverCounters};
use crate::endpoint::Endpoint;
use crate::packet::{Ecn, Flags, Header, Packet, SackBlock, TcpAck, TcpSegment};
use crate::units::{Span, Time};

/// SACKs sent at once after a hole appears (`TCP_FASTRETRANS_THRESH`).
const SACKS_AT_ONCE: u32 = 3;
/// SACKs held back at most (`tcp_comp_sack_nr`).
const COMPRESSED_MAX: u32 = 44;
/// Longest spacing of compressed SACKs (`tcp_comp_sack_delay_ns`).
const COMPRESSION_MAX: Span = Span::from_millis(1);
/// The longest wait for an answer to a SYN-ACK, in first ones (`tcp_synack_retries` of 5).
const SYN_ACK_LONGEST: u64 = 16;
/// Segments that GRO merges at most (64 kB).
const GRO_SEGMENTS: u32 = 45;
/// A silence this long beyond the RTT brings quick ACKs again (the receiver's own RTO).
const LONG_SILENCE: Span = Span::from_millis(200);

/// When the next ACK goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    No,
    Now,
    SynAck,
    At(Time),
}

impl Due {
    /// Due at `time` at the latest.
    fn no_later_than(self, time: Time) -> Due {
        match self {
            Due::No => Due::At(time),
            Due::At(earlier) => Due::At(earlier.min(time)),
            Due::Now | Due::SynAck => self,
        }
    }
}

/// A TCP receiver.
pub struct Receiver {
    pub(super) init: TcpInit,
    /// A control that decides about echoes.
    control: Option<Box<dyn CongestionControl>>,
    pub(super) queue: Reassembly,
    echo: Echo,
    pub(super) due: Due,
    /// When the SYN-ACK goes again unless something comes, and after what timeout.
    syn_ack_again: Option<(Time, Span)>,
    /// An ACK with the echo's former state, to go out before anything else.
    flushed: Option<Packet>,
    /// Duplicate segment to report in the next ACK.
    duplicate: Option<SackBlock>,
    /// Timestamp to echo: that of the segment that last advanced the left edge (RFC 7323 §4.3).
    timestamp: Time,
    /// Segments received in order since the last ACK.
    unacked: u32,
    acked_up_to: u32,
    /// ACKs still to be sent without delay.
    quick: u32,
    compressed: u32,
    compressed_at: Option<Time>,
    sacks_at_hole: u32,
    hole: u32,
    pub(super) tune: Autotune,
    /// What waits for the application, if that does not read at once.
    pub(super) unread: Option<Unread>,
    last_arrival: Option<Time>,
    pub(super) received: ReceiverCounters,
    acks: AckCounters,
    sent: u32,
    /// Memory of segments, and how many have come.
    memory: CardMemory,
    frames: u32,
}

impl Receiver {
    /// A receiver waiting for a SYN.
    pub fn new(init: TcpInit) -> Self {
        Receiver {
            control: None,
            queue: Reassembly::new(1),
            echo: Echo::new(init.ecn),
            due: Due::No,
            syn_ack_again: None,
            flushed: None,
            duplicate: None,
            timestamp: Time::ZERO,
            unacked: 0,
            acked_up_to: 1,
            quick: init.profile.quick_acks,
            compressed: 0,
            compressed_at: None,
            sacks_at_hole: 0,
            hole: 0,
            tune: Autotune::new(init.profile, init.mss, init.receive_buffer),
            unread: None,
            last_arrival: None,
            received: ReceiverCounters::default(),
            acks: AckCounters::default(),
            sent: 0,
            memory: CardMemory::of(init.mss),
            frames: 0,
            init,
        }
    }

    /// With a control that decides about echoes.
    pub fn served_by(self, control: Option<Box<dyn CongestionControl>>) -> Self {
        Receiver { control, ..self }
    }

    fn on_data(&mut self, now: Time, ecn: Ecn, segment: &TcpSegment) {
        self.measure_arrival(now, ecn, segment);
        let former = self.echo.flags();
        let response = self.heard(now, ecn, segment.flags);
        let flushed = response.flush && matches!(self.due, Due::At(_));
        if flushed {
            self.flushed = Some(self.special_acknowledgment(now, former));
        }
        if segment.seq <= self.acked_up_to {
            self.timestamp = segment.sent_at;
        }
        if self.compressed > 0 && self.init.profile.flushes_sacks && self.queue.crowds(segment.seq)
        {
            self.flushed = Some(self.acknowledgment(now, self.echo.flags()));
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
        self.heed(response, flushed);
    }

    /// Memory of the receive buffer that is taken when a segment arrives that takes so much, if it is
    /// new. Linux charges one in order, or one that joins another's buffer, before it looks how the
    /// window may grow; others after that.
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

    /// What the mark asks for: by the echo's rules, or by those of a control at this end.
    fn heard(&mut self, now: Time, ecn: Ecn, flags: Flags) -> Response {
        let Some(control) = &mut self.control else { return self.echo.on_data(ecn, flags) };
        let (ce, next) = (ecn == Ecn::Ce, self.queue.next());
        let ack_held = matches!(self.due, Due::At(_));
        self.echo.ask(ecn, flags, |echoes| {
            control.on_arrival(now, &cc::Arrival { ce, ack_held, echoes, next })
        })
    }

    /// Follows what the congestion mark asks for.
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
            let delayed = self.init.profile.delayed_ack;
            let wait = if due && !rest { self.init.gro.unwrap_or(delayed) } else { delayed };
            self.due = self.due.no_later_than(now + wait);
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
                true => self.due.no_later_than(now + self.init.profile.delayed_ack),
                false => Due::Now,
            };
            return;
        }
        self.compressed += 1;
        if self.compressed_at.is_none() {
            let rtt = self.tune.rtt().unwrap_or(COMPRESSION_MAX * 20);
            let late = slack.unwrap_or_default();
            self.compressed_at = Some(now + COMPRESSION_MAX.min(rtt / 20) + late);
        }
    }

    fn on_duplicate(&mut self, seq: u32) {
        self.received.duplicates_received += 1;
        if self.init.profile.undo {
            self.duplicate = Some(SackBlock { start: seq, end: seq + 1 });
        }
        self.quick = self.quick.max(self.init.profile.quick_acks);
        self.due = Due::Now;
    }

    /// An ACK of everything received so far; ends what made it due.
    fn acknowledgment(&mut self, now: Time, flags: Flags) -> Packet {
        self.quick = self.quick.saturating_sub(1);
        self.unacked = 0;
        if let Some(unread) = &mut self.unread {
            unread.pushed = false;
        }
        self.acked_up_to = self.queue.next();
        self.compressed = 0;
        self.compressed_at = None;
        self.due = Due::No;
        self.special_acknowledgment(now, flags)
    }

    /// The same, which leaves what is due (Linux since 4.18: "special ACK sent by DCTCP").
    fn special_acknowledgment(&mut self, now: Time, flags: Flags) -> Packet {
        let duplicate = self.duplicate.take();
        let mut ack = TcpAck {
            flags: flags.with(Flags::DSACK, duplicate.is_some()),
            next: self.queue.next(),
            ce_packets: self.echo.ce_packets(),
            ..self.ack(now)
        };
        if duplicate.is_some() || !self.queue.is_contiguous() {
            self.queue.report(duplicate, &mut ack);
        }
        self.packet(HEADER + sack_option_size(ack.sacks().len()), ack)
    }

    fn syn_ack(&mut self, now: Time) -> Packet {
        self.due = Due::No;
        let first = self.init.profile.rto_initial;
        let wait = self.syn_ack_again.map_or(first, |(_, wait)| wait * 2);
        self.syn_ack_again = (wait <= first * SYN_ACK_LONGEST).then_some((now + wait, wait));
        let flags = Flags::SYN.with(Flags::ACK, true);
        let ack = TcpAck { flags, next: 1, ..self.ack(now) };
        self.packet(SYN_SIZE, ack)
    }

    /// What every ACK of now says.
    fn ack(&mut self, now: Time) -> TcpAck {
        TcpAck { window: self.window(), sent_at: now, echo: self.timestamp, ..TcpAck::default() }
    }

    fn window(&mut self) -> u32 {
        match self.unread {
            None => self.tune.window(),
            Some(unread) => self.window_left(unread),
        }
    }

    fn packet(&mut self, size: u32, ack: TcpAck) -> Packet {
        let index = self.sent;
        self.sent += 1;
        self.acks.acks_sent += 1;
        self.acks.ack_bytes_sent += u64::from(size);
        self.init.backward.packet(index, size, Header::Ack(ack))
    }
}

impl Endpoint for Receiver {
    fn on_packet(&mut self, now: Time, packet: &Packet) {
        let Header::Segment(segment) = &packet.header else { return };
        self.frames += 1;
        if segment.flags.has(Flags::SYN) {
            self.timestamp = segment.sent_at;
            if let Some(control) = self.control.as_mut().filter(|_| self.due == Due::No) {
                control.on_established(now, Span::ZERO);
            }
            self.due = Due::SynAck;
            return;
        }
        if self.syn_ack_again.take().is_some() {
            self.tune.begin(now);
        }
        if segment.payload > 0 {
            self.on_data(now, packet.ecn, segment);
        } else if segment.flags.has(Flags::PROBE) {
            self.due = Due::Now;
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.flushed.take() {
            return Some(packet);
        }
        match self.due {
            Due::SynAck => Some(self.syn_ack(now)),
            Due::Now => Some(self.acknowledgment(now, self.echo.flags())),
            Due::At(_) | Due::No => None,
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        let delayed = if let Due::At(at) = self.due { Some(at) } else { None };
        let syn_ack = self.syn_ack_again.map(|(at, _)| at);
        [delayed, self.compressed_at, syn_ack].into_iter().flatten().min()
    }

    fn on_timeout(&mut self, now: Time) {
        if self.syn_ack_again.is_some_and(|(at, _)| at <= now) {
            self.due = Due::SynAck;
        } else if self.next_timeout().is_some_and(|at| at <= now) {
            self.due = Due::Now;
        }
    }

    fn report(&mut self, _now: Time, counters: &mut FlowCounters) {
        counters.received = Some(self.received);
        counters.acks = Some(self.acks);
    }
}
