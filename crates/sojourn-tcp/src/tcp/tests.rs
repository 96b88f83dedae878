//! Two endpoints joined by an ideal pipe: one-way delay, chosen losses, optional marks.

use std::collections::VecDeque;

use super::*;
use crate::catalogue::builtin;
use crate::cc::CongestionControl;
use crate::counters::{FlowCounters, ReceiverCounters, RecoveryCounters, WindowCounters};
use crate::endpoint::Endpoint;
use crate::packet::{Ecn, Flags, Header, Packet, TcpSegment};
use crate::rng::StreamKey;
use crate::spec::Cca;
use crate::units::{Span, Time};

/// A sender and a receiver with a pipe between them; every packet sent is logged.
pub(super) struct Rig {
    pub now: Time,
    pub sender: Sender,
    pub receiver: Receiver,
    /// One-way delay of packets sent from now on.
    pub delay: Span,
    /// Time that a data packet takes on the bottleneck, and when that is free.
    pub serialisation: Span,
    free_at: Time,
    to_receiver: VecDeque<(Time, Packet)>,
    to_sender: VecDeque<(Time, Packet)>,
    /// Indices of data packets that the pipe drops.
    pub drop: Vec<u32>,
    /// Indices of data packets that are marked CE.
    pub mark: Vec<u32>,
    data_sent: u32,
    /// Data packets sent: when, segment.
    pub sent: Vec<(f64, u32)>,
    /// ACKs sent: when, next expected.
    pub acks: Vec<(f64, u32)>,
}

pub(super) fn init(profile: &str) -> TcpInit {
    TcpInit::new(Profile::named(profile).unwrap())
}

pub(super) fn control(init: &TcpInit, name: &str, rtt: Span) -> Box<dyn CongestionControl> {
    let about = Sender::control_init(init, rtt, StreamKey::root(1));
    let params = serde_json::Map::new();
    (builtin().find::<Cca>(name).unwrap().make)(&params, &about, builtin()).unwrap()
}

fn seq_of(packet: &Packet) -> u32 {
    let Header::Segment(segment) = &packet.header else { panic!("not a segment: {packet:?}") };
    segment.seq
}

fn ack_of(packet: &Packet) -> crate::packet::TcpAck {
    let Header::Ack(ack) = packet.header else { panic!("not an ACK: {packet:?}") };
    ack
}

impl Rig {
    pub(super) fn new(init: TcpInit, control: &str, rtt_ms: u64) -> Self {
        let control = self::control(&init, control, Span::from_millis(rtt_ms));
        Rig::with(init, control, rtt_ms)
    }

    pub(super) fn with(init: TcpInit, control: Box<dyn CongestionControl>, rtt_ms: u64) -> Self {
        Rig {
            now: Time::ZERO,
            sender: Sender::new(init, control),
            receiver: Receiver::new(init),
            delay: Span::from_millis(rtt_ms) / 2,
            serialisation: Span::ZERO,
            free_at: Time::ZERO,
            to_receiver: VecDeque::new(),
            to_sender: VecDeque::new(),
            drop: vec![],
            mark: vec![],
            data_sent: 0,
            sent: vec![],
            acks: vec![],
        }
    }

    pub(super) fn start(&mut self, bytes: u64) {
        self.sender.open(self.now);
        self.sender.write(self.now, bytes);
        if bytes < u64::MAX {
            self.sender.close(self.now);
        }
        self.pump();
    }

    fn ms(&self) -> f64 {
        self.now.as_nanos() as f64 / 1e6
    }

