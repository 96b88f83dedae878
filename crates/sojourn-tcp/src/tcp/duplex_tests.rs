//! A connection over which both ends send.

use std::collections::VecDeque;

use super::tests::{control, init};
use super::*;
use crate::counters::FlowCounters;
use crate::endpoint::Endpoint;
use crate::packet::{Header, Packet, TcpSegment};
use crate::spec::Pacing;
use crate::units::{Span, Time};

const DELAY: Span = Span::from_millis(50);
const MSS: u64 = 1448;
/// The end that answers, and the one that asks.
const SERVER: usize = 0;
const CLIENT: usize = 1;

/// Two ends with pipes between them.
struct Rig {
    now: Time,
    ends: [Duplex; 2],
    /// Packets on their way to each.
    flying: [VecDeque<(Time, Packet)>; 2],
    /// Packets that get lost, by sender and index.
    lost: Vec<(usize, u32)>,
    /// Packets sent: by whom, and when.
    sent: Vec<(usize, Time, Packet)>,
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

impl Rig {
    /// The end that asks has opened the connection and asked for something in 500 bytes.
    fn new(init: TcpInit, lost: &[(usize, u32)]) -> Self {
        let back = TcpInit { forward: init.backward, backward: init.forward, ..init };
        let sender = |init: TcpInit| Sender::new(init, control(&init, "reno", DELAY * 2));
        let answers = (sender(init), Receiver::new(back));
        let asks = (sender(back), Receiver::new(init));
        let mut rig = Rig {
            now: Time::ZERO,
            ends: Duplex::pair(answers, asks),
            flying: [VecDeque::new(), VecDeque::new()],
            lost: lost.to_vec(),
            sent: vec![],
        };
        rig.ends[CLIENT].open(rig.now);
        rig.ends[CLIENT].write(rig.now, 500);
        rig.pump();
        rig
    }

    fn pump(&mut self) {
        for end in [SERVER, CLIENT] {
            while let Some(packet) = self.ends[end].poll_transmit(self.now) {
                self.sent.push((end, self.now, packet));
                if !self.lost.contains(&(end, packet.index)) {
                    self.flying[1 - end].push_back((self.now + DELAY, packet));
                }
            }
        }
    }

    fn run(&mut self, ms: u64) {
        loop {
            let arrivals = self.flying.iter().map(|flying| flying.front().map(|(at, _)| *at));
            let timeouts = self.ends.iter().map(Endpoint::next_timeout);
            let next = arrivals.chain(timeouts).flatten().min();
            let Some(next) = next.filter(|next| *next <= at(ms)) else { break };
            self.now = next;
            for end in [SERVER, CLIENT] {
                while self.flying[end].front().is_some_and(|(at, _)| *at <= next) {
                    let (_, packet) = self.flying[end].pop_front().unwrap();
                    self.ends[end].on_packet(next, &packet);
                    self.pump();
                }
                if self.ends[end].next_timeout().is_some_and(|at| at <= next) {
                    self.ends[end].on_timeout(next);
                    self.pump();
                }
            }
        }
        self.now = at(ms);
    }

    fn answer(&mut self, bytes: u64) {
        self.ends[SERVER].write(self.now, bytes);
        self.pump();
    }

    /// Data that an end has sent.
    fn data(&self, end: usize) -> Vec<(Time, TcpSegment)> {
        let of_end = self.sent.iter().filter(|(from, ..)| *from == end);
        let segments = of_end.filter_map(|(_, at, packet)| match packet.header {
            Header::Segment(segment) if packet.is_data() => Some((*at, segment)),
            _ => None,
        });
        segments.collect()
    }

