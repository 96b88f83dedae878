//! A flow that starts later does the same later: nothing counts time from the beginning of the run
//! but in steps of clocks.
//!
//! Over a FIFO, since the clocks of other disciplines run from the beginning, as those of their
//! originals do; and without schedules.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use sojourn_catalogue::builtin;
use sojourn_net::record::live::Batch;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;
use sojourn_sim::spec::{Cca, Stack};

/// A whole number of the steps in which every stack's timers count waits of up to four minutes: 4,096
/// ticks of 1 or 4 ms.
const SHIFT_MS: u64 = 16_384;
const SECONDS: u64 = 4;

/// Event of one packet: time in ns, link, flow, index, size, event and reason.
type Row = (i64, String, i64, i64, i64, String, String);

/// Events of the packets of `flows` that start after `start` milliseconds, with times counted from then.
fn packets(flows: &Value, loss: &str, start: u64) -> Vec<Row> {
    let mut flows = flows.clone();
    for flow in flows.as_array_mut().unwrap() {
        let after = flow["start"].as_u64().unwrap_or(0);
        flow["start"] = json!(format!("{} ms", after + start));
    }
    let bottleneck = json!({
        "rate": "10 Mbit/s", "loss": loss, "queue": { "kind": "fifo", "limit": "40 packets" },
    });
    let scenario = json!({
        "duration": format!("{} ms", 1000 * SECONDS + start),
        "record": ["packets"],
        "topology": { "kind": "dumbbell", "bottleneck": bottleneck },
        "flows": flows,
    });
    let rows = Arc::new(Mutex::new(Vec::new()));
    let writer = Arc::clone(&rows);
    let sink = move |batch: Batch, words: &[Arc<str>]| {
        let Batch::Packets(batch) = batch else { return };
        let word = |number: u32| words[number as usize].to_string();
        let row = |i: usize| {
            let time = (batch.time[i] * 1e9).round() as i64 - (start * 1_000_000) as i64;
            let (link, event, reason) =
                (word(batch.link[i]), word(batch.event[i]), word(batch.reason[i]));
            (time, link, batch.flow[i], batch.index[i], batch.size[i], event, reason)
        };
        writer.lock().unwrap().extend((0..batch.time.len()).map(row));
    };
    let scenario = Scenario::from_json(&scenario, builtin()).unwrap();
    Simulation::recording(&scenario, Box::new(sink)).unwrap().run().unwrap();
    let mut rows = std::mem::take(&mut *rows.lock().unwrap());
    // The order is by time within a link only.
    rows.sort_by(|a, b| (&a.1, a.0).cmp(&(&b.1, b.0)));
    rows
}

/// The first packet whose events differ when all flows start later, if any.
fn first_difference(flows: &Value, loss: &str) -> Option<String> {
    let [early, late] = [0, SHIFT_MS].map(|start| packets(flows, loss, start));
    assert!(!early.is_empty());
    let end = SECONDS as i64 * 1_000_000_000;
    // At the very end one run may have reported events that the other had no time for.
    let rows = early.len().max(late.len());
    (0..rows).find_map(|i| {
        let (a, b) = (early.get(i), late.get(i));
        (a != b && a.or(b).unwrap().0 < end).then(|| format!("at once {a:?}, later {b:?}"))
    })
}

#[test]
fn every_control_of_every_stack_does_the_same_when_it_starts_later() {
    let mut parted = BTreeMap::new();
    for cca in builtin().names::<Cca>() {
        for stack in Stack::NAMES {
            // A control that only pacing bounds needs a host queue that paces.
            let queue = if cca == "fixed-rate" { "fq" } else { "none" };
            let flows =
                json!([{ "cca": cca, "rtt": "60 ms", "stack": stack, "host_queue": queue }]);
            if let Some(difference) = first_difference(&flows, "0 %") {
                parted.insert((cca.to_owned(), stack.to_owned()), difference);
            }
        }
    }
    assert!(parted.is_empty(), "{parted:#?}");
}

fn flow() -> impl Strategy<Value = Value> {
    let traffic = select(vec![
        json!("greedy"),
        json!({ "kind": "sized", "size": "300 kB" }),
        json!({ "kind": "on-off", "rate": "8 Mbit/s", "size": "14480 B", "on": "500 ms",
                "off": "700 ms", "times": "fixed" }),
        json!("web"),
    ]);
    let keys = prop::collection::vec(
        select(vec![
            ("ack_every", json!(1)),
            ("offload", json!(true)),
            ("gro", json!(true)),
            ("host_queue", json!("fq")),
            ("send_buffer", json!("30 kB")),
            ("send_buffer", json!("stack")),
            ("receive_buffer", json!("20 kB")),
            ("receive_buffer", json!("stack")),
            ("direction", json!("reverse")),
            ("transport", json!("udp")),
            ("transport", json!("sliq")),
            ("start", json!(120)),
        ]),
        0..4,
    );
    let cca = select(builtin().names::<Cca>());
    let rtt = select(vec!["1 ms", "60 ms", "500 ms"]);
    (cca, select(Stack::NAMES.to_vec()), rtt, traffic, keys).prop_map(
        |(cca, stack, rtt, traffic, keys)| {
            let mut flow = json!({ "cca": cca, "stack": stack, "rtt": rtt, "traffic": traffic });
            for (key, value) in keys {
                flow[key] = value;
            }
            let start = flow["start"].take();
            if flow["transport"] == "udp" {
                flow = json!({ "transport": "udp", "rtt": rtt,
                               "traffic": { "kind": "poisson", "rate": "2 Mbit/s" } });
            } else if flow["transport"] == "sliq" {
                flow = json!({ "transport": "sliq", "rtt": rtt, "cca": ["cubic", "copa"], "mss": 1000,
                               "traffic": { "kind": "cbr", "rate": "6 Mbit/s" } });
            }
            flow["start"] = start;
            flow
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60, max_global_rejects: 1 << 16, ..ProptestConfig::default()
    })]
    #[test]
    fn so_do_several_with_other_keys(
        flows in prop::collection::vec(flow(), 1..4),
        loss in select(vec!["0 %", "1 %", "20 %"]),
    ) {
        let scenario = json!({ "duration": "4 s", "flows": flows,
            "topology": { "kind": "dumbbell", "bottleneck": { "rate": "10 Mbit/s" } } });
        let mut readable = scenario.clone();
        for flow in readable["flows"].as_array_mut().unwrap() {
            flow["start"] = json!("0 s");
        }
        // Not all keys can be combined.
        prop_assume!(Scenario::from_json(&readable, builtin()).is_ok());
        let difference = first_difference(&json!(flows), loss);
        prop_assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    }
}