    pub(super) fn pump(&mut self) {
        while let Some(mut packet) = self.sender.poll_transmit(self.now) {
            if packet.is_data() {
                self.sent.push((self.ms(), seq_of(&packet)));
                let index = self.data_sent;
                self.data_sent += 1;
                if self.drop.contains(&index) {
                    continue;
                }
                if self.mark.contains(&index) {
                    packet.ecn = Ecn::Ce;
                }
            }
            self.free_at = self.now.max(self.free_at);
            if packet.is_data() {
                self.free_at += self.serialisation;
            }
            self.to_receiver.push_back((self.free_at + self.delay, packet));
        }
        while let Some(packet) = self.receiver.poll_transmit(self.now) {
            self.acks.push((self.ms(), ack_of(&packet).next));
            self.to_sender.push_back((self.now + self.delay, packet));
        }
    }

    /// Runs until `ms`.
    pub(super) fn run(&mut self, ms: f64) {
        let end = Time::from_nanos((ms * 1e6) as u64);
        loop {
            let timeouts = [self.sender.next_timeout(), self.receiver.next_timeout()];
            let arrivals = [&self.to_receiver, &self.to_sender].map(|q| q.front().map(|p| p.0));
            let next = timeouts.iter().chain(&arrivals).flatten().min().copied();
            let Some(next) = next.filter(|&next| next <= end) else { break };
            assert!(next >= self.now, "time runs backwards");
            self.now = next;
            if arrivals[0] == Some(next) {
                let (_, packet) = self.to_receiver.pop_front().unwrap();
                self.receiver.on_packet(next, &packet);
            } else if arrivals[1] == Some(next) {
                let (_, packet) = self.to_sender.pop_front().unwrap();
                self.sender.on_packet(next, &packet);
            } else if timeouts[0] == Some(next) {
                self.sender.on_timeout(next);
            } else {
                self.receiver.on_timeout(next);
            }
            self.pump();
        }
        self.now = end;
    }

    fn counters(&mut self) -> Counted {
        Counted::of(&mut self.sender, self.now)
    }

    fn received(&mut self) -> ReceiverCounters {
        let mut counters = FlowCounters::default();
        self.receiver.report(self.now, &mut counters);
        counters.received.unwrap()
    }
}

/// Counters of a sender.
#[derive(Debug)]
pub(super) struct Counted {
    pub window: WindowCounters,
    pub recovery: RecoveryCounters,
    pub completed_at: Option<Time>,
}

impl Counted {
    pub(super) fn of(sender: &mut Sender, now: Time) -> Self {
        let mut counters = FlowCounters::default();
        sender.report(now, &mut counters);
        let FlowCounters { window, recovery, completed_at, .. } = counters;
        Counted { window: window.unwrap(), recovery: recovery.unwrap(), completed_at }
    }
}

#[test]
fn slow_start_doubles_every_round() {
    let mut init = init("linux-6");
    init.ack_every = 1;
    let mut rig = Rig::new(init, "reno", 100);
    rig.start(u64::MAX);
    rig.run(650.0);
    for round in 0..5u32 {
        let at = 100.0 * f64::from(round + 1);
        let sent = rig.sent.iter().filter(|(t, _)| (t - at).abs() < 1.0).count();
        assert_eq!(sent, 10 << round, "round {round}");
    }
}

#[test]
fn a_transfer_completes_and_conserves_bytes() {
    for profile in ["linux-6", "linux-5.1", "linux-4.9", "ns3", "rfc"] {
        let mut rig = Rig::new(init(profile), "reno", 50);
        rig.drop = vec![3, 11, 12, 13, 40, 41, 77, 90, 91, 92, 93, 94, 150];
        rig.start(1_000_000);
        rig.run(30_000.0);
        let counters = rig.counters();
        assert!(counters.completed_at.is_some(), "{profile}: {counters:?}");
        assert_eq!(rig.received().delivered_bytes, 1_000_000, "{profile}");
        assert_eq!(rig.received().in_order_bytes, 1_000_000, "{profile}");
        assert!(counters.recovery.retransmissions >= 13, "{profile}");
    }
}

