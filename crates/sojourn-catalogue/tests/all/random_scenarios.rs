//! No valid scenario makes the simulator panic, stall, or violate a physical law.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use sojourn_catalogue::builtin;
use sojourn_net::record::{Outcome, Table};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;
use sojourn_sim::spec::{Cca, Queue};

/// Keys that a link may have or not; each list holds alternatives of one key.
fn link() -> impl Strategy<Value = Value> {
    let rate = select(vec!["56 kbit/s", "1 Mbit/s", "7 Mbit/s", "50 Mbit/s"]);
    let queue = prop::option::of(select(builtin().names::<Queue>()));
    let impairments = prop::collection::vec(
        select(vec![
            ("device_queue", json!("2 packets")),
            ("loss", json!("1 %")),
            ("loss", json!("30 %")),
            ("delay", json!("3 ms")),
            ("overhead", json!("0 B")),
            ("duplicate", json!("5 %")),
            ("burst_loss", json!({"to_bad": "1 %", "to_good": "25 %"})),
            ("jitter", json!({"spread": "2 ms"})),
            ("jitter", json!({"spread": "5 ms", "reorder": true})),
            ("reorder", json!({"probability": "3 %", "delay": "4 ms"})),
            ("aggregation", json!({"interval": "2 ms", "acks_per_flow": 1})),
            ("policer", json!({"rate": "2 Mbit/s", "burst": "30 kB"})),
            ("shaper", json!({"rate": "3 Mbit/s", "burst": "20 kB"})),
            ("ecn_fault", json!("bleach")),
            ("outages", json!([{"start": "300 ms", "duration": "400 ms"}])),
            (
                "delay_schedule",
                json!({"kind": "square", "high": "9 ms", "low": "1 ms",
                "period": "200 ms"}),
            ),
        ]),
        0..4,
    );
    (rate, queue, impairments).prop_map(|(rate, queue, impairments)| {
        let mut keys = Map::from_iter([("rate".to_owned(), json!(rate))]);
        keys.extend(queue.map(|queue| ("queue".to_owned(), json!(queue))));
        keys.extend(impairments.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Value::Object(keys)
    })
}

fn flow() -> impl Strategy<Value = Value> {
    let cca = select(builtin().names::<Cca>());
    let keys = prop::collection::vec(
        select(vec![
            ("ecn", json!("classic")),
            ("ecn", json!("accurate")),
            ("direction", json!("reverse")),
            ("start", json!("120 ms")),
            ("stop", json!("900 ms")),
            ("count", json!(3)),
            ("mss", json!(100)),
            ("ack_every", json!(1)),
            ("ack_every", json!(7)),
            ("host_queue", json!("fq")),
            ("initial_window", json!(1)),
            ("initial_window", json!(100)),
            ("pacing", json!("on")),
            ("pacing", json!("off")),
            ("pacing", json!("500 kbit/s")),
            ("access_rate", json!("2 Mbit/s")),
            ("offload", json!(true)),
            ("gro", json!(true)),
            ("whole_bursts", json!(true)),
            ("packet_metrics", json!(true)),
            ("stack", json!("ns3")),
            ("stack", json!("linux-4.9")),
            ("stack", json!("linux-5.1")),
            ("stack", json!("rfc")),
            ("send_buffer", json!("20 kB")),
            ("receive_buffer", json!("9 kB")),
            ("drop", json!([0, 1, 5, 6, 7])),
            ("traffic", json!({"kind": "sized", "size": "100 kB"})),
            ("traffic", json!({"kind": "cbr", "rate": "300 kbit/s"})),
            ("traffic", json!({"kind": "poisson", "rate": "2 Mbit/s"})),
            ("traffic", json!("on-off")),
            ("traffic", json!("web")),
        ]),
        0..5,
    );
    let rtt = select(vec!["0 s", "1 us", "3 ms", "40 ms", "600 ms"]);
    (cca, rtt, keys).prop_map(|(cca, rtt, keys)| {
        let mut flow =
            Map::from_iter([("cca".to_owned(), json!(cca)), ("rtt".to_owned(), json!(rtt))]);
        flow.extend(keys.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Value::Object(flow)
    })
}

/// The same as channels of a medium, which has the rate.
fn shared() -> impl Strategy<Value = (Value, Value)> {
    let standard = select(vec!["a", "g", "n", "ac"]);
    let queueing = select(vec!["driver", "mac80211"]);
    let keys = (standard, queueing, select(vec!["6 dB", "25 dB"]), any::<bool>());
    (link(), keys).prop_map(|(mut link, (standard, queueing, snr, minstrel))| {
        if let Value::Object(keys) = &mut link {
            keys.retain(|key, _| !["rate", "shaper", "policer", "device_queue"].contains(&&**key));
        }
        let rate_control = if minstrel { "minstrel-ht" } else { "fixed" };
        link["medium"] = json!({ "kind": "wifi", "standard": standard, "queueing": queueing,
            "snr": snr, "rate_control": rate_control, "mcs": 0 });
        (link, json!({}))
    })
}

fn scenario() -> impl Strategy<Value = Value> {
    let links = prop_oneof![3 => (link(), link()), 1 => shared()];
    (links, prop::collection::vec(flow(), 1..4), any::<u32>()).prop_map(
        |((bottleneck, reverse), flows, seed)| {
            json!({
                "duration": "1500 ms",
                "warmup": "250 ms",
                "seed": seed,
                "topology": { "kind": "dumbbell", "bottleneck": bottleneck, "reverse": reverse },
                "flows": flows,
            })
        },
    )
}

fn sums(table: &Table, key: &str, column: &str) -> Vec<f64> {
    let (keys, values) = (table.reals(key).unwrap(), table.reals(column).unwrap());
    let members = keys.iter().fold(0, |most, key| most.max(*key as usize + 1));
    let mut sums = vec![0.0; members];
    keys.iter().zip(values).for_each(|(key, value)| sums[*key as usize] += value);
    sums
}

fn check_flows(outcome: &Outcome) -> Result<(), TestCaseError> {
    let sum = |column: &str| sums(&outcome.flow_samples, "flow", column);
    let ordered = |less: &str, more: &str| {
        let (lesser, greater) = (sum(less), sum(more));
        let holds = lesser.iter().zip(&greater).all(|(a, b)| a <= b);
        prop_assert!(holds, "{less} {lesser:?} > {more} {greater:?}");
        Ok(())
    };
    ordered("in_order_bytes", "delivered_bytes")?;
    ordered("delivered_bytes", "sent_bytes")?;
    ordered("delivered_bytes", "written_bytes")?;
    ordered("delivered_packets", "sent_packets")?;
    ordered("retransmissions", "sent_packets")
}

fn check_links(outcome: &Outcome, rates: &[f64], seconds: f64) -> Result<(), TestCaseError> {
    // A shaping discipline sends a packet at once and only then waits for as long as it takes.
    let packet = 1514.0;
    for (bytes, rate) in sums(&outcome.link_samples, "link", "sent_bytes").iter().zip(rates) {
        prop_assert!((bytes - packet) * 8.0 <= rate * seconds, "{bytes} bytes at {rate} bit/s");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_scenarios_run(document in scenario()) {
        // Combinations that the reader refuses (ECN that the control cannot use, ...) are not runs.
        let Ok(scenario) = Scenario::from_json(&document, builtin()) else {
            return Err(TestCaseError::reject("refused"));
        };
        let plan = scenario.plan();
        let outcome = Simulation::new(&scenario).unwrap().run();
        prop_assert!(outcome.is_ok(), "{:?}", outcome.err());
        let outcome = outcome.unwrap();
        check_flows(&outcome)?;
        let rate = |link: &sojourn_sim::topology::PlannedLink| {
            link.spec.rate.map_or(f64::INFINITY, |rate| rate.as_bps() as f64)
        };
        let rates: Vec<f64> = plan.links.iter().map(rate).collect();
        check_links(&outcome, &rates, 1.5)?;
    }
}
