//! Tables of the sender, of which some are of stacks that no kernel at hand has, and the scripts of
//! `experiments/packets`. The situations are those that public packetdrill scripts for Linux describe
//! (fast recovery, SACK, tail loss probe, reordering, timeout and F-RTO, ECN); the tables are our own.

use std::fs;
use std::path::Path;

use super::*;
use crate::catalogue::builtin;
use crate::counters::{RecoveryCounters, WindowCounters};

struct Counted {
    window: WindowCounters,
    recovery: RecoveryCounters,
}

fn played(head: &str, offload: bool, table: &str) -> Counted {
    let script = Script::parse(&format!("{head}\n{table}")).unwrap();
    let played =
        super::play(&Script { offload: Some(offload), ..script.clone() }, builtin()).unwrap();
    assert_eq!(script.check(&played), None, "{:?}", played.events);
    let counters = played.counters;
    Counted { window: counters.window.unwrap(), recovery: counters.recovery.unwrap() }
}

fn play(stack: &str, control: &str, bytes: u64, table: &str) -> Counted {
    played(&format!("stack {stack}\ncontrol {control}\nwrite {bytes}"), false, table)
}

/// The core does what each script of `experiments/packets` expects.
#[test]
fn scripts_are_kept() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/packets");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for file in files {
        let script = Script::parse(&fs::read_to_string(&file).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let played = super::play(&script, builtin()).unwrap();
        assert_eq!(script.check(&played), None, "{}: {played:#?}", file.display());
        count += 1;
    }
    assert!(count >= 10, "{count} scripts");
}

#[test]
fn what_cannot_be_read_is_refused_by_its_line() {
    for (text, why) in [
        ("100 sing", "line 1: '100 sing': unknown step 'sing'"),
        ("\n100 ack x", "line 2: '100 ack x': 'x' is not a number"),
        ("soon sent 1", "'soon' is not a number"),
        ("end receiver\n1 data 1 loud", "unknown word 'loud'"),
        ("end receiver\n1 data 1 of 1449", "1449 bytes given; allowed: 1 to 1448"),
        ("end receiver\n1 data 1-1001", "1-1001 given; allowed: at most 1000 segments in a line"),
        ("1 sent 1-4294967294", "allowed: at most 1000 segments in a line"),
        ("1 sent 1-600 1001-1500", "1100 given; allowed: at most 1000 segments in a line"),
        ("1 ack 2 sack 5-3", "5-3 is no range of segments"),
        ("1 ack 2 sack 3-4294967295", "3-4294967295 is no range of segments"),
    ] {
        let error = Script::parse(text).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn ends_are_compared_by_what_they_sent_and_when() {
    let event = |ms: u64, what: &str| Event {
        at: Time::ZERO + Span::from_millis(ms),
        what: what.to_owned(),
    };
    let script = Script::parse("from 50").unwrap();
    let ours = [event(10, "1"), event(100, "2"), event(300, "3"), event(1300, "4")];
    // Ticks, the wheel, and what goes before do not count.
    let kernel = [event(101, "2"), event(309, "3"), event(1430, "4")];
    assert_eq!(script.compare(&ours, &kernel), None);
    let difference = |theirs: &[Event]| {
        let difference = script.compare(&ours, theirs).unwrap();
        (difference.expected, difference.found)
    };
    let told = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(difference(&[event(101, "2"), event(342, "3")]), told("3 at 342 ms", "3 at 300 ms"));
    assert_eq!(difference(&kernel[..2]), told("-", "4"));
    assert_eq!(difference(&[event(101, "3")]), told("3", "2"));
}

const ENDLESS: u64 = u64::MAX;

#[test]
fn slow_start_sends_two_per_acknowledged_segment() {
    play(
        "linux-6",
        "reno",
        ENDLESS,
        "100 sent 1-10
         200 ack 3
         200 sent 11-14
         200 cwnd 12
         201 ack 11
         201 sent 15-30
         201 cwnd 20",
    );
}

/// Segment 1 of 10 is lost: after three SACKs RACK marks it lost at once; the window falls to half
/// in proportion to what is delivered.
#[test]
fn fast_recovery_reduces_in_proportion() {
    let counters = play(
        "linux-6",
        "reno",
        ENDLESS,
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
    let counters = play(
        "linux-6",
        "reno",
        ENDLESS,
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
    let counters = play(
        "linux-6",
        "reno",
        14_480,
        "100 sent 1-10
         200 ack 9
         200 sent -
         407 sent -
         408 sent 10
         508 ack 9 sack 10-10
         511 sent 9
         611 ack 11",
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
    let counters = play(
        "linux-6",
        "reno",
        14_480,
        "100 sent 1-10
         200 ack 9
         408 sent 10
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
    let counters = play(
        "linux-6",
        "reno",
        14_480,
        "100 sent 1-10
         200 ack 10
         503 sent -
         504 sent 10
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
    let counters = play(
        "rfc",
        "reno",
        ENDLESS,
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
    let counters = play(
        "linux-6",
        "reno",
        ENDLESS,
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
    let head = format!("control reno\necn classic\nwrite {ENDLESS}");
    let counters = played(
        &head,
        false,
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
    let counters = play(
        "linux-6",
        "reno",
        ENDLESS,
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
    let head = format!("stack {profile}\ncontrol fixed-window\nwrite {ENDLESS}");
    played(&head, true, table);
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
    played(
        "stack linux-5.1\ncontrol fixed-window\nwrite 17376\n1 close",
        true,
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