#[test]
fn one_loss_costs_one_retransmission_after_one_round() {
    let mut rig = Rig::new(init("linux-6"), "reno", 100);
    rig.drop = vec![20];
    rig.start(u64::MAX);
    rig.run(1000.0);
    let counters = rig.counters();
    assert_eq!((counters.recovery.retransmissions, counters.recovery.rtos), (1, 0));
    assert_eq!(counters.recovery.lost, 1);
    assert_eq!(counters.recovery.recoveries, 1);
}

/// Linux `tcp_clean_rtx_queue`: an ACK that also acknowledges the segment before the hole, which waited for
/// a second one, is no sign of reordering; a quarter of the round trip would pass before the next step.
#[test]
fn a_delayed_ack_that_meets_a_hole_is_not_taken_for_reordering() {
    for lost in 300..304 {
        let held = TcpInit { receive_buffer: BufferSize::Bytes(1 << 17), ..init("linux-6") };
        let mut rig = Rig::new(held, "reno", 40);
        rig.serialisation = Span::from_micros(600);
        rig.drop = vec![lost];
        rig.start(u64::MAX);
        rig.run(2000.0);
        let seq = rig.sent[lost as usize].1;
        let times: Vec<f64> = rig.sent.iter().filter(|sent| sent.1 == seq).map(|s| s.0).collect();
        assert!(times.len() == 2 && times[1] - times[0] < 46.0, "{lost}: {times:?}");
    }
}

/// A stack that tolerates reordering.
static TOLERANT: Profile = Profile {
    loss_detection: LossDetection::ReorderingTolerant,
    rto_initial: Span::from_secs(6),
    ..RFC
};

/// A hole has one more RTT and four deviations to be filled.
#[test]
fn the_tolerant_wait_another_round_before_they_send_again() {
    let repeated_after = |profile| {
        let held = TcpInit { receive_buffer: BufferSize::Bytes(1 << 16), ..init("rfc") };
        let mut rig = Rig::new(TcpInit { profile, ..held }, "reno", 40);
        rig.serialisation = Span::from_micros(600);
        rig.drop = vec![300];
        rig.start(u64::MAX);
        rig.run(2000.0);
        let counted = rig.counters().recovery;
        assert_eq!((counted.retransmissions, counted.rtos), (1, 0));
        let seq = rig.sent[300].1;
        let times: Vec<f64> = rig.sent.iter().filter(|sent| sent.1 == seq).map(|s| s.0).collect();
        times[1] - times[0]
    };
    let usual = repeated_after(Profile::named("rfc").unwrap());
    let patient = repeated_after(&TOLERANT);
    assert!((1.0..1.2).contains(&(usual / 40.0)), "{usual}");
    assert!((2.0..2.8).contains(&(patient / 40.0)), "{patient}");
}

#[test]
fn timeouts_back_off_exponentially() {
    let mut rig = Rig::new(init("linux-6"), "reno", 100);
    // The handshake passes, all data is lost.
    rig.drop = (0..1000).collect();
    rig.start(1448);
    rig.run(20_000.0);
    let times: Vec<f64> = rig.sent.iter().map(|(t, _)| *t).collect();
    // First at 100 ms; a probe (2 RTT + 200 ms, capped by the timeout of SRTT + 4 x 50 ms);
    // then timeouts that double, but for the wheel's slots.
    let gaps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    let last: Vec<f64> = gaps[2..].windows(2).map(|w| w[1] / w[0]).collect();
    assert!(last.iter().all(|ratio| (ratio - 2.0).abs() < 0.2), "{times:?}");
}

#[test]
fn tail_loss_is_probed_after_two_round_trips() {
    let mut rig = Rig::new(init("linux-6"), "reno", 100);
    rig.drop = vec![9];
    rig.start(14_480);
    rig.run(2000.0);
    let counters = rig.counters();
    assert_eq!((counters.recovery.probes, counters.recovery.rtos), (1, 0));
    // Two RTTs and a delayed ACK, but not past the timeout: 300 ms after the last ACK at 200 ms.
    // The timer of 300 ms is in a slot that ends after 504 ms.
    assert_eq!(counters.completed_at, Some(Time::ZERO + Span::from_millis(604)));
}

