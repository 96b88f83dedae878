//! An application that reads slowly, and a relay between a fast and a slow path.

use std::collections::VecDeque;

use super::tests::{Counted, control, init};
use super::*;
use crate::counters::FlowCounters;
use crate::endpoint::Endpoint;
use crate::packet::Packet;
use crate::spec::BufferSize;
use crate::units::{Rate, Span, Time};

const MSS: u64 = 1448;

/// One way, with a rate and a delay; packets whose number is in `drop` are lost.
struct Pipe {
    rate: Rate,
    delay: Span,
    free_at: Time,
    flying: VecDeque<(Time, Packet)>,
    carried: u32,
    drop: std::ops::Range<u32>,
}

impl Pipe {
    fn new(mbps: u64) -> Self {
        Pipe {
            rate: Rate::from_bps(mbps * 1_000_000),
            delay: Span::from_millis(10),
            free_at: Time::ZERO,
            flying: VecDeque::new(),
            carried: 0,
            drop: 0..0,
        }
    }

    /// Takes all that `end` sends now.
    fn take(
        &mut self,
        now: Time,
        end: &mut dyn Endpoint,
        mine: impl Fn(&Packet) -> bool,
    ) -> Vec<Packet> {
        let mut others = vec![];
        while let Some(packet) = end.poll_transmit(now) {
            if mine(&packet) { self.carry(now, packet) } else { others.push(packet) }
        }
        others
    }

    fn carry(&mut self, now: Time, packet: Packet) {
        self.carried += 1;
        if self.drop.contains(&(self.carried - 1)) {
            return;
        }
        self.free_at = self.free_at.max(now) + self.rate.span_of(packet.size.into());
        self.flying.push_back((self.free_at + self.delay, packet));
    }

    fn next(&self) -> Option<Time> {
        self.flying.front().map(|(at, _)| *at)
    }

    fn deliver(&mut self, now: Time, end: &mut dyn Endpoint) {
        while self.next().is_some_and(|at| at <= now) {
            let (_, packet) = self.flying.pop_front().unwrap();
            end.on_packet(now, &packet);
        }
    }
}

fn is_segment(packet: &Packet) -> bool {
    matches!(packet.header, crate::packet::Header::Segment(_))
}

fn sender(init: TcpInit) -> Sender {
    Sender::new(init, control(&init, "cubic", Span::from_millis(20)))
}

fn received(end: &mut dyn Endpoint, now: Time) -> u64 {
    let mut counters = FlowCounters::default();
    end.report(now, &mut counters);
    counters.received.unwrap().in_order_bytes
}

fn sent(end: &mut dyn Endpoint, now: Time) -> FlowCounters {
    let mut counters = FlowCounters::default();
    end.report(now, &mut counters);
    counters
}

fn timeout(end: &mut dyn Endpoint, now: Time) {
    if end.next_timeout().is_some_and(|at| at <= now) {
        end.on_timeout(now);
    }
}

/// A sender on 100 Mbit/s, and an application that reads `chunk` bytes every `every`.
struct SlowReader {
    now: Time,
    sender: Sender,
    receiver: Receiver,
    pipes: [Pipe; 2],
    reads: (u64, Span),
    next_read: Time,
    read: u64,
}

impl SlowReader {
    fn new(receive_buffer: u64, reads: (u64, Span)) -> Self {
        let init = TcpInit { receive_buffer: BufferSize::Bytes(receive_buffer), ..init("linux-6") };
        let mut sender = sender(init);
        sender.open(Time::ZERO);
        SlowReader {
            now: Time::ZERO,
            sender,
            receiver: Receiver::new(init).with_reader(),
            pipes: [Pipe::new(100), Pipe::new(100)],
            reads,
            next_read: Time::ZERO + reads.1,
            read: 0,
        }
    }

    fn pump(&mut self) {
        self.pipes[0].take(self.now, &mut self.sender, |_| true);
        self.pipes[1].take(self.now, &mut self.receiver, |_| true);
    }

    fn run(&mut self, seconds: u64) {
        let end = Time::ZERO + Span::from_secs(seconds);
        loop {
            self.pump();
            let times = [
                self.sender.next_timeout(),
                self.receiver.next_timeout(),
                self.pipes[0].next(),
                self.pipes[1].next(),
                Some(self.next_read),
            ];
            let next = times.into_iter().flatten().min().unwrap();
            if next > end {
                break;
            }
            self.now = next;
            self.pipes[0].deliver(next, &mut self.receiver);
            self.pipes[1].deliver(next, &mut self.sender);
            timeout(&mut self.sender, next);
            timeout(&mut self.receiver, next);
            if next == self.next_read {
                self.read += self.receiver.read(next, self.reads.0);
                self.next_read += self.reads.1;
            }
        }
        self.now = end;
    }

    fn in_order(&mut self) -> u64 {
        received(&mut self.receiver, self.now)
    }
}

