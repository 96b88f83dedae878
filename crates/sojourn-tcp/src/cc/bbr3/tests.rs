//! BBR version 3 on a synthetic path, against its published state machine.

use super::super::testing::{Bottleneck, Flow, control, init, number, word};
use super::*;
use crate::packet::Ecn;

/// The phase of a flow in PROBE_BW, else its mode.
fn place(flow: &Flow) -> String {
    match word(&*flow.control, "mode").as_str() {
        "probe_bw" => word(&*flow.control, "phase"),
        mode => mode.to_owned(),
    }
}

const UP: &str = "up";
const DOWN: &str = "down";
const CRUISE: &str = "cruise";
const REFILL: &str = "refill";
const PROBE_RTT: &str = "probe_rtt";

fn bbr3() -> Box<dyn CongestionControl> {
    control::<Bbr3>(|_| {})
}

fn places(path: &mut Bottleneck, seconds: f64) -> Vec<(f64, String)> {
    let mut changes: Vec<(f64, String)> = Vec::new();
    path.run(seconds, |now, index, flow, _| {
        let place = place(flow);
        if index == 0 && changes.last().is_none_or(|(_, last)| *last != place) {
            changes.push((now, place));
        }
    });
    changes
}

#[test]
fn phases_follow_the_state_machine() {
    let mut path = Bottleneck::new(48.0, 1000).flow(40.0, bbr3());
    let changes = places(&mut path, 20.0);
    let order: Vec<_> = changes.iter().map(|(_, place)| place.as_str()).collect();
    // With so little left by DRAIN, DOWN is over with the ACK that begins it.
    assert_eq!(order[..6], ["startup", "drain", CRUISE, REFILL, UP, DOWN], "{changes:?}");
    for pair in changes[2..].windows(2) {
        let allowed = match pair[0].1.as_str() {
            UP => [DOWN, PROBE_RTT],
            // An early probe may start before the drain is over.
            DOWN => [CRUISE, if pair[1].1 == REFILL { REFILL } else { PROBE_RTT }],
            CRUISE => [REFILL, PROBE_RTT],
            REFILL => [UP, PROBE_RTT],
            _ => [CRUISE, CRUISE],
        };
        assert!(allowed.contains(&pair[1].1.as_str()), "{pair:?}");
    }
    let used = path.utilisation(path.flows[0].meter.delivered, 20.0);
    assert!(used > 0.93, "{used}");
}

#[test]
fn probes_every_two_to_three_seconds_on_a_long_path() {
    let mut path = Bottleneck::new(48.0, 1000).flow(100.0, bbr3());
    let changes = places(&mut path, 30.0);
    let starts: Vec<_> = changes.iter().filter(|change| change.1 == DOWN).collect();
    let mut waits = 0;
    for start in starts {
        let next = changes.iter().find(|change| change.0 > start.0 && change.1 == REFILL);
        let interrupted = changes.iter().any(|change| {
            change.1 == PROBE_RTT && change.0 > start.0 && next.is_some_and(|n| change.0 < n.0)
        });
        if let (Some(next), false) = (next, interrupted) {
            let wait = next.0 - start.0;
            assert!((1.99..3.1).contains(&wait), "{wait}");
            waits += 1;
        }
    }
    assert!(waits >= 3, "{changes:?}");
}

#[test]
fn probe_rtt_comes_every_five_seconds_with_half_the_product() {
    let mut path = Bottleneck::new(48.0, 1000).flow(40.0, bbr3());
    let mut least = u32::MAX;
    let mut starts: Vec<f64> = Vec::new();
    let mut inside = false;
    path.run(30.0, |now, _, flow, _| {
        let probing = place(flow) == PROBE_RTT;
        if probing && !inside {
            starts.push(now);
        }
        if probing {
            least = least.min(flow.in_flight);
        }
        inside = probing;
    });
    assert!(starts.len() >= 4, "{starts:?}");
    for pair in starts.windows(2) {
        assert!((5.0..5.5).contains(&(pair[1] - pair[0])), "{starts:?}");
    }
    // The product is 161 segments.
    assert!((78..=82).contains(&least), "{least}");
}

#[test]
fn a_lossy_round_outside_probing_keeps_seven_tenths() {
    let mut bbr = Bbr3::new(Params::default(), &init());
    bbr.mode = Mode::ProbeBw;
    bbr.phase = Phase::Cruise;
    bbr.cwnd = 1000;
    bbr.max_bandwidth[1] = Bandwidth::over(1000, Span::from_millis(100));
    bbr.loss_in_round = true;
    bbr.adapt_lower_bounds();
    // 180/256 of the window and of the bandwidth.
    assert_eq!(bbr.lower.inflight, 703);
    assert_eq!(bbr.bandwidth(), bbr.max_bandwidth().scaled(180));
    // But not less than what the round delivered.
    bbr.latest.inflight = 600;
    bbr.adapt_lower_bounds();
    assert_eq!(bbr.lower.inflight, 600);
}

#[test]
fn cruises_with_headroom_below_the_bound() {
    // A buffer of a fifth of the product: probing overflows it.
    let mut path = Bottleneck::new(48.0, 32).flow(40.0, bbr3());
    let mut cruising = 0;
    path.run(60.0, |now, _, flow, _| {
        let bound = number(&*flow.control, "inflight_hi");
        if now > 5.0 && place(flow) == CRUISE && bound.is_finite() {
            cruising += 1;
            let cwnd = f64::from(flow.control.decision().cwnd);
            assert!(cwnd <= (bound * (1.0 - 38.0 / 256.0)).ceil(), "{cwnd} of {bound}");
        }
    });
    assert!(cruising > 1000, "{cruising}");
    let flow = &path.flows[0];
    let lost = flow.meter.lost as f64 / flow.meter.delivered as f64;
    assert!(lost < 0.02, "{lost}");
    let used = path.utilisation(flow.meter.delivered, 60.0);
    assert!(used > 0.9, "{used}");
}

#[test]
fn marks_bound_the_queue_on_short_low_threshold_paths() {
    let mean_wait = |ecn_low| {
        let rival = || control::<Bbr3>(|params| params.ecn_low = ecn_low);
        let mut path = Bottleneck::new(100.0, 1000).flow(4.0, rival()).flow(4.0, rival());
        path.mark = |wait, _| if wait.as_micros() > 500 { Ecn::Ce } else { Ecn::Ect0 };
        path.run(20.0, |_, _, _, _| {});
        path.waited.0.as_millis_f64() / path.waited.1 as f64
    };
    let (without, with) = (mean_wait(false), mean_wait(true));
    assert!(with < 0.7 * without, "{with} ms with marks, {without} ms without");
}