#[test]
fn delayed_acks_come_for_every_second_segment_after_the_quick_phase() {
    let mut init = init("linux-6");
    // ACKs are not delayed while the receive window grows: let it reach its limit early.
    init.receive_buffer = BufferSize::Bytes(200_000);
    let mut rig = Rig::new(init, "reno", 100);
    rig.start(u64::MAX);
    rig.run(5050.0);
    let acks = rig.acks.len() as f64;
    let segments = rig.receiver_segments() as f64;
    assert!((segments / acks - 2.0).abs() < 0.1, "{segments} segments, {acks} ACKs");
}

impl Rig {
    fn receiver_segments(&mut self) -> u64 {
        self.received().delivered_bytes / 1448
    }
}

#[test]
fn a_mark_cuts_once_per_round_without_retransmission() {
    let mut init = init("linux-6");
    init.ecn = EcnMode::Classic;
    let mut rig = Rig::new(init, "reno", 100);
    rig.mark = vec![30, 31, 35];
    rig.start(u64::MAX);
    rig.run(800.0);
    let counters = rig.counters();
    assert_eq!(counters.recovery.retransmissions, 0);
    assert_eq!(rig.received().ce_received, 3);
    assert_eq!(counters.window.ssthresh, 20, "half of the window of 40 at the echo: {counters:?}");
}

#[test]
fn gro_makes_stretch_acks() {
    let segments_per_ack = |gro: bool| {
        let mut init = init("linux-6");
        init.gro = gro.then_some(Span::from_micros(50));
        let mut rig = Rig::new(init, "reno", 100);
        rig.start(u64::MAX);
        rig.run(1000.0);
        rig.receiver_segments() as f64 / rig.acks.len() as f64
    };
    assert!(segments_per_ack(false) < 2.1);
    assert!(segments_per_ack(true) > 10.0);
}

/// A burst that stays one packet is acknowledged once, when all of it is there.
#[test]
fn whole_bursts_are_acknowledged_as_one() {
    let segments_per_ack = |whole_bursts: bool| {
        let init = TcpInit { offload: true, whole_bursts, ..init("linux-4.9") };
        let mut rig = Rig::new(init, "reno", 100);
        rig.start(u64::MAX);
        rig.run(1000.0);
        rig.receiver_segments() as f64 / rig.acks.len() as f64
    };
    assert!(segments_per_ack(false) < 2.1);
    assert!(segments_per_ack(true) > 2.5);
}

/// The receiver's ACKs for the segments `arrivals` (time in ms, number, whether CE-marked), sent by
/// `until`: each as its time in ms, next expected segment, and SACK blocks.
fn answers(profile: &str, ecn: EcnMode, arrivals: &[(f64, u32, bool)], until: f64) -> Vec<String> {
    let mut receiver = Receiver::new(TcpInit { ecn, ..init(profile) });
    let at = |ms: f64| Time::ZERO + Span::from_secs_f64(ms / 1e3);
    let mut answers = vec![];
    let mut collect = |receiver: &mut Receiver, now: Time| {
        while let Some(packet) = receiver.poll_transmit(now) {
            let ack = ack_of(&packet);
            let blocks = ack.sacks().iter().map(|b| format!(" {}-{}", b.start, b.end - 1));
            let ms = now.as_nanos() as f64 / 1e6;
            let ece = if ack.flags.has(Flags::ECE) { " ece" } else { "" };
            let blocks = blocks.collect::<String>();
            answers.push(format!("{ms}: {}{blocks}{ece}", ack.next));
        }
    };
    let mut run = |receiver: &mut Receiver, end: Time| {
        while let Some(next) = receiver.next_timeout().filter(|&next| next <= end) {
            receiver.on_timeout(next);
            collect(receiver, next);
        }
        collect(receiver, end);
    };
    for &(ms, seq, ce) in arrivals {
        run(&mut receiver, at(ms));
        let ecn = if ce { Ecn::Ce } else { Ecn::Ect0 };
        let segment = TcpSegment {
            seq,
            payload: 1448,
            sent_at: at(ms),
            // The sender echoes what was sent one RTT of 100 ms earlier.
            echo: at(ms - 100.0),
            ..TcpSegment::default()
        };
        let packet = Packet { ecn, header: Header::Segment(segment), ..Packet::default() };
        receiver.on_packet(at(ms), &packet);
        run(&mut receiver, at(ms));
    }
    run(&mut receiver, at(until));
    answers
}

