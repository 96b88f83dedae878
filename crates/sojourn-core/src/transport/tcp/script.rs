//! Packet-level behaviour of the sender, as tables: what arrives when, what must be sent, and the
//! window. The situations are those that public packetdrill scripts for Linux describe (fast
//! recovery, SACK, tail loss probe, reordering, timeout and F-RTO, ECN); the tables are our own.
//!
//! Lines: `TIME ack NEXT [sack A-B ...] [dsack A-B] [ece]`, `TIME sent A-B C ...` (all segments
//! sent since the last such line, by that time; `-` for none), `TIME cwnd N`, `TIME write BYTES`.
//! Times in ms since the handshake began; the handshake takes 100 ms; A-B includes B.

use super::tests::{Counted, control as control_of, init};
use super::*;
use crate::packet::{Flags, Header, Packet, SackBlock, TcpAck};
use crate::spec::EcnMode;
use crate::transport::Endpoint;
use crate::units::{Span, Time};

struct Script {
    sender: Sender,
    sent: Vec<u32>,
    /// The receiver's left edge, and the timestamp it echoes.
    edge: u32,
    echo: Time,
    /// When each segment was last sent, for timestamp echoes.
    sent_at: std::collections::BTreeMap<u32, Time>,
}

fn at(ms: &str) -> Time {
    Time::ZERO + Span::from_secs_f64(ms.parse::<f64>().unwrap() / 1e3)
}

fn range(text: &str) -> (u32, u32) {
    let (a, b) = text.split_once('-').unwrap_or((text, text));
    (a.parse().unwrap(), b.parse().unwrap())
}

impl Script {
    fn new(init: TcpInit, control: &str, bytes: u64) -> Self {
        let control = control_of(&init, control, Span::from_millis(100));
        let sender = Sender::new(init, control);
        let mut script =
            Script { sender, sent: vec![], edge: 1, echo: at("50"), sent_at: Default::default() };
        script.sender.open(Time::ZERO);
        script.sender.write(Time::ZERO, bytes);
        script.pump(Time::ZERO);
        let flags = Flags::SYN.with(Flags::ACK, true);
        let ack = TcpAck { flags, next: 1, window: 10_000_000, ..TcpAck::default() };
        script.deliver(at("100"), ack);
        script
    }

    fn deliver(&mut self, now: Time, ack: TcpAck) {
        self.sender.on_packet(now, &Packet { header: Header::Ack(ack), ..Packet::default() });
        self.pump(now);
    }

    fn pump(&mut self, now: Time) {
        while let Some(packet) = self.sender.poll_transmit(now) {
            let Header::Segment(segment) = packet.header else { continue };
            if segment.payload > 0 {
                self.sent.push(segment.seq);
                self.sent_at.insert(segment.seq, now);
            }
        }
    }

    fn run_until(&mut self, end: Time) {
        while let Some(next) = self.sender.next_timeout().filter(|&next| next <= end) {
            self.sender.on_timeout(next);
            self.pump(next);
        }
    }

    fn ack(&mut self, now: Time, words: &[&str]) {
        let mut ack = TcpAck { window: 10_000_000, ..TcpAck::default() };
        ack.next = words[0].parse().unwrap();
        // The timestamp echoed is that of the segment that last moved the receiver's left edge.
        if ack.next > self.edge {
            self.echo = self.sent_at[&self.edge];
            self.edge = ack.next;
        }
        ack.echo = self.echo;
        ack.flags = Flags::ACK;
        let mut blocks = vec![];
        for word in &words[1..] {
            match *word {
                "sack" => {}
                "dsack" => ack.flags = ack.flags.with(Flags::DSACK, true),
                "ece" => ack.flags = ack.flags.with(Flags::ECE, true),
                // The receiver saw the original: its timestamp is older than any retransmission.
                "original" => ack.echo = at("100"),
                block => {
                    let (start, last) = range(block);
                    blocks.push(SackBlock { start, end: last + 1 });
                }
            }
        }
        ack.set_sacks(blocks.into_iter());
        self.deliver(now, ack);
    }

