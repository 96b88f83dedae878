use super::*;
use crate::Utility;

const MBIT: f64 = 1e6;

fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// Inelastic flows to member 1 at these priorities and rates in Mbit/s, and an elastic one of
/// priority 1 that takes 4 Mbit/s; all are on.
fn supervision(flows: &[(f64, f64)]) -> Supervision {
    let mut supervision = Supervision::new(1e12, 2);
    supervision.watch(1, &ServiceSpec::default());
    for (index, (priority, _)) in flows.iter().enumerate() {
        let deadline = Some(Span::from_millis(60 + index as u64));
        let (priority, utility) = (*priority, Utility::Strap);
        let service = ServiceSpec { priority, utility, deadline, ..ServiceSpec::default() };
        supervision.watch(1, &service);
    }
    let rates = std::iter::once(4.0).chain(flows.iter().map(|(_, rate)| *rate));
    for (flow, rate) in supervision.flows.iter_mut().zip(rates) {
        (flow.rate, flow.nominal, flow.active) = (rate * MBIT, rate * MBIT, true);
    }
    supervision
}

#[test]
fn flows_that_fit_beside_elastic_ones_are_left_alone() {
    // 10 Mbit/s, of which 4 are left: K / Q is 4 Mbit/s, and each flow is worth K p / r.
    let mut supervision = supervision(&[(5.0, 3.0), (5.0, 3.0)]);
    assert_eq!(supervision.decide(at(10), 10.0 * MBIT), []);
}

#[test]
fn a_flow_faster_than_all_links_is_turned_off() {
    let mut supervision = supervision(&[(5.0, 3.0), (1.0, 12.0)]);
    assert_eq!(supervision.decide(at(10), 10.0 * MBIT), [Order { flow: 2, on: false }]);
}

#[test]
fn one_that_does_not_fit_is_let_try_while_the_queue_does_not_grow_and_nothing_thrashes() {
    let turned_on = [Order { flow: 2, on: true }];
    let off = |supervision: &mut Supervision| supervision.flows[2].standing = Standing::Off;
    // Beside 5 Mbit/s an elastic flow of priority 1 makes a queue that 1 / 4 is not worth.
    let flows = [(5.0, 3.0), (0.5, 4.0)];
    let mut tries = supervision(&flows);
    off(&mut tries);
    assert_eq!(tries.decide(at(10), 9.0 * MBIT), turned_on);
    let mut grows = supervision(&flows);
    off(&mut grows);
    grows.queues[1].grows = 1;
    assert_eq!(grows.decide(at(10), 9.0 * MBIT), []);
    let mut thrashes = supervision(&flows);
    off(&mut thrashes);
    thrashes.flows[1].standing = Standing::Triaged;
    assert_eq!(thrashes.decide(at(10), 9.0 * MBIT), []);
}

#[test]
fn of_flows_that_thrash_all_but_one_are_turned_off() {
    let mut supervision = supervision(&[(0.1, 2.0), (0.1, 2.1), (0.1, 2.2)]);
    for flow in &mut supervision.flows[1..] {
        flow.standing = Standing::Triaged;
    }
    let off = supervision.decide(at(10), 8.0 * MBIT);
    assert!(off.iter().all(|order| !order.on) && off.len() == 3, "{off:?}");
    // Turned off they thrash no more, and one after the other may try.
    assert_eq!(supervision.decide(at(12), 8.0 * MBIT), [Order { flow: 1, on: true }]);
}

#[test]
fn of_flows_that_miss_packets_the_one_with_most_time_tries_and_becomes_stable() {
    let mut supervision = supervision(&[(5.0, 3.0), (5.0, 3.0)]);
    for flow in &mut supervision.flows[1..] {
        (flow.missed, flow.standing) = (true, Standing::Missed);
    }
    let orders = supervision.decide(at(10), 20.0 * MBIT);
    assert_eq!(orders, [Order { flow: 1, on: false }, Order { flow: 2, on: true }]);
    assert_eq!(supervision.decide(at(12), 20.0 * MBIT), []);
    assert!(supervision.flows[2].missed, "2 s are less than 40 times 61 ms");
    assert_eq!(supervision.decide(at(14), 20.0 * MBIT), []);
    assert!(!supervision.flows[2].missed);
}

#[test]
fn of_flows_with_the_same_time_to_go_the_one_that_gains_most_for_its_rate_tries_first() {
    let mut supervision = supervision(&[(5.0, 3.0), (5.0, 1.0)]);
    for flow in &mut supervision.flows[1..] {
        (flow.missed, flow.standing) = (true, Standing::Off);
        flow.deadline = Span::from_millis(60);
    }
    assert_eq!(supervision.decide(at(10), 20.0 * MBIT), [Order { flow: 2, on: true }]);
}

#[test]
fn little_known_capacity_decides_nothing() {
    let mut supervision = supervision(&[(5.0, 30.0)]);
    assert_eq!(supervision.decide(at(10), 0.7 * MBIT), []);
}

#[test]
fn queues_grow_until_they_have_not_been_deeper_for_four_seconds() {
    let mut supervision = supervision(&[]);
    let note = |supervision: &mut Supervision, bytes: f64| {
        supervision.on_depth(1, bytes);
        supervision.note_queues();
        supervision.queues[1].grows
    };
    assert_eq!(note(&mut supervision, 1_000.0), GROWS_FOR);
    let last = (0..8).map(|_| note(&mut supervision, 900.0)).last();
    assert_eq!(last, Some(0));
    assert_eq!(note(&mut supervision, 1_001.0), GROWS_FOR);
}
