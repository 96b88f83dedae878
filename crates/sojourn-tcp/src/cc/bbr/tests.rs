//! BBR version 1 on a synthetic path, against its published state machine.

use super::super::testing::{Bottleneck, control, init, number, word};
use super::*;

fn bbr(version: Stack) -> Box<dyn CongestionControl> {
    control::<Bbr>(|params| params.version = version)
}

fn two_flows() -> Bottleneck {
    Bottleneck::new(48.0, 1000).flow(40.0, bbr(Stack::Linux6)).flow(40.0, bbr(Stack::Linux6))
}

/// The sequence of (time, mode) changes of one flow.
fn modes(path: &mut Bottleneck, seconds: f64) -> Vec<(f64, String)> {
    let mut changes: Vec<(f64, String)> = Vec::new();
    path.run(seconds, |now, index, flow, _| {
        if index > 0 {
            return;
        }
        let mode = word(&*flow.control, "mode");
        if changes.last().is_none_or(|(_, last)| *last != mode) {
            changes.push((now, mode));
        }
    });
    changes
}

#[test]
fn startup_drain_probe_bw_and_probe_rtt_every_ten_seconds() {
    // Alone, a flow would meet its minimum RTT again in every cycle.
    let mut path = two_flows();
    let changes = modes(&mut path, 45.0);
    let order: Vec<&str> = changes.iter().map(|(_, mode)| mode.as_str()).collect();
    assert_eq!(order[..4], ["startup", "drain", "probe_bw", "probe_rtt"], "{changes:?}");
    let probes: Vec<f64> =
        changes.iter().filter(|(_, mode)| mode == "probe_rtt").map(|&(at, _)| at).collect();
    assert!(probes.len() >= 4, "{changes:?}");
    for pair in probes.windows(2) {
        // Ten seconds after the last PROBE_RTT (200 ms and a round) ended or met a lower RTT.
        assert!((10.0..10.6).contains(&(pair[1] - pair[0])), "{probes:?}");
    }
    for pair in changes.windows(2).filter(|pair| pair[0].1 == "probe_rtt") {
        let length = pair[1].0 - pair[0].0;
        assert!((0.2..0.36).contains(&length), "PROBE_RTT took {length}");
    }
    let delivered = path.flows.iter().map(|flow| flow.meter.delivered).sum();
    let used = path.utilisation(delivered, 45.0);
    assert!(used > 0.95, "{used}");
}

#[test]
fn probe_rtt_holds_four_segments() {
    let mut path = two_flows();
    let (mut least, mut most) = (u32::MAX, 0);
    path.run(11.0, |_, _, flow, _| {
        if word(&*flow.control, "mode") == "probe_rtt" {
            least = least.min(flow.in_flight);
            most = most.max(flow.control.decision().cwnd);
        }
    });
    // Two ACKs may come before the next departure.
    assert!(most == 4 && (2..=3).contains(&least), "{least} to {most}");
}

#[test]
fn the_gain_cycle_has_eight_phases_of_a_minimum_rtt() {
    let mut path = Bottleneck::new(48.0, 1000).flow(40.0, bbr(Stack::Linux6));
    let mut gains: Vec<(f64, f64)> = Vec::new();
    path.run(9.5, |now, _, flow, _| {
        let gain = number(&*flow.control, "pacing_gain");
        if now > 1.0 && gains.last().is_none_or(|&(_, last)| last != gain) {
            gains.push((now, gain));
        }
    });
    let ups: Vec<usize> = (1..gains.len() - 3).filter(|&i| gains[i].1 == 1.25).collect();
    assert!(ups.len() > 15, "{gains:?}");
    for i in ups {
        assert_eq!([gains[i + 1].1, gains[i + 2].1, gains[i + 3].1], [0.75, 1.0, 1.25]);
        let cruise = gains[i + 3].0 - gains[i + 2].0;
        assert!((0.24..0.27).contains(&cruise), "six phases of 40 ms took {cruise}");
        assert!(gains[i + 1].0 - gains[i].0 > 0.04);
    }
}

#[test]
fn the_estimates_are_the_paths() {
    let mut path = Bottleneck::new(48.0, 1000).flow(40.0, bbr(Stack::Linux6));
    path.run(9.0, |_, _, _, _| {});
    let bandwidth = number(&*path.flows[0].control, "bandwidth");
    let goodput = 48.0 * 1448.0 / 1500.0;
    assert!((bandwidth / goodput - 1.0).abs() < 0.01, "{bandwidth}");
    let min_rtt = number(&*path.flows[0].control, "min_rtt");
    assert!((0.0402..0.0404).contains(&min_rtt), "{min_rtt}");
    // Twice the product of 161 segments, and three bursts of three.
    let cwnd = path.flows[0].control.decision().cwnd;
    assert!((322..345).contains(&cwnd), "{cwnd}");
}

#[test]
fn without_offload_the_window_of_4_9_has_room_for_single_segments() {
    let window = |version, offload| {
        let control = Bbr::new(Params { version }, &ControlInit { offload, ..init() });
        let mut path = Bottleneck::new(48.0, 1000).flow(40.0, Box::new(control));
        path.run(9.0, |_, _, _, _| {});
        path.flows[0].control.decision().cwnd
    };
    // Three bursts of a millisecond, four segments each, against three segments.
    let [bursts, single] = [true, false].map(|offload| window(Stack::Linux49, offload));
    assert!((6..=12).contains(&(bursts - single)), "{bursts} and {single}");
    assert_eq!(window(Stack::Linux6, true), window(Stack::Linux6, false));
}

#[test]
fn only_todays_version_paces_below_the_estimate() {
    for (version, expected) in [(Stack::Linux6, 0.99), (Stack::Linux49, 1.0)] {
        let mut path = Bottleneck::new(48.0, 1000).flow(40.0, bbr(version));
        let mut ratios = Vec::new();
        path.run(9.0, |now, _, flow, _| {
            if now > 2.0 && number(&*flow.control, "pacing_gain") == 1.0 {
                let rate = flow.control.decision().pacing_rate.unwrap().as_mbps_f64();
                ratios.push(rate / number(&*flow.control, "bandwidth"));
            }
        });
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        assert!((mean - expected).abs() < 1e-4, "{version:?}: {mean}");
    }
}

#[test]
fn random_loss_of_one_per_cent_hardly_matters() {
    let mut path = Bottleneck::new(48.0, 1000).flow(40.0, bbr(Stack::Linux6));
    path.loss = 0.01;
    path.run(30.0, |_, _, _, _| {});
    let used = path.utilisation(path.flows[0].meter.delivered, 30.0);
    assert!(used > 0.93, "{used}");
}