/// Segments 1..=40 in order, one per ms from 101 ms on: past the quick phase and the growth of
/// the receive window.
fn warm() -> Vec<(f64, u32, bool)> {
    (1..=40).map(|seq| (100.0 + f64::from(seq), seq, false)).collect()
}

#[test]
fn a_lone_segment_is_acknowledged_after_40_ms() {
    let mut arrivals = warm();
    arrivals.extend([(141.0, 41, false), (150.0, 42, false)]);
    let acks = answers("linux-6", EcnMode::Off, &arrivals, 300.0);
    assert_eq!(acks.last().unwrap(), "191: 43");
}

/// The window grows with the marked segment above the hole, which adds one to the two of the mark.
#[test]
fn a_mark_makes_two_acks_quick_before_the_window_grows() {
    let mut arrivals = warm();
    arrivals.extend((0..12).map(|i| (150.0 + 0.25 * f64::from(i), 42 + i, i == 0)));
    let acks = answers("linux-6", EcnMode::Classic, &arrivals, 152.0);
    // Three quick ones, and the first three SACKs.
    let soon = acks.iter().filter(|ack| ack.starts_with("15")).count();
    assert_eq!((soon, acks.last().unwrap().as_str()), (3 + 3 + 1, "152.6: 41 42-52 ece"));
}

#[test]
fn the_first_three_sacks_go_at_once_the_rest_every_millisecond() {
    let mut arrivals = warm();
    arrivals.push((141.0, 41, false));
    arrivals.extend((0..12).map(|i| (150.0 + 0.25 * f64::from(i), 43 + i, false)));
    let acks = answers("linux-6", EcnMode::Off, &arrivals, 160.0);
    assert_eq!(
        acks[acks.len() - 6..acks.len() - 1],
        [
            // The window grows once more, so that this one does not count.
            "150: 42 43-43",
            "150.25: 42 43-44",
            "150.5: 42 43-45",
            "150.75: 42 43-46",
            // The timer is 0.1 ms late.
            "152.1: 42 43-51",
        ][..]
    );
}

/// ACKs are quick from the first segment in order on, but one above a hole is so because the window grows,
/// and none after it.
#[test]
fn four_sacks_go_at_once_where_the_first_segment_is_lost() {
    let mut arrivals: Vec<_> =
        (0..8).map(|i| (150.0 + 0.25 * f64::from(i), 2 + i, false)).collect();
    arrivals.extend([(153.0, 1, false), (154.0, 10, false), (155.0, 11, false)]);
    let acks = answers("linux-6", EcnMode::Off, &arrivals, 160.0);
    assert_eq!(
        acks[..5],
        ["150: 1 2-2", "150.25: 1 2-3", "150.5: 1 2-4", "150.75: 1 2-5", "152.1: 1 2-9"][..]
    );
    assert_eq!(acks[5..], ["153: 10", "155: 12"][..]);
}

#[test]
fn before_sack_compression_every_sack_goes_at_once() {
    let mut arrivals = warm();
    arrivals.extend((0..8).map(|i| (150.0 + 0.25 * f64::from(i), 42 + i, false)));
    let acks = answers("linux-4.9", EcnMode::Off, &arrivals, 160.0);
    assert_eq!(acks.last().unwrap(), "151.75: 41 42-49");
    assert_eq!(acks[acks.len() - 2], "151.5: 41 42-48");
}

