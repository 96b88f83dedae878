//! Copa on a synthetic path.

use super::super::reno::Reno;
use super::super::testing::{Bottleneck, control};
use super::*;

fn copa(version: Version, delta: f64) -> Box<dyn CongestionControl> {
    control::<Copa>(|params| (params.version, params.delta) = (version, delta))
}

/// Mean packets in the queue between two times, from Little's law.
fn mean_queue(path: &mut Bottleneck, from: f64, to: f64) -> f64 {
    path.run(from, |_, _, _, _| {});
    let before = path.waited;
    path.run(to, |_, _, _, _| {});
    (path.waited.0 - before.0).as_secs_f64() / (to - from)
}

#[test]
fn keeps_a_few_reciprocals_of_delta_in_the_queue() {
    for version in [Version::Nsdi18, Version::Sliq] {
        for delta in [0.5, 0.1] {
            let mut path = Bottleneck::new(48.0, 10_000).flow(40.0, copa(version, delta));
            let queued = mean_queue(&mut path, 10.0, 60.0) * delta;
            // The paper's analysis: it oscillates between nothing and 2.5/delta.
            assert!((0.4..2.0).contains(&queued), "{version:?} {delta}: {queued}/delta");
            let used = path.utilisation(path.flows[0].meter.delivered, 60.0);
            assert!(used > 0.93, "{version:?} {delta}: {used}");
        }
    }
}

#[test]
fn two_flows_share_equally() {
    for version in [Version::Nsdi18, Version::Sliq] {
        let mut path = Bottleneck::new(48.0, 10_000)
            .flow(40.0, copa(version, 0.5))
            .flow(40.0, copa(version, 0.5));
        path.run(10.0, |_, _, _, _| {});
        let before: Vec<u64> = path.flows.iter().map(|flow| flow.meter.delivered).collect();
        path.run(60.0, |_, _, _, _| {});
        let got: Vec<f64> =
            path.flows.iter().zip(before).map(|(f, b)| (f.meter.delivered - b) as f64).collect();
        let (sum, squares) = (got[0] + got[1], got[0] * got[0] + got[1] * got[1]);
        let jain = sum * sum / (2.0 * squares);
        assert!(jain > 0.95, "{version:?} {jain}");
    }
}

#[test]
fn competes_with_reno_only_when_it_may() {
    let share = |mode_switching| {
        let copa = control::<Copa>(|params| params.mode_switching = mode_switching);
        let reno = control::<Reno>(|_| {});
        let mut path = Bottleneck::new(24.0, 160).flow(40.0, copa).flow(40.0, reno);
        path.run(120.0, |_, _, _, _| {});
        path.flows[0].meter.delivered as f64
            / (path.flows[0].meter.delivered + path.flows[1].meter.delivered) as f64
    };
    let (meek, bold) = (share(false), share(true));
    assert!(meek < 0.2 && bold > 0.3, "{meek} {bold}");
}
