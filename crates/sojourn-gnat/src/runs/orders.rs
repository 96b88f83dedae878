//! Laws of nodes that run by themselves for long, and are told what to do.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::ServiceSpec;
use crate::overlay::{LastNumber, Order, Orders, WireTimes};
use sojourn_base::given::Given;
use sojourn_base::observe::Observed;
use sojourn_base::units::Rate;

/// Nodes that begin 5 s before 32 bits of microseconds wrap, node 2 with a clock 3 ms ahead, and that
/// have advertised their links nearly as often as 32 bits can count.
fn late(scenario: &Scenario) -> (Vec<Part>, Vec<Arc<Orders>>) {
    let shared = scenario.gift().unwrap().nodes;
    let part = |(node, ahead): (&str, u64)| {
        let mut given = Given::default();
        given.add(&shared);
        let orders = Arc::new(Orders::default());
        given.give(Arc::clone(&orders));
        given.give(Arc::new(LastNumber(u32::MAX - 3)));
        let zero = (7 << 32) - 5_000_000 + ahead;
        given.give(Arc::new(WireTimes::new(Duration::from_micros(zero))));
        (Part::new(scenario, node, Links::Kept, &given).unwrap(), orders)
    };
    [("1", 0), ("2", 3_000), ("3", 0)].map(part).into_iter().unzip()
}

fn seen(part: &Part, name: &str) -> f64 {
    let mut found = f64::NAN;
    part.observe(&mut |key, value| {
        if key == name {
            found = if let Observed::Number(number) = value { number } else { f64::NAN };
        }
    });
    found
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn numbers_and_clocks_wrap_and_connections_begin_anew() {
    let flow = datagrams(1, 2, 4.0, "deadline = \"200 ms\"");
    let text = scenario(12, "", &TRIANGLE, &[flow]);
    let (mut parts, orders) = late(&Scenario::from_toml(&text, builtin()).unwrap());
    drive(&mut parts, at(8_000));
    let got = |parts: &mut [Part]| counters(parts, 0).received.unwrap().delivered_bytes;
    let before = got(&mut parts);
    assert!(before > 3_000_000, "{before}");
    let (ahead, behind) = (seen(&parts[0], "clock.1"), seen(&parts[1], "clock.0"));
    assert!((ahead - 0.003).abs() < 0.001 && (behind + 0.003).abs() < 0.001, "{ahead} {behind}");
    // Both ends of 1-2, as if sessions were new.
    for (node, member) in [(0, 1), (1, 0)] {
        orders[node].push(Order::Restart { member });
        parts[node].wake();
    }
    drive(&mut parts, at(8_001));
    assert_eq!(seen(&parts[0], "works.1"), 0.0, "at once");
    drive(&mut parts, at(11_000));
    assert_eq!(seen(&parts[0], "works.1"), 1.0);
    assert!(seen(&parts[0], "lost.1") + seen(&parts[1], "lost.0") < 50.0);
    let after = got(&mut parts) - before;
    assert!(after > 1_200_000, "{after}");
    parts.iter_mut().for_each(|part| part.check().unwrap());
}

#[test]
fn a_service_changes_while_packets_wait() {
    let flows = [1, 2].map(|_| datagrams(1, 2, 15.0, "ceiling = \"50 Mbit/s\""));
    let text = scenario(20, "k = 1e12", &TRIANGLE, &flows);
    let (mut parts, orders) = late(&Scenario::from_toml(&text, builtin()).unwrap());
    drive(&mut parts, at(6_000));
    let refused = seen(&parts[0], "refused");
    let ceiling = Rate::from_bps(50_000_000);
    let service = ServiceSpec { priority: 4.0, ceiling, ..ServiceSpec::default() };
    orders[0].push(Order::Service { flow: 1, service: Box::new(service) });
    parts[0].wake();
    drive(&mut parts, at(6_001));
    assert!(seen(&parts[0], "refused") - refused < 10.0, "what waits stays");
    let got = |parts: &mut [Part]| {
        [0, 1].map(|flow| counters(parts, flow).received.unwrap().delivered_bytes as f64)
    };
    drive(&mut parts, at(8_000));
    let before = got(&mut parts);
    drive(&mut parts, at(14_000));
    let after = got(&mut parts);
    let [first, second] = [0, 1].map(|flow| after[flow] - before[flow]);
    assert!(second > 1.5 * first, "{first} and {second} B");
}