#[test]
fn a_filled_hole_and_a_duplicate_are_acknowledged_at_once() {
    let mut arrivals = warm();
    arrivals.extend([
        (150.0, 43, false),
        (151.0, 42, false),
        (152.0, 41, false),
        (153.0, 42, false),
    ]);
    let acks = answers("linux-6", EcnMode::Off, &arrivals, 153.0);
    assert_eq!(
        acks[acks.len() - 4..],
        ["150: 41 43-43", "151: 41 42-43", "152: 44", "153: 44 42-42"][..]
    );
}

/// Linux `tcp_send_dupack`, `tcp_dec_quickack_mode`: the ACK of an old segment is none of the quick ones.
#[test]
fn sixteen_quick_acks_follow_that_of_an_old_segment() {
    let mut arrivals = warm();
    // No ACK is pending when the old one arrives.
    arrivals.extend([(141.0, 41, false), (150.0, 20, false)]);
    arrivals.extend((42..=80).map(|seq| (110.0 + f64::from(seq), seq, false)));
    let acks = answers("linux-6", EcnMode::Off, &arrivals, 190.0);
    let old = acks.iter().position(|ack| ack == "150: 42 20-20").unwrap();
    assert_eq!(acks[old + 16..][..3], ["167: 58", "169: 60", "171: 62"][..]);
}

#[test]
fn a_mark_is_echoed_at_once() {
    let mut arrivals = warm();
    arrivals.extend([(150.0, 41, true), (151.0, 42, false)]);
    let acks = answers("linux-6", EcnMode::Classic, &arrivals, 152.0);
    assert_eq!(acks[acks.len() - 2..], ["150: 42 ece", "151: 43 ece"][..]);
}

/// The kernel (6.18) does the same: in runs of 4 s, bursts of 4 and of 7 were by far the commonest.
#[test]
fn unpaced_senders_send_a_millisecond_at_once() {
    for profile in ["linux-6", "linux-5.1"] {
        for (mbps, commonest) in [(8, 2), (50, 4), (80, 7)] {
            let mut rig = Rig::new(TcpInit { offload: true, ..init(profile) }, "reno", 40);
            rig.serialisation = Span::from_nanos(1500 * 8 * 1000 / mbps);
            // Ends slow start, in which bursts are longer.
            rig.drop = vec![5 * mbps as u32];
            rig.start(u64::MAX);
            rig.run(4000.0);
            let mut bursts = vec![0; 100];
            let steady: Vec<_> = rig.sent.iter().filter(|(at, _)| *at > 2000.0).collect();
            for burst in steady.chunk_by(|a, b| b.0 == a.0) {
                bursts[burst.len()] += burst.len();
            }
            let share = bursts[commonest] as f64 / steady.len() as f64;
            assert!(share > 0.85, "{profile}, {mbps} Mbit/s: {bursts:?}");
        }
    }
}

#[test]
fn cubic_grows_like_reno_in_slow_start() {
    let mut rig = Rig::new(TcpInit { ack_every: 1, ..init("linux-6") }, "cubic", 100);
    rig.start(u64::MAX);
    rig.run(450.0);
    let sent = rig.sent.iter().filter(|(t, _)| (*t - 400.0).abs() < 1.0).count();
    assert_eq!(sent, 80);
}

#[test]
fn idle_connections_restart_from_the_initial_window() {
    for initial_window in [10, 30] {
        let mut rig = Rig::new(TcpInit { initial_window, ..init("linux-6") }, "reno", 100);
        rig.sender.open(rig.now);
        rig.sender.write(rig.now, 400 * 1448);
        rig.pump();
        rig.run(3000.0);
        let before = rig.counters().window.cwnd;
        rig.sender.write(rig.now, 400 * 1448);
        rig.pump();
        assert!(before > 100, "{before}");
        assert_eq!(rig.counters().window.cwnd, initial_window);
    }
}