#[test]
fn a_slow_reader_closes_the_window_and_sets_the_pace() {
    // 1250 bytes every 10 ms: 1 Mbit/s.
    let mut rig = SlowReader::new(200_000, (1250, Span::from_millis(10)));
    rig.sender.write(Time::ZERO, u64::MAX);
    rig.run(10);
    assert_eq!(rig.read, 1250 * (1000 - 3), "all it asked for once the first byte was there");
    assert_eq!(rig.in_order(), rig.read + rig.receiver.readable());
    let window = (200_000.0 * 0.617_188) as u64;
    assert!(rig.receiver.readable() <= window, "{}", rig.receiver.readable());
    assert!(rig.receiver.readable() > window / 3, "{}", rig.receiver.readable());
    let limits = sent(&mut rig.sender, rig.now).limits.unwrap();
    assert!(limits.limited_by_receiver > Span::from_secs(9), "{limits:?}");
    assert_eq!(Counted::of(&mut rig.sender, rig.now).recovery.retransmissions, 0);
}

#[test]
fn a_lost_window_update_is_asked_for() {
    // Nobody reads for five seconds, then everything is read at once.
    let mut rig = SlowReader::new(100_000, (u64::MAX, Span::from_secs(5)));
    rig.sender.write(Time::ZERO, 1_000_000);
    rig.sender.close(Time::ZERO);
    rig.run(4);
    let waiting = rig.receiver.readable();
    assert!((50_000..=61_718).contains(&waiting), "{waiting}");
    // The update of the first read, and the answers to the next two probes.
    let carried = rig.pipes[1].carried;
    rig.pipes[1].drop = carried..carried + 3;
    rig.run(15);
    assert_eq!(rig.in_order(), waiting, "stuck");
    rig.run(150);
    assert_eq!((rig.read + rig.receiver.readable(), rig.in_order()), (1_000_000, 1_000_000));
    let counted = Counted::of(&mut rig.sender, rig.now);
    assert!(counted.completed_at.is_some());
    assert_eq!(counted.recovery.rtos, 0);
}

/// A fast path, a relay, a slow path.
struct Relayed {
    now: Time,
    ends: [Box<dyn Endpoint>; 3],
    /// Fast there and back, slow there and back.
    pipes: [Pipe; 4],
}

impl Relayed {
    fn new(bytes: u64) -> Self {
        let sized = |bytes| TcpInit { receive_buffer: BufferSize::Bytes(bytes), ..init("linux-6") };
        let first = sized(300_000);
        let second = TcpInit { send_buffer: BufferSize::Bytes(100_000), ..init("linux-6") };
        let mut ends: [Box<dyn Endpoint>; 3] = [
            Box::new(sender(first)),
            Box::new(Relay::new(Receiver::new(first), sender(second))),
            Box::new(Receiver::new(second)),
        ];
        ends[0].open(Time::ZERO);
        ends[0].write(Time::ZERO, bytes);
        ends[0].close(Time::ZERO);
        ends[1].open(Time::ZERO);
        Relayed { now: Time::ZERO, ends, pipes: [100, 100, 1, 100].map(Pipe::new) }
    }

    fn pump(&mut self) {
        let [sender, relay, receiver] = &mut self.ends;
        let [there, back, on, home] = &mut self.pipes;
        there.take(self.now, &mut **sender, |_| true);
        for ack in on.take(self.now, &mut **relay, is_segment) {
            back.carry(self.now, ack);
        }
        home.take(self.now, &mut **receiver, |_| true);
    }

    fn run(&mut self, seconds: u64) {
        let end = Time::ZERO + Span::from_secs(seconds);
        loop {
            self.pump();
            let timeouts = self.ends.iter().filter_map(|end| end.next_timeout());
            let next = self.pipes.iter().filter_map(Pipe::next).chain(timeouts).min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.now = next;
            let [sender, relay, receiver] = &mut self.ends;
            let [there, back, on, home] = &mut self.pipes;
            there.deliver(next, &mut **relay);
            back.deliver(next, &mut **sender);
            on.deliver(next, &mut **receiver);
            home.deliver(next, &mut **relay);
            self.ends.iter_mut().for_each(|end| timeout(&mut **end, next));
        }
        self.now = end;
    }
}

#[test]
fn a_relay_goes_no_faster_than_what_follows() {
    let mut rig = Relayed::new(u64::MAX);
    rig.run(20);
    let arrived = received(&mut *rig.ends[2], rig.now);
    let relayed = received(&mut *rig.ends[1], rig.now);
    let rate = arrived as f64 * 8.0 / 20.0;
    assert!((0.9e6..0.97e6).contains(&rate), "payload of 1 Mbit/s: {rate}");
    // Bytes between the two: a window's worth, the send buffer, the data in the slow pipe.
    assert!(relayed - arrived <= 185_156 + 100_000 + MSS, "{relayed} {arrived}");
    let first = sent(&mut *rig.ends[0], rig.now);
    let limits = first.limits.unwrap();
    assert!(limits.limited_by_receiver > Span::from_secs(16), "{limits:?}");
    assert_eq!(first.recovery.unwrap().retransmissions, 0);
}

#[test]
fn a_relay_conserves_bytes_despite_losses() {
    let mut rig = Relayed::new(2_000_000);
    rig.pipes[0].drop = 40..55;
    rig.pipes[2].drop = 200..203;
    rig.run(60);
    assert_eq!(received(&mut *rig.ends[1], rig.now), 2_000_000);
    assert_eq!(received(&mut *rig.ends[2], rig.now), 2_000_000);
    assert!(sent(&mut *rig.ends[0], rig.now).completed_at.is_some());
    rig.ends[1].close(rig.now);
    assert!(sent(&mut *rig.ends[1], rig.now).completed_at.is_some());
}
