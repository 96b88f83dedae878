//! The initial window and pacing, as a flow sets them.

use super::TcpInit;
use super::tests::{Rig, init};
use crate::catalogue::builtin;
use crate::spec::{Cca, Pacing};
use crate::units::Rate;

const STACKS: [&str; 5] = ["linux-6", "linux-5.1", "linux-4.9", "ns3", "rfc"];
/// Controls with a first window of their own.
const OWN_WINDOW: [&str; 4] = ["hybla", "ledbat", "fixed-window", "fixed-rate"];
/// Payload bits of a segment.
const SEGMENT: f64 = 1448.0 * 8.0;

/// When a greedy sender sent its segments in `ms`, over an RTT of 100 ms that nothing delays; its
/// handshake ends at 100 ms.
fn sent(init: TcpInit, control: &str, ms: f64) -> Vec<f64> {
    let mut rig = Rig::new(TcpInit { ack_every: 1, ..init }, control, 100);
    rig.start(u64::MAX);
    rig.run(ms);
    rig.sent.iter().map(|(at, _)| *at).collect()
}

#[test]
fn the_initial_window_is_sent_before_the_first_ack() {
    for stack in STACKS {
        for control in builtin().names::<Cca>() {
            for initial_window in [3, 10, 30] {
                let flight = sent(TcpInit { initial_window, ..init(stack) }, control, 199.0);
                let same = flight.len() == initial_window as usize;
                let sends = same || OWN_WINDOW.contains(&control);
                assert!(sends, "{control}, {stack}: {} of {initial_window}", flight.len());
            }
        }
    }
}

/// In slow start at two windows per RTT, of the usual ten segments until the first ACK of data;
/// Linux lets the first ten segments go at once, of which the tenth holds the next one back.
#[test]
fn pacing_spreads_the_first_flight() {
    for stack in STACKS {
        let unpaced = TcpInit { initial_window: 30, ..init(stack) };
        let flight = sent(unpaced, "reno", 199.0);
        assert!(flight.iter().all(|at| *at == flight[0]), "{stack}: {flight:?}");
        let paced = TcpInit { pacing: Some(Pacing::On), ..unpaced };
        let flight = sent(paced, "reno", 199.0);
        assert!(flight[..10].iter().all(|at| *at == flight[0]), "{stack}: {flight:?}");
        let gaps = flight[9..].windows(2).map(|pair| pair[1] - pair[0]);
        let even = gaps.map(|gap| (gap - 100.0 / 20.0).abs()).fold(0.0, f64::max);
        assert!(even < 0.001 && flight.len() == 29, "{stack}: {flight:?}");
    }
}

#[test]
fn a_paced_sender_keeps_below_its_rate() {
    let most = Rate::from_bps(1_000_000);
    for control in ["reno", "cubic", "bbr", "prague"] {
        let init = TcpInit { pacing: Some(Pacing::AtMost(most)), ..init("linux-6") };
        let paced = &sent(init, control, 2000.0)[10..];
        // Half a segment's time is credited to a sender that was late.
        let earliest = |after: usize| paced[0] + (after as f64 - 0.5) * SEGMENT / 1e3;
        let late = |(after, at): (usize, &f64)| *at > earliest(after) - 0.001;
        assert!(paced.iter().enumerate().all(late), "{control}: {paced:?}");
        // 155 at that rate.
        assert!(paced.len() > 100, "{control}: {}", paced.len());
    }
}

#[test]
fn a_control_that_asks_for_pacing_does_without_it() {
    let second_flight = |pacing| {
        let times = sent(TcpInit { pacing, ..init("linux-6") }, "prague", 299.0);
        let second = times.iter().filter(|at| **at > 150.0);
        second.fold((0, 0), |(all, first), at| (all + 1, first + u32::from(*at < 200.01)))
    };
    assert_eq!(second_flight(Some(Pacing::Off)), (20, 20));
    let (all, first) = second_flight(None);
    assert!(all == 20 && first < 10, "{first} of {all}");
}