    fn line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let now = at(words[0]);
        self.run_until(now);
        match words[1] {
            "ack" => self.ack(now, &words[2..]),
            "sent" => {
                let list = words[2..].iter().filter(|word| **word != "-");
                let expected: Vec<u32> = list
                    .flat_map(|word| {
                        let (a, b) = range(word);
                        a..=b
                    })
                    .collect();
                assert_eq!(std::mem::take(&mut self.sent), expected, "{line}");
            }
            "write" => {
                self.sender.write(now, words[2].parse().unwrap());
                self.pump(now);
            }
            "cwnd" => {
                let counters = Counted::of(&mut self.sender, now);
                assert_eq!(counters.window.cwnd, words[2].parse::<u32>().unwrap(), "{line}");
            }
            other => panic!("unknown line: {other}"),
        }
    }

    fn play(mut self, table: &str) -> Counted {
        table.lines().map(str::trim).filter(|line| !line.is_empty()).for_each(|l| self.line(l));
        Counted::of(&mut self.sender, at("0"))
    }
}

const ENDLESS: u64 = u64::MAX;

#[test]
fn slow_start_sends_two_per_acknowledged_segment() {
    Script::new(init("linux-6"), "reno", ENDLESS).play(
        "100 sent 1-10
         200 ack 3
         200 sent 11-14
         200 cwnd 12
         201 ack 11
         201 sent 15-30
         201 cwnd 20",
    );
}

/// Segment 1 of 10 is lost: three SACKs make RACK judge it lost at once; the window falls to half
/// in proportion to what is delivered.
#[test]
fn fast_recovery_reduces_in_proportion() {
    let counters = Script::new(init("linux-6"), "reno", ENDLESS).play(
        "100 sent 1-10
         200 ack 1 sack 2-2
         200 sent 11
         200 ack 1 sack 2-3
         200 sent 12
         200 ack 1 sack 2-4
         200 sent 1
         200 ack 1 sack 2-5
         200 sent -
         200 ack 1 sack 2-6
         200 sent 13
         200 ack 1 sack 2-7
         200 sent -
         200 ack 1 sack 2-8
         200 sent 14
         200 ack 1 sack 2-10
         200 sent -
         300 ack 11
         300 cwnd 5",
    );
    assert_eq!((counters.recovery.retransmissions, counters.window.ssthresh), (1, 5));
}

/// A hole that fills without a retransmission within the reordering window costs nothing.
#[test]
fn small_reordering_is_tolerated() {
    let counters = Script::new(init("linux-6"), "reno", ENDLESS).play(
        "100 sent 1-10
         200 ack 1 sack 2-3
         200 sent 11-12
         202 ack 4
         202 cwnd 11",
    );
    assert_eq!((counters.recovery.retransmissions, counters.recovery.lost), (0, 0));
}

/// The last segments of a flight are lost: the probe repairs one and reveals the other.
#[test]
fn tail_loss_probe_starts_recovery() {
    let counters = Script::new(init("linux-6"), "reno", 14_480).play(
        "100 sent 1-10
         200 ack 9
         200 sent -
         401 sent -
         402 sent 10
         502 ack 9 sack 10-10
         504 sent 9
         604 ack 11",
    );
    assert_eq!((counters.recovery.rtos, counters.recovery.probes), (0, 1));
    let again = (
        counters.recovery.retransmissions,
        counters.recovery.lost,
        counters.recovery.probe_retransmissions,
    );
    assert_eq!(again, (2, 1, 1), "the probe's segment was not marked lost");
}

/// A probe answered by a D-SACK was not needed: no reduction.
#[test]
fn needless_probe_costs_nothing() {
    let counters = Script::new(init("linux-6"), "reno", 14_480).play(
        "100 sent 1-10
         200 ack 9
         402 sent 10
         410 ack 11
         502 ack 11 dsack 10-10
         502 cwnd 20",
    );
    assert_eq!(counters.recovery.spurious_retransmissions, 1);
}

/// A probe that repaired the only loss costs one reduction (RFC 8985 §7.4): half of 15, to which
/// the window of 20 had shrunk unused (RFC 2861).
#[test]
fn repaired_tail_loss_costs_one_reduction() {
    let counters = Script::new(init("linux-6"), "reno", 14_480).play(
        "100 sent 1-10
         200 ack 10
         499 sent -
         500 sent 10
         600 ack 11
         601 write 1448
         601 sent 11
         701 ack 12
         701 cwnd 7",
    );
    assert_eq!((counters.recovery.probes, counters.window.ssthresh), (1, 7));
}

/// A timeout: the window is one, then slow start; new data is tried before more is
/// retransmitted (F-RTO), and duplicate answers show that the loss was real.
#[test]
fn timeout_retransmits_the_head_and_slow_starts() {
    let counters = Script::new(init("rfc"), "reno", ENDLESS).play(
        "100 sent 1-10
         1099 sent -
         1100 sent 1
         1100 cwnd 1
         1200 ack 2
         1200 cwnd 2
         1200 sent 2-3
         1300 ack 4
         1300 cwnd 4
         1300 sent 4-7",
    );
    assert_eq!(
        (counters.recovery.rtos, counters.recovery.retransmissions, counters.window.ssthresh),
        (1, 7, 5)
    );
}

