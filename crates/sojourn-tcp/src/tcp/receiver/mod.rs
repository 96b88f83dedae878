//! The receiving end of a TCP flow.
//!
//! RFC 5681 §4.2 and Linux `tcp_input.c` (`__tcp_ack_snd_check`): one ACK for every `ack_every`
//! segments or after 40 ms (`patience`); at once in the quick-ACK phase when data first arrives or after
//! a long silence, when a hole is filled, for duplicates, when the application has read the end of what
//! was written (PSH), and when congestion marks require it; the first three ACKs above a hole at once, the
//! following spaced by the least of 1 ms and 5 % of the RTTs of its rounds and of the handshake (SACK
//! compression, Linux since 4.18), or before another would need more blocks. With `gro`, segments that
//! arrive back to back are acknowledged as one; so is a burst that stays one packet on its path.
//!
//! The SYN-ACK is repeated when the SYN is, and after a timeout that doubles.
//!
//! Deviation: the application reads at once unless it is given a reader (`reader`).

use super::autotune::Autotune;
use super::card_memory::CardMemory;
use super::echo::Echo;
use super::reassembly::Reassembly;
use super::{HEADER, SYN_SIZE, TcpInit, sack_option_size};
use crate::cc::CongestionControl;
use crate::counters::{AckCounters, FlowCounters, ReceiverCounters};
use crate::endpoint::Endpoint;
use crate::packet::{Flags, Header, Packet, SackBlock, TcpAck};
use crate::units::{Span, Time};

mod arrival;
mod due;
mod offered;
mod patience;
mod reader;
mod schedule;

use due::Due;
use offered::Offered;
use patience::Patience;
use reader::Unread;

/// The longest wait for an answer to a SYN-ACK, in multiples of the first wait
/// (`tcp_synack_retries` of 5).
const SYN_ACK_LONGEST: u64 = 16;

/// A TCP receiver.
pub struct Receiver {
    init: TcpInit,
    /// A control that decides about echoes.
    control: Option<Box<dyn CongestionControl>>,
    queue: Reassembly,
    echo: Echo,
    due: Due,
    /// When the SYN-ACK was sent, and after what it is sent again unless something arrives.
    syn_ack_again: Option<(Time, Span)>,
    /// An ACK with the echo's former state, to be sent before anything else.
    flushed: Option<Box<Packet>>,
    /// Duplicate segment to report in the next ACK.
    duplicate: Option<SackBlock>,
    /// Round-trip time of the handshake as this end saw it.
    handshake_rtt: Option<Span>,
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
    patience: Patience,
    /// When the timer of a delayed ACK fires, which no ACK stops.
    delay_ends: Time,
    /// The timestamp of the next ACK, if it is not the time.
    stamp: Option<Time>,
    tune: Autotune,
    offered: Offered,
    /// Data that waits for the application, if that does not read at once.
    unread: Option<Unread>,
    last_arrival: Option<Time>,
    last_in_order: Option<Time>,
    received: ReceiverCounters,
    acks: AckCounters,
    sent: u32,
    /// Memory of segments, and the number that have arrived.
    memory: CardMemory,
    frames: u32,
}

