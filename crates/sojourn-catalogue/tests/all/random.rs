//! Random scenarios for property tests.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use sojourn_base::registry::Kind;
use sojourn_catalogue::builtin;
use sojourn_sim::scenario::{Scenario, json_schema};
use sojourn_sim::spec::{Cca, Medium, Queue, Traffic};

fn names<K: Kind>() -> impl Strategy<Value = Value> {
    prop::sample::select(
        builtin().names::<K>().into_iter().map(|name| json!(name)).collect::<Vec<_>>(),
    )
}

/// Values that some key accepts, and values that none accepts.
#[expect(clippy::too_many_lines, reason = "a list, read line by line")]
fn any_value() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(vec![
        "0 s",
        "1 ns",
        "15 ms",
        "10 s",
        "1e6 s",
        "9e15 ns",
        "1 bit/s",
        "32 Mbit/s",
        "9e6 Gbit/s",
        "0 packets",
        "40 packets",
        "1e18 packets",
        "1 B",
        "60 kB",
        "1 bdp",
        "1e6 bdp",
        "0 %",
        "0.1 %",
        "100 %",
        "1e-300 %",
        "auto",
        "reverse",
        "udp",
        "fq",
        "ns3",
        "linux_4.9",
        "l4s",
        "sce",
        "fifo",
        "dumbbell",
        "parking-lot",
        "graph",
        "reno",
        "greedy",
        "cbr",
        "n1",
        "",
        "é",
        "1 é",
        "-1 ms",
        "+ s",
        ". B",
        "1_0 ms",
        "∞ s",
        "e s",
        "1e s",
        "1e400 s",
    ]);
    prop_oneof![
        4 => text.prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => (0..5u64).prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!([])),
        1 => Just(json!({})),
        1 => ".{0,12}".prop_map(Value::from),
    ]
}

fn spec<K: Kind>() -> impl Strategy<Value = Value> {
    names::<K>().prop_flat_map(|name| {
        let keys: Vec<String> = builtin()
            .find::<K>(name.as_str().unwrap_or_default())
            .map(|entry| (entry.listing.schema)())
            .ok()
            .and_then(|schema| schema["properties"].as_object().cloned())
            .map(|properties| properties.into_iter().map(|(key, _)| key).collect())
            .unwrap_or_default();
        let key = if keys.is_empty() {
            Just("x".to_owned()).boxed()
        } else {
            prop::sample::select(keys).boxed()
        };
        let kind = name.clone();
        prop_oneof![
            9 => Just(name),
            1 => (key, any_value()).prop_map(move |(key, value)| {
                let mut table = json!({ "kind": kind });
                table[key.as_str()] = value;
                table
            }),
        ]
    })
}

/// A key of a flow that not every flow has.
fn flow_option() -> impl Strategy<Value = (&'static str, Value)> {
    prop::sample::select(vec![
        ("ecn", json!("classic")),
        ("ecn", json!("accurate")),
        ("ecn", json!("sce")),
        ("stack", json!("ns3")),
        ("stack", json!("linux-4.9")),
        ("stack", json!("rfc")),
        ("host_queue", json!("fq")),
        ("offload", json!(true)),
        ("gro", json!(true)),
        ("whole_bursts", json!(true)),
        ("packet_metrics", json!(true)),
        ("ack_every", json!(1)),
        ("initial_ssthresh", json!(2)),
        ("mss", json!(1)),
        ("mss", json!(9000)),
        ("send_buffer", json!("10 kB")),
        ("receive_buffer", json!("20 kB")),
        ("drop", json!([0, 1, 5])),
        ("start", json!("100 ms")),
        ("stop", json!("300 ms")),
        ("direction", json!("reverse")),
    ])
}

fn tcp() -> impl Strategy<Value = Value> {
    let options = prop::collection::vec(flow_option(), 0..4);
    (spec::<Cca>(), spec::<Traffic>(), options).prop_map(|(cca, traffic, options)| {
        let mut flow = json!({ "cca": cca, "traffic": traffic });
        options.into_iter().for_each(|(key, value)| flow[key] = value);
        flow
    })
}

fn udp() -> impl Strategy<Value = Value> {
    prop::sample::select(vec!["cbr", "poisson", "on-off"])
        .prop_map(|traffic| json!({ "transport": "udp", "traffic": traffic }))
}