/// The timeout was spurious (a delay spike): acknowledgments of the originals undo it, and the
/// restored window of 10 grows by the two acknowledged.
#[test]
fn spurious_timeout_is_undone() {
    let counters = Script::new(init("linux-6"), "reno", ENDLESS).play(
        "100 sent 1-10
         304 sent 11
         706 sent 1
         750 ack 3 original
         750 cwnd 12",
    );
    assert_eq!(counters.recovery.rtos, 1);
}

/// One reduction per round of marks; the state ends when more than the data of its beginning is
/// through, and that ACK of five segments already adds one to the window of five.
#[test]
fn an_echo_cuts_the_window_once_per_round() {
    let mut init = init("linux-6");
    init.ecn = EcnMode::Classic;
    let counters = Script::new(init, "reno", ENDLESS).play(
        "100 sent 1-10
         200 ack 3 ece
         200 ack 5 ece
         200 ack 7 ece
         200 ack 9 ece
         200 ack 11 ece
         201 cwnd 5
         300 ack 16
         301 cwnd 6",
    );
    assert_eq!((counters.window.ssthresh, counters.recovery.retransmissions), (5, 0));
}

/// A retransmission that is lost again is found by later deliveries, without a timeout.
#[test]
fn lost_retransmission_is_sent_again() {
    let counters = Script::new(init("linux-6"), "reno", ENDLESS).play(
        "100 sent 1-10
         200 ack 1 sack 2-4
         200 ack 1 sack 2-10
         200 sent 1 11-14
         300 ack 1 sack 2-14
         300 sent 1 15-18",
    );
    assert_eq!((counters.recovery.rtos, counters.recovery.retransmissions), (0, 2));
}

/// With offload: a window of ten, two segments at once.
fn play_with_offload(profile: &str, table: &str) {
    Script::new(TcpInit { offload: true, ..init(profile) }, "fixed-window", ENDLESS).play(table);
}

/// A single segment waits for the next ACK, unless nothing was sent for a millisecond or the
/// oldest one outstanding is young.
#[test]
fn a_little_waits_for_more() {
    play_with_offload(
        "linux-5.1",
        "100 sent 1-10
         200 ack 2
         200 sent 11
         200.3 ack 3
         250 sent -
         250 ack 4
         250 sent 12-13
         250.3 ack 12
         250.3 sent 14-21",
    );
    play_with_offload(
        "linux-5.1",
        "100 sent 1-10
         200 ack 2
         200 sent 11
         200.5 ack 11
         200.5 sent 12-20",
    );
}

/// Linux 6.18 does not wait for an ACK that is more than a millisecond away.
#[test]
fn a_little_waits_for_a_near_ack_only() {
    let table = "100 sent 1-10
         160 ack 2
         160 sent 11
         160.3 ack 3";
    play_with_offload("linux-5.1", &format!("{table}\n 160.3 sent -"));
    play_with_offload("linux-6", &format!("{table}\n 160.3 sent 12"));
    play_with_offload(
        "linux-6",
        "100 sent 1-10
         200 ack 2
         200 sent 11
         200.3 ack 3
         200.3 sent -",
    );
}

/// Before 5.0 the clock was the tick of 4 ms.
#[test]
fn a_little_waits_within_a_tick() {
    play_with_offload(
        "linux-4.9",
        "100 sent 1-10
         200 ack 2
         200 sent 11
         203.9 ack 3
         203.9 sent -
         203.9 ack 4
         203.9 sent 12-13
         204.1 ack 5
         204.1 sent 14",
    );
}

/// The end of a transfer does not wait, nor do new segments in recovery.
#[test]
fn a_little_does_not_wait_at_the_end_or_in_recovery() {
    let mut script =
        Script::new(TcpInit { offload: true, ..init("linux-5.1") }, "fixed-window", 12 * 1448);
    script.sender.close(at("100"));
    script.play(
        "100 sent 1-10
         200 ack 2
         200 sent 11
         200.3 ack 3
         200.3 sent 12",
    );
    play_with_offload(
        "linux-5.1",
        "100 sent 1-10
         200 ack 1 sack 2-4
         200 sent 1 11-13
         200.3 ack 1 sack 2-5
         200.3 sent 14",
    );
}
