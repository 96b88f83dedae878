//! Tests of entries in scenarios.

use serde_json::{Value, json};

use super::{Draws, Due};
use crate::catalogue::builtin;
use crate::scenario::{Scenario, json_schema};
use crate::units::{Span, Time};

/// An entry with these keys besides usual ones; null takes one of these away.
fn entry(more: Value) -> Value {
    let mut entry =
        json!({ "label": "web", "load": 0.6, "size": "10 kB", "cca": "cubic", "rtt": "20 ms" });
    let keys = entry.as_object_mut().unwrap();
    for (key, value) in more.as_object().unwrap() {
        match value {
            Value::Null => keys.shift_remove(key),
            value => keys.insert(key.clone(), value.clone()),
        };
    }
    entry
}

fn document(entries: &[Value]) -> Value {
    json!({
        "duration": "10 s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": { "rate": "100 Mbit/s" },
            "reverse": { "rate": "10 Mbit/s" },
        },
        "flows": [{ "cca": "cubic", "rtt": "20 ms", "count": 2 }],
        "arrivals": entries,
    })
}

fn read(entries: &[Value]) -> Scenario {
    Scenario::from_json(&document(entries), builtin()).unwrap()
}

fn refusal(entries: &[Value]) -> String {
    Scenario::from_json(&document(entries), builtin()).unwrap_err().to_string()
}

#[test]
fn the_canonical_form_has_defaults_and_reads_back_to_itself() {
    let closed = json!({ "label": null, "load": null, "process": "closed", "users": 3 });
    let pool = json!({ "connections": "pool", "label": "pool", "start": "1 s" });
    let udp = json!({ "label": "udp", "transport": "udp", "cca": null, "load": 0.1 });
    let scenario = read(&[entry(json!({})), entry(closed), entry(pool), entry(udp)]);
    let canonical = scenario.to_json();
    let [web, closed, pool, udp] = [0_usize, 1, 2, 3].map(|index| &canonical["arrivals"][index]);
    assert_eq!(web["process"], "poisson");
    assert_eq!(web["stop"], "10 s");
    assert_eq!(web["stack"], "linux-6");
    assert_eq!(web["cca"]["kind"], "cubic");
    for key in ["traffic", "count", "drop", "receivers", "packet_metrics", "rate", "mix"] {
        assert_eq!(web.get(key), None, "{key}");
    }
    assert_eq!([&closed["label"], &closed["think"]], ["arrivals-1", "1 s"]);
    assert_eq!(pool["pool"], json!({ "protocol": "http/1", "size": 6, "idle": "60 s" }));
    assert_eq!(pool["start"], "1 s");
    assert_eq!(udp["transport"], "udp");
    assert_eq!(Scenario::from_json(&canonical, builtin()).unwrap().to_json(), canonical);
}

#[test]
fn a_scenario_without_arrivals_has_no_word_of_them() {
    let scenario = read(&[]);
    assert_eq!(scenario.to_json().get("arrivals"), None);
    assert_eq!(scenario.network().get("arrivals"), None);
}

#[test]
fn flows_may_be_missing_where_transfers_arrive() {
    let mut document = document(&[entry(json!({}))]);
    document.as_object_mut().unwrap().shift_remove("flows");
    let scenario = Scenario::from_json(&document, builtin()).unwrap();
    assert_eq!(scenario.to_json()["flows"], json!([]));
    assert_eq!(scenario.paths().len(), 1);
}