fn flow() -> impl Strategy<Value = Value> {
    (prop_oneof![4 => tcp(), 1 => udp()], 1..4u64, 0..2u64).prop_map(|(mut flow, count, rtt)| {
        flow["count"] = json!(count);
        flow["rtt"] = json!(format!("{rtt} ms"));
        flow
    })
}

/// One impairment of a link and its table.
fn impairment() -> impl Strategy<Value = (&'static str, Value)> {
    prop::sample::select(vec![
        ("loss", json!("1 %")),
        ("shaper", json!({ "rate": "5 Mbit/s", "burst": "10 kB" })),
        ("policer", json!({ "rate": "5 Mbit/s", "burst": "10 kB" })),
        ("trace", json!({ "opportunities": [1, 1, 7, 20] })),
        (
            "rate_schedule",
            json!({ "kind": "steps", "steps": [{ "at": "1 s", "value": "2 Mbit/s" }] }),
        ),
        (
            "delay_schedule",
            json!({ "kind": "square", "high": "9 ms", "low": "1 ms", "period": "1 s" }),
        ),
        ("jitter", json!({ "spread": "1 ms", "reorder": true })),
        ("reorder", json!({ "probability": "1 %", "delay": "3 ms" })),
        ("aggregation", json!({ "interval": "5 ms", "acks_per_flow": 2 })),
        ("burst_loss", json!({ "to_bad": "1 %", "to_good": "20 %" })),
        ("duplicate", json!("1 %")),
        ("ecn_fault", json!("stuck-ce")),
        ("outages", json!([{ "start": "200 ms", "duration": "100 ms", "two_way": true }])),
    ])
}

fn link() -> impl Strategy<Value = Value> {
    let impairments = prop::collection::vec(impairment(), 0..2);
    (spec::<Queue>(), 1..1000u64, 0..3u64, impairments)
        .prop_map(|(queue, rate, delay, impairments)| {
            let (rate, delay) = (format!("{rate} Mbit/s"), format!("{delay} ms"));
            let mut link = json!({ "rate": rate, "delay": delay, "queue": queue });
            for (key, value) in impairments {
                link[key] = value;
            }
            link
        })
        .boxed()
}

/// A medium of a link's own, most of whose keys fit. Strategies are boxed where they are large, because
/// their values are made on the stack.
fn medium() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        ("standard", json!("g")),
        ("standard", json!("n")),
        ("queueing", json!("mac80211")),
        ("rate_control", json!("minstrel-ht")),
        ("snr", json!("20 dB")),
        ("snr", json!("-3 dB")),
        ("frames", json!(1)),
        ("amsdu", json!("4 kB")),
        ("rts_threshold", json!("500 B")),
        ("attempts", json!(1)),
        ("contention", json!("bianchi")),
        ("stations", json!({ "left": { "driver_queue": "1 packets" } })),
    ]);
    let table = |spec: Value| if spec.is_string() { json!({ "kind": spec }) } else { spec };
    (spec::<Medium>(), prop::collection::vec(keys, 0..4))
        .prop_map(move |(spec, keys)| {
            let mut medium = table(spec);
            keys.into_iter().for_each(|(key, value)| medium[key] = value);
            medium
        })
        .boxed()
}

/// A link on a medium instead of one that has a transmitter of its own.
fn shared_link() -> impl Strategy<Value = Value> {
    (link(), medium())
        .prop_map(|(link, medium)| {
            let transmitters = ["rate", "rate_schedule", "trace", "shaper", "policer"];
            let keys = link.as_object().cloned().unwrap_or_default().into_iter();
            let mut link: Value = keys.filter(|(key, _)| !transmitters.contains(&&**key)).collect();
            link["medium"] = medium;
            link
        })
        .boxed()
}

fn topology() -> impl Strategy<Value = Value> {
    prop_oneof![
        (link(), link()).prop_map(
            |(there, back)| json!({ "kind": "dumbbell", "bottleneck": there, "reverse": back })
        ),
        shared_link().prop_map(|link| json!({ "kind": "dumbbell", "bottleneck": link })),
        prop::collection::vec(link(), 1..4)
            .prop_map(|hops| json!({ "kind": "parking_lot", "hops": hops })),
        link().prop_map(|mut link| {
            link["id"] = json!("only");
            link["from"] = json!("a");
            link["to"] = json!("b");
            json!({ "kind": "graph", "links": [link] })
        }),
    ]
    .boxed()
}