impl Receiver {
    /// A receiver waiting for a SYN.
    pub fn new(init: TcpInit) -> Self {
        let tune = Autotune::new(init.profile, init.mss, init.receive_buffer);
        Receiver {
            control: None,
            queue: Reassembly::new(1),
            echo: Echo::new(init.ecn),
            due: Due::No,
            syn_ack_again: None,
            flushed: None,
            duplicate: None,
            handshake_rtt: None,
            timestamp: Time::ZERO,
            unacked: 0,
            acked_up_to: 1,
            quick: 0,
            compressed: 0,
            compressed_at: None,
            sacks_at_hole: 0,
            hole: 0,
            patience: Patience::new(init.profile),
            delay_ends: Time::ZERO,
            stamp: None,
            offered: Offered::new(tune.window()),
            tune,
            unread: None,
            last_arrival: None,
            last_in_order: None,
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

    /// The connection that this end has opened is established; the handshake took it `rtt`.
    pub(super) fn begin(&mut self, now: Time, rtt: Span) {
        self.begin_receiving(now, rtt);
        if let Some(control) = &mut self.control {
            control.on_established(now, Span::ZERO);
        }
    }

    fn begin_receiving(&mut self, now: Time, rtt: Span) {
        self.tune.begin(now);
        self.handshake_rtt = Some(rtt);
        self.last_in_order = Some(now);
    }

    /// The timestamp that it echoes.
    pub(super) fn timestamp(&self) -> Time {
        self.timestamp
    }

    /// An ACK of everything received so far; clears the reasons for which it was due.
    #[inline(always)] // once per ACK
    fn acknowledgment(&mut self, now: Time, flags: Flags) -> Packet {
        if self.quick == 1 {
            self.patience.end();
        }
        self.quick = self.quick.saturating_sub(1);
        self.unacked = 0;
        if let Some(unread) = &mut self.unread {
            unread.pushed = false;
        }
        self.acked_up_to = self.queue.next();
        self.compressed = 0;
        self.compressed_at = None;
        self.due = Due::No;
        self.special_acknowledgment(now, flags, self.queue.next())
    }

    /// One up to `next`; what is due stays due (Linux since 4.18: "special ACK sent by DCTCP").
    #[inline(always)] // once per ACK: the packet is made where it goes
    fn special_acknowledgment(&mut self, now: Time, flags: Flags, next: u32) -> Packet {
        let duplicate = self.duplicate.take();
        let window = match self.unread {
            None => self.advertise(),
            Some(unread) => self.window_left(unread),
        };
        let mut ack = TcpAck {
            flags: flags.with(Flags::DSACK, duplicate.is_some()),
            next,
            ce_packets: self.echo.ce_packets(),
            ..self.ack(now, window)
        };
        if duplicate.is_some() || !self.queue.is_contiguous() {
            self.queue.report(duplicate, &mut ack);
        }
        self.packet(HEADER + sack_option_size(ack.sacks().len()), ack)
    }

    #[cold]
    fn syn_ack(&mut self, now: Time) -> Packet {
        self.due = Due::No;
        let first = self.init.profile.rto_initial;
        let wait = self.syn_ack_again.map_or(first, |(_, wait)| wait * 2);
        self.syn_ack_again = (wait <= first * SYN_ACK_LONGEST).then_some((now, wait));
        let flags = Flags::SYN.with(Flags::ACK, true);
        let window = self.window();
        let ack = TcpAck { flags, next: 1, ..self.ack(now, window) };
        self.packet(SYN_SIZE, ack)
    }

    /// Fields of any ACK sent now.
    fn ack(&mut self, now: Time, window: u32) -> TcpAck {
        let sent_at = self.stamp.take().unwrap_or(now);
        TcpAck { window, sent_at, echo: self.timestamp, ..TcpAck::default() }
    }

    /// The handshake's window.
    pub(super) fn window(&mut self) -> u32 {
        match self.unread {
            None => self.tune.window(),
            Some(unread) => self.window_left(unread),
        }
    }

    /// What is due.
    #[inline(never)]
    fn next_packet(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.flushed.take() {
            return Some(*packet);
        }
        match self.due {
            Due::SynAck => Some(self.syn_ack(now)),
            Due::Now => Some(self.due_acknowledgment(now)),
            Due::At(_) | Due::No => None,
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
        if let Some((sent_at, _)) = self.syn_ack_again.take() {
            self.begin_receiving(now, now.since(sent_at));
        }
        if segment.payload > 0 {
            self.on_data(now, packet.ecn, segment);
        } else if segment.flags.has(Flags::PROBE) {
            self.due = Due::Now;
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        // Mostly nothing is due.
        if matches!(self.due, Due::At(_) | Due::No) && self.flushed.is_none() {
            return None;
        }
        self.next_packet(now)
    }

    fn next_timeout(&self) -> Option<Time> {
        let delayed = if let Due::At(at) = self.due { at } else { Time::NEVER };
        let compressed = self.compressed_at.unwrap_or(Time::NEVER);
        let next = delayed.min(compressed).min(self.syn_ack_due());
        (next != Time::NEVER).then_some(next)
    }

    fn on_timeout(&mut self, now: Time) {
        if self.syn_ack_due() <= now {
            self.due = Due::SynAck;
        } else if self.next_timeout().is_some_and(|at| at <= now) {
            if self.compressed == 0 {
                self.patience.on_timer(self.own_rto());
            }
            self.due = Due::Now;
            self.stamp = self.stale_stamp(now);
        }
    }

    fn arrived(&self) -> u64 {
        self.received.in_order_bytes
    }

    fn exchanged(&self) -> Option<[u64; 2]> {
        Some([self.sent.into(), self.frames.into()])
    }

    fn report(&mut self, _now: Time, counters: &mut FlowCounters) {
        counters.received = Some(self.received);
        counters.acks = Some(self.acks);
    }
}