    /// What both ends report.
    fn counters(&mut self) -> FlowCounters {
        let mut counters = FlowCounters::default();
        self.ends.iter_mut().for_each(|end| end.report(self.now, &mut counters));
        counters
    }
}

#[test]
fn the_end_that_answers_begins_when_its_syn_ack_is_answered() {
    let mut rig = Rig::new(TcpInit { initial_window: 30, ..init("linux-6") }, &[]);
    rig.run(150);
    assert_eq!(rig.ends[SERVER].arrived(), 500);
    let counters = rig.counters();
    assert_eq!(counters.established_at, Some(at(150)));
    let (rtt, window) = (counters.rtt.unwrap(), counters.window.unwrap());
    assert_eq!([rtt.srtt, rtt.min_rtt], [DELAY * 2; 2]);
    assert_eq!((window.cwnd, window.ssthresh), (30, INFINITE_SSTHRESH));
    // Its first flight needs no more of the other end.
    rig.answer(40 * MSS);
    let flight = rig.data(SERVER);
    assert!(flight.len() == 30 && flight.iter().all(|(at_, _)| *at_ == at(150)), "{flight:?}");
    // It echoes the request's timestamp.
    assert_eq!(flight[0].1.echo, at(100));
    rig.run(400);
    assert_eq!(rig.ends[CLIENT].arrived(), 40 * MSS);
    assert_eq!(rig.ends[SERVER].acked(), 40 * MSS);
    assert_eq!(rig.ends[CLIENT].acked(), 500);
    assert_eq!(rig.counters().received.unwrap().in_order_bytes, 40 * MSS);
    for end in [SERVER, CLIENT] {
        let of_end = rig.sent.iter().filter(|(from, ..)| *from == end);
        let indices: Vec<u32> = of_end.map(|(.., packet)| packet.index).collect();
        assert!(indices.iter().copied().eq(0..indices.len() as u32), "{indices:?}");
    }
}

/// At two windows of the route per round trip: Linux sets that window first where it accepts.
#[test]
fn the_end_that_answers_paces_by_its_own_window() {
    let paced = TcpInit { initial_window: 30, pacing: Some(Pacing::On), ..init("linux-6") };
    let mut rig = Rig::new(paced, &[]);
    rig.run(150);
    rig.answer(40 * MSS);
    rig.run(249);
    let flight = rig.data(SERVER);
    assert_eq!(flight.len(), 30);
    let gaps = flight[10..].windows(2).map(|pair| pair[1].0.since(pair[0].0).as_millis_f64());
    let even = gaps.map(|gap| (gap - 100.0 / 60.0).abs()).fold(0.0, f64::max);
    assert!(even < 0.001, "{flight:?}");
}

#[test]
fn the_request_opens_the_connection_where_the_handshakes_last_packet_is_lost() {
    let mut rig = Rig::new(init("linux-6"), &[(CLIENT, 1)]);
    rig.run(150);
    let counters = rig.counters();
    assert_eq!(counters.established_at, Some(at(150)));
    assert_eq!(counters.rtt.unwrap().srtt, DELAY * 2);
    assert_eq!(rig.ends[SERVER].arrived(), 500);
}

#[test]
fn a_lost_request_is_sent_again_and_counted() {
    let mut rig = Rig::new(init("linux-6"), &[(CLIENT, 2)]);
    rig.run(151);
    assert_eq!(rig.ends[SERVER].arrived(), 0);
    assert_eq!(rig.counters().recovery.unwrap().retransmissions, 0);
    rig.run(2_000);
    assert_eq!(rig.ends[SERVER].arrived(), 500);
    assert!(rig.counters().recovery.unwrap().retransmissions >= 1);
}

/// Linux `tcp_init_transfer`: more than one retransmission that was needed.
#[test]
fn lost_syn_acks_leave_a_window_of_one_segment() {
    for (lost, cwnd) in [(1, 10), (2, 1)] {
        let lost: Vec<_> = (0..lost).map(|index| (SERVER, index)).collect();
        let mut rig = Rig::new(init("linux-6"), &lost);
        rig.run(3_000);
        let counters = rig.counters();
        assert_eq!(rig.ends[SERVER].arrived(), 500, "{lost:?}");
        assert_eq!(counters.window.unwrap().cwnd, cwnd, "{lost:?}");
        assert_eq!(counters.rtt.unwrap().srtt, DELAY * 2, "{lost:?}");
    }
}