#[test]
fn variants_of_a_mix_have_the_entrys_keys_and_their_own() {
    let mix = json!([
        { "cca": "cubic", "weight": 3 },
        { "cca": "dctcp", "rtt": "40 ms", "ecn": "dctcp" },
    ]);
    let scenario =
        read(&[entry(json!({ "cca": null, "mix": mix })), entry(json!({ "label": "b" }))]);
    let mixed = &scenario.arrivals[0];
    let told: Vec<_> = mixed.variants().iter().map(|(w, flow)| (*w, flow.rtt())).collect();
    assert_eq!(told, [(3.0, Span::from_millis(20)), (1.0, Span::from_millis(40))]);
    let canonical = scenario.to_json();
    let written = &canonical["arrivals"][0];
    assert_eq!(written["cca"], Value::Null);
    assert_eq!(written["mss"], 1448);
    assert_eq!(written["mix"][0]["weight"], 3.0);
    assert_eq!(written["mix"][0]["ecn"], "off");
    assert_eq!(written["mix"][1]["rtt"], "40 ms");
    assert_eq!(Scenario::from_json(&canonical, builtin()).unwrap().to_json(), canonical);

    // Flows 0 and 1, then the variants.
    let paths: Vec<_> = scenario.paths().iter().map(|flow| (flow.id, flow.field())).collect();
    let fields = ["flows.0", "flows.0", "arrivals.0", "arrivals.0", "arrivals.1"];
    assert_eq!(paths, (0..).zip(fields.map(str::to_owned)).collect::<Vec<_>>());
    assert_eq!(scenario.plan().routes.len(), 5);
    let network = scenario.network();
    assert_eq!(network["paths"], json!([[0], [0]]));
    assert_eq!(network["arrivals"][0]["variants"][1]["base_rtt"], 0.04);
    assert_eq!(network["arrivals"][0]["variants"][0]["weight"], 0.75);
    assert_eq!(network["arrivals"][0]["variants"][1]["cca"], "dctcp");
    assert_eq!(network["arrivals"][1]["mean_size"], 10_000.0);
}

#[test]
fn a_mix_of_one_is_none() {
    let canonical = read(&[entry(json!({ "mix": [{ "rtt": "50 ms" }] }))]).to_json();
    assert_eq!(canonical["arrivals"][0]["rtt"], "50 ms");
    assert_eq!(canonical["arrivals"][0].get("mix"), None);
}

#[test]
fn a_load_is_of_the_payload_at_the_bottleneck() {
    let rate = |more: Value| read(&[entry(more)]).offers()[0].rate;
    let near = |rate: f64, expected: f64| assert!((rate / expected - 1.0).abs() < 1e-12, "{rate}");
    // 60 % of 100 Mbit/s, in 10 kB.
    near(rate(json!({})), 750.0);
    near(rate(json!({ "session": { "transfers": 5, "reading": "1 s" } })), 150.0);
    near(rate(json!({ "size": "web-search" })), 6e7 / 8.0 / 1_711_250.0);
    // The bottleneck counts, even where there is a slower link.
    near(rate(json!({ "access_rate": "20 Mbit/s" })), 750.0);
    // The slowest link of the other direction.
    near(rate(json!({ "direction": "reverse" })), 75.0);
    near(rate(json!({ "load": null, "rate": "3 /s" })), 3.0);
    let list = json!({ "kind": "file", "time": [0.0, 1.0, 9.0, 11.0] });
    near(rate(json!({ "load": null, "process": list })), 0.3);
    assert!(rate(json!({ "load": null, "process": "closed", "users": 1 })).is_nan());
}