/// Mostly valid scenarios.
pub(crate) fn scenario() -> impl Strategy<Value = Value> {
    let flows = prop::collection::vec(flow(), 1..4);
    (topology(), flows, 1..100u64).prop_map(|(topology, mut flows, duration)| {
        if topology["kind"] == "graph" {
            for flow in &mut flows {
                flow["from"] = json!("a");
                flow["to"] = json!("b");
            }
        }
        json!({ "duration": format!("{duration} s"), "topology": topology, "flows": flows })
    })
}

/// The tables and lists of `value`, by their pointers.
fn places(value: &Value, here: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(table) => {
            found.push(here.to_owned());
            table.iter().for_each(|(key, inner)| places(inner, &format!("{here}/{key}"), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, inner)| places(inner, &format!("{here}/{i}"), found));
        }
        _ => {}
    }
}

/// Every key that occurs anywhere in the schema, and one that does not.
fn keys() -> Vec<String> {
    fn collect(schema: &Value, found: &mut BTreeSet<String>) {
        if let Some(properties) = schema["properties"].as_object() {
            found.extend(properties.keys().cloned());
        }
        match schema {
            Value::Object(table) => table.values().for_each(|inner| collect(inner, found)),
            Value::Array(items) => items.iter().for_each(|inner| collect(inner, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::from(["nonsense".to_owned()]);
    collect(&json_schema(builtin()), &mut found);
    found.into_iter().collect()
}

/// A scenario with some keys set to arbitrary values.
pub(crate) fn mutated() -> impl Strategy<Value = Value> {
    let change = (any::<prop::sample::Index>(), prop::sample::select(keys()), any_value());
    (scenario(), prop::collection::vec(change, 0..4)).prop_map(|(mut scenario, changes)| {
        for (place, key, value) in changes {
            let mut found = Vec::new();
            places(&scenario, "", &mut found);
            if let Some(Value::Object(table)) =
                scenario.pointer_mut(&found[place.index(found.len())])
            {
                table.insert(key, value);
            }
        }
        scenario
    })
}

/// Values at the ends of what a key of the same kind as `value` may take.
fn extremes(value: &Value) -> Vec<Value> {
    let texts = |of: &[&str]| of.iter().map(|text| json!(text)).collect();
    match value {
        Value::Bool(_) => vec![json!(false), json!(true)],
        Value::Number(number) if number.is_f64() => vec![json!(1e-9), json!(1.0), json!(1e9)],
        Value::Number(_) => vec![json!(0), json!(1), json!(65_536), json!(u32::MAX)],
        Value::String(text) => match text.rsplit_once(' ').map_or("", |(_, unit)| unit) {
            unit if unit.ends_with("bit/s") => {
                texts(&["1 bit/s", "56 kbit/s", "1 Tbit/s", "9e6 Gbit/s"])
            }
            "ns" | "us" | "ms" | "s" => texts(&["0 s", "1 ns", "100 ns", "20 us", "1e5 s"]),
            "%" => texts(&["0 %", "1e-9 %", "50 %", "99.9999 %", "100 %"]),
            "packets" | "bdp" => texts(&["0 packets", "1 packets", "4e7 packets", "1e6 bdp"]),
            unit if unit.ends_with('B') => texts(&["0 B", "1 B", "65 kB", "1 GB", "1e15 B"]),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// A valid scenario with every default filled in, and then some values set to extremes.
pub(crate) fn stretched() -> impl Strategy<Value = Value> {
    fn leaves(value: &Value, here: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(table) => {
                table
                    .iter()
                    .for_each(|(key, inner)| leaves(inner, &format!("{here}/{key}"), found));
            }
            Value::Array(items) => (0..)
                .zip(items)
                .for_each(|(i, inner): (u32, _)| leaves(inner, &format!("{here}/{i}"), found)),
            _ => found.push(here.to_owned()),
        }
    }
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let valid = scenario().prop_filter_map("refused", |mut value| {
        value["duration"] = json!("500 ms");
        Scenario::from_json(&value, builtin()).ok()
    });
    (valid, prop::collection::vec(change, 1..4)).prop_map(|(scenario, changes)| {
        let mut value = scenario.to_json();
        let mut found = Vec::new();
        leaves(&value, "", &mut found);
        for (place, choice) in changes {
            let Some(leaf) = value.pointer_mut(&found[place.index(found.len())]) else { continue };
            let choices = extremes(leaf);
            if !choices.is_empty() {
                *leaf = choices[choice.index(choices.len())].clone();
            }
        }
        value
    })
}
