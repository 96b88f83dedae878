//! An end of a connection over which both ends send: one asks, the other one answers.
//!
//! A [`Sender`] and the other end's [`Receiver`] are half of a connection, one way. Here two halves
//! have one handshake, that of the end that asks. The other end's sender begins when that handshake
//! is complete there, with the round trip from its SYN-ACK to the answer (Linux
//! `tcp_synack_rtt_meas`), an infinite threshold, and the initial window. Segments of one half echo
//! the timestamps of the other half's, as they do in Linux: the receiver that measures the round
//! trip by them measures the time that the other end took to answer, too.
//!
//! Deviation: acknowledgments are packets of their own, where Linux lets a segment that is sent in
//! the other direction carry one. The first window of the end that asks is that of one that accepts,
//! a segment more than Linux's. There is no FIN: where a connection carries one response, with an odd
//! number of segments, the last acknowledgment may wait, while Linux's client closes and sends it.

use super::{Receiver, Sender};
use crate::counters::FlowCounters;
use crate::counters::histogram::Histogram;
use crate::endpoint::Endpoint;
use crate::observe::Observer;
use crate::packet::{Flags, Header, Packet};
use crate::units::Time;

/// One end: the one that asks opens the connection, the one that answers accepts it.
///
/// Of the flow that they report, the end that answers is the sender. Its counters are those of the
/// answers; retransmissions and timeouts of what is asked are counted with theirs, if the end that
/// answers reports first.
pub struct Duplex {
    sender: Sender,
    receiver: Receiver,
    role: Role,
    /// Packets sent.
    sent: u32,
}

/// What an end does besides sending and receiving.
enum Role {
    /// It opens the connection.
    Asks,
    /// It accepts the connection. The other end's first window; number of SYN-ACKs sent, and when
    /// the first of them was.
    Answers { window: u32, syn_acks: Option<(u32, Time)> },
}

impl Duplex {
    /// The two ends of a connection: the one that answers, of these, and the one that asks.
    /// Addresses of the one's sender and the other's receiver must be each other's.
    pub fn pair(answers: (Sender, Receiver), asks: (Sender, Receiver)) -> [Duplex; 2] {
        let (sender, mut receiver) = asks;
        let window = receiver.window();
        [Duplex::of(answers, window), Duplex::asks(sender, receiver)]
    }

    /// The end that asks, whose other end is elsewhere.
    pub fn asks(sender: Sender, receiver: Receiver) -> Self {
        Duplex { sender, receiver, role: Role::Asks, sent: 0 }
    }

    /// The end that answers, whose other end is elsewhere and has a receive buffer like its own.
    pub fn answers(sender: Sender, mut receiver: Receiver) -> Self {
        let window = receiver.window();
        Duplex::of((sender, receiver), window)
    }

    /// The end that answers one whose first window is `window` bytes.
    fn of((sender, receiver): (Sender, Receiver), window: u32) -> Self {
        Duplex { sender, receiver, role: Role::Answers { window, syn_acks: None }, sent: 0 }
    }

    /// Bytes that have arrived in order and wait to be read, if its receiver has a reader.
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// Reads `most` bytes, or all there are; returns how many. To be followed by `poll_transmit`: the
    /// window may open.
    pub fn read(&mut self, now: Time, most: u64) -> u64 {
        self.receiver.read(now, most)
    }

    /// Bytes that its send buffer would take.
    pub fn room(&self) -> u64 {
        self.sender.room()
    }

    /// The handshake is complete when anything but its SYN arrives at the end that answers.
    fn accept(&mut self, now: Time, answered: Time) {
        if let Role::Answers { window, syn_acks: Some(syn_acks) } = self.role {
            self.sender.accept(now, answered, syn_acks, window);
        }
    }

    /// A packet of the receiver is sent.
    fn note(&mut self, now: Time, packet: &Packet) {
        self.sender.shares_queue(packet.size);
        let Header::Ack(ack) = &packet.header else { return };
        if ack.flags.has(Flags::SYN)
            && let Role::Answers { syn_acks, .. } = &mut self.role
        {
            let (sent, first) = syn_acks.unwrap_or((0, now));
            *syn_acks = Some((sent + 1, first));
        }
    }
}

impl Endpoint for Duplex {
    fn on_packet(&mut self, now: Time, packet: &Packet) {
        let was_open = self.sender.is_open();
        if let Header::Segment(segment) = &packet.header {
            self.receiver.on_packet(now, packet);
            self.sender.heard(self.receiver.timestamp());
            if !was_open && !segment.flags.has(Flags::SYN) {
                self.accept(now, segment.echo);
            }
            return;
        }
        self.sender.on_packet(now, packet);
        if !was_open && self.sender.is_open() {
            self.receiver.begin(now, self.sender.srtt());
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let packet = match self.receiver.poll_transmit(now) {
            Some(packet) => {
                self.note(now, &packet);
                packet
            }
            None => self.sender.poll_transmit(now)?,
        };
        let index = self.sent;
        self.sent += 1;
        Some(Packet { index, ..packet })
    }

    fn next_timeout(&self) -> Option<Time> {
        let timeouts = [self.receiver.next_timeout(), self.sender.next_timeout()];
        timeouts.into_iter().flatten().min()
    }

    fn on_timeout(&mut self, now: Time) {
        self.receiver.on_timeout(now);
        if self.sender.next_timeout().is_some_and(|at| at <= now) {
            self.sender.on_timeout(now);
        }
    }

    fn on_departure(&mut self, now: Time, bytes: u32) {
        self.sender.on_departure(now, bytes);
    }

    fn report(&mut self, now: Time, counters: &mut FlowCounters) {
        if let Role::Answers { .. } = self.role {
            return self.sender.report(now, counters);
        }
        self.receiver.report(now, counters);
        let mut own = FlowCounters::default();
        self.sender.report(now, &mut own);
        if let (Some(all), Some(own)) = (&mut counters.recovery, own.recovery) {
            all.retransmissions += own.retransmissions;
            all.rtos += own.rtos;
        }
    }

    fn open(&mut self, now: Time) {
        self.sender.open(now);
    }

    fn write(&mut self, now: Time, bytes: u64) {
        self.sender.write(now, bytes);
    }

    fn close(&mut self, now: Time) {
        self.sender.close(now);
    }

    fn stop(&mut self, now: Time) {
        self.sender.stop(now);
    }

    fn acked(&self) -> u64 {
        self.sender.acked()
    }

    fn arrived(&self) -> u64 {
        self.receiver.arrived()
    }

    fn unsent(&self) -> u64 {
        self.sender.unsent()
    }

    fn exchanged(&self) -> Option<[u64; 2]> {
        let ([_, acks], [_, segments]) = self.sender.exchanged().zip(self.receiver.exchanged())?;
        Some([self.sent.into(), acks + segments])
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.sender.observe(out);
    }

    fn rtt_histogram(&self) -> Option<&Histogram> {
        self.sender.rtt_histogram()
    }

    fn end_warmup(&mut self) {
        self.sender.end_warmup();
    }
}