#[test]
fn more_than_the_links_rate_on_the_wire_is_warned_of() {
    let told = |document: &Value| -> Vec<String> {
        let scenario = Scenario::from_json(document, builtin()).unwrap();
        scenario.warnings().iter().map(ToString::to_string).collect()
    };
    let beyond = "of the rate of link 'bottleneck'; transfers pile up without end";
    // 7 segments and an ACK with 66 B of headers and framing each, a SYN with 74 B: 10,602 B for
    // 10,000 B.
    let much = told(&document(&[entry(json!({ "load": 0.99 }))]));
    let expected = format!("with headers, framing and handshakes 1.05 {beyond}");
    assert_eq!(much, [format!("arrivals.0.load: {expected}")]);
    assert!(told(&document(&[entry(json!({ "load": 0.94 }))])).is_empty());

    // Both at once are too much, one after the other are not.
    let two = |stop: &str| {
        let first = json!({ "label": "a", "stop": stop });
        [entry(first), entry(json!({ "label": "b", "start": "5 s" }))]
    };
    assert!(told(&document(&two("5 s"))).is_empty());
    let both = told(&document(&two("6 s")));
    assert_eq!(both.len(), 1, "{both:?}");
    assert!(both[0].starts_with("arrivals.1.load: with headers, framing and handshakes 1.27 "));

    // In place of the SYN and its acknowledgment the SYN-ACK, and an acknowledgment of the request;
    // in a pool the latter alone.
    let wire = |more: Value, expected: f64| {
        let bytes = read(&[entry(more)]).offers()[0].wire_bytes;
        assert!((bytes - expected).abs() < 1e-6, "{bytes}");
    };
    wire(json!({}), 10_602.0);
    wire(json!({ "request": "500 B" }), 10_602.0);
    wire(json!({ "request": "5 kB" }), 10_668.0);
    wire(json!({ "request": "500 B", "connections": "pool" }), 10_528.0);

    // 1,490 B for a datagram of 1,448 B.
    let mut beside = document(&[entry(json!({ "load": 0.9 }))]);
    let traffic = json!({ "kind": "cbr", "rate": "10 Mbit/s", "size": "1448 B" });
    beside["flows"] = json!([{ "transport": "udp", "rtt": "20 ms", "traffic": traffic }]);
    assert!(told(&beside)[0].contains("handshakes 1.06 "), "{:?}", told(&beside));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list, read line by line")]
fn each_bad_key_is_named_with_what_is_allowed() {
    let geometric = json!({ "transfers": { "kind": "geometric", "mean": 3 }, "reading": "1 s" });
    let list = |pair: u16| json!({ "kind": "file", "time": [0.0, 1.0], "size": [10, 10], "pair": [0, pair] });
    for (more, expected) in [
        (json!({ "lable": "x" }), "lable: unknown key 'lable'; did you mean 'label'?"),
        (json!({ "count": 3 }), "count: given; an arrival is one transfer: use size, rate, mix"),
        (json!({ "traffic": "greedy" }), "traffic: given; an arrival is one transfer"),
        (json!({ "label": "" }), "label: \"\" given; allowed: at least 1 character"),
        (json!({ "load": null }), "rate: is missing; give rate, load, or users with process"),
        (json!({ "rate": "1 /s" }), "load: 0.6 given with rate; give one of them"),
        (json!({ "load": null, "rate": "100" }), "rate: '100': expected a frequency"),
        (json!({ "load": -1 }), "load: -1 given; allowed: above 0, at most 10"),
        (json!({ "users": 3 }), "users: given with process poisson; allowed: closed only"),
        (json!({ "think": "1 s" }), "think: given with process poisson; allowed: closed only"),
        (json!({ "process": "closed" }), "load: given with process closed, whose users make"),
        (json!({ "process": "closed", "load": null }), "users: is missing; give the number"),
        (
            json!({ "process": "closed", "load": null, "users": 0 }),
            "users: 0 given; allowed: 1 to 100000",
        ),
        (json!({ "size": null }), "size: is missing; give an amount of data such as \"10 kB\""),
        (json!({ "size": "0 B" }), "size: 0 B given; allowed: 1 B to 1 TB"),
        (json!({ "size": { "kind": "pareto" } }), "size.shape: is missing"),
        (json!({ "process": list(0) }), "load: given with process file, which lists the times"),
        (json!({ "process": list(0), "load": null }), "size: given as well as the sizes of"),
        (
            json!({ "process": list(1), "load": null, "size": null }),
            "process.pair: pair 1 given; the entry has 1 variants (0 to 0)",
        ),
        (
            json!({ "process": list(0), "load": null, "size": null, "session": geometric }),
            "session: given with process file, which gives single transfers",
        ),
        (json!({ "pool": {} }), "pool: given with connections each"),
        (
            json!({ "connections": "pool", "pool": { "protocol": "http/2", "size": 6 } }),
            "pool.size: 6 given; allowed: 1 with http/2",
        ),
        (json!({ "server_time": "1 ms" }), "server_time: given without request"),
        (json!({ "transport": "sliq" }), "transport: sliq given; allowed: tcp, udp"),
        (json!({ "request": "0 B" }), "request: 0 B given; allowed: 1 B to 1 TB"),
        (
            json!({ "request": "1 kB", "transport": "udp", "cca": null }),
            "request: given with transport udp, whose datagrams have no answers",
        ),
        (json!({ "cca": "cubik" }), "cca: unknown congestion control 'cubik'"),
        (json!({ "cca": null }), "cca: is missing; name a congestion control"),
        (json!({ "stop": "11 s" }), "stop: 11 s given; allowed: at most the duration, 10 s"),
        (
            json!({ "mix": [{}, { "weight": 0 }] }),
            "mix.1.weight: 0 given; allowed: above 0, at most 1000000000",
        ),
        (json!({ "mix": [{}, { "mss": 0 }] }), "mix.1.mss: 0 given; allowed: 1 to 65000 bytes"),
        (json!({ "mix": [{}, { "start": "1 s" }] }), "mix.1.start: given; the whole entry has"),
        (json!({ "mix": [{}, { "wait": 3 }] }), "mix.1.wait: unknown key 'wait'"),
        (
            json!({ "mix": [{}, { "direction": "reverse" }] }),
            "load: given; its variants pass different slowest links; give rate",
        ),
        (
            json!({ "load": null, "rate": "2e7 /s" }),
            "rate: 2.00e8 transfers expected, which are too many, given; allowed: a value",
        ),
        (
            json!({ "process": { "kind": "incast", "senders": 75, "jitter": "1 s" } }),
            "process.jitter: 1 s given; allowed: at most 100 ms, the time between groups",
        ),
    ] {
        let told = refusal(&[entry(more)]);
        assert!(told.starts_with(&format!("arrivals.0.{expected}")), "{told}");
    }
    let twice = refusal(&[entry(json!({})), entry(json!({}))]);
    assert_eq!(twice, "arrivals.1.label: 'web' given twice; give each entry its own");
    let no_list = Scenario::from_json(&json!({ "arrivals": {} }), builtin()).unwrap_err();
    assert!(no_list.to_string().starts_with("arrivals: expected a list of tables"));
}

#[test]
fn draws_depend_on_the_label_and_the_number_alone() {
    let size = |mean: &str| json!({ "kind": "exponential", "mean": mean });
    let drawn = |more: Value, label: &str| -> Vec<u64> {
        let scenario = read(&[entry(more)]);
        let draws = Draws::new(7, label);
        let due = Due::at(Time::ZERO);
        (0..5).map(|n| draws.transfer(&scenario.arrivals[0], n, &due).size).collect()
    };
    let usual = drawn(json!({ "size": size("10 kB") }), "web");
    let twice = drawn(json!({ "size": size("20 kB"), "load": 0.1 }), "web");
    for (one, two) in usual.iter().zip(&twice) {
        assert!((*two as f64 - 2.0 * *one as f64).abs() <= 2.0, "{one}, {two}");
    }
    assert_ne!(usual, drawn(json!({ "size": size("10 kB") }), "other"));
    let [user, session] = [Draws::new(7, "web").user(0), Draws::new(7, "web").session(0)];
    let web = Draws::new(7, "web");
    assert_ne!(user.when(), web.when());
    assert_ne!(user.when(), session.when());
    assert_ne!(web.connection(0), web.connection(1));
}

#[test]
fn what_an_arrival_gives_is_not_drawn() {
    let mix = json!([{}, { "rtt": "1 ms" }]);
    let work = json!({ "kind": "fixed", "mean": "3 ms" });
    let keys = json!({ "mix": mix, "request": "100 B", "server_time": work });
    let entries = crate::arrivals::read(vec![entry(keys).as_object().unwrap().clone()]).unwrap();
    let due = Due { size: Some(77), variant: Some(1), ..Due::at(Time::ZERO) };
    let transfer = Draws::new(1, "web").transfer(&entries[0], 0, &due);
    assert_eq!((transfer.size, transfer.variant, transfer.request), (77, 1, Some(100)));
    assert_eq!(transfer.server_time.as_millis(), 3);
}

#[test]
fn the_schema_has_the_keys_of_entries() {
    let schema = json_schema(builtin());
    let entry = &schema["$defs"]["ArrivalsSpec"]["properties"];
    for key in ["label", "process", "size", "cca", "rtt", "start", "mix"] {
        assert!(entry[key].is_object(), "{key}");
    }
    let variant = &entry["mix"]["items"]["properties"];
    for (table, key) in [(entry, "traffic"), (entry, "count"), (variant, "start")] {
        assert_eq!(table.get(key), None, "{key}");
    }
    assert!(variant["weight"].is_object());
    assert_eq!(entry["size"]["anyOf"][0]["oneOf"][3]["properties"]["kind"]["const"], "pareto");
    assert!(!schema["required"].as_array().unwrap().contains(&json!("flows")));
}
