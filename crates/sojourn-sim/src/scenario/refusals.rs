//! Tests of invalid scenarios and their messages.

use serde_json::{Value, json};

use super::{Scenario, toml_to_json};
use crate::catalogue::builtin;

/// A valid scenario.
fn good() -> Value {
    json!({
        "name": "good",
        "duration": "10 s",
        "topology": { "kind": "dumbbell", "bottleneck": { "rate": "10 Mbit/s" } },
        "flows": [{ "cca": "reno", "rtt": "20 ms" }],
    })
}

/// The message for the valid scenario in which the field at `pointer` is `value`.
fn refusal(pointer: &str, value: Value) -> String {
    let mut scenario = good();
    set(&mut scenario, pointer, value);
    match Scenario::from_json(&scenario, builtin()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted: {scenario}"),
    }
}

fn set(scenario: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = scenario.pointer_mut(parent).unwrap();
    match parent {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        _ => parent[key] = value,
    }
}

#[test]
fn the_good_one_is_good() {
    Scenario::from_json(&good(), builtin()).unwrap();
}

#[test]
fn a_capture_is_of_what_there_is() {
    let refused = |pcap: Value| refusal("/pcap", pcap);
    assert_eq!(refused(json!({ "flows": [0, 1] })), "pcap.flows.1: 1 given; allowed: 0 to 0");
    assert_eq!(
        refused(json!({ "links": ["botleneck"] })),
        "pcap.links.0: unknown link 'botleneck'; did you mean 'bottleneck'? allowed: bottleneck",
    );
    let unknown = refused(json!({ "flow": [0] }));
    assert!(unknown.starts_with("pcap.flow: unknown key"), "{unknown}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list, read line by line")]
fn each_bad_field_is_named_with_what_was_given_and_what_is_allowed() {
    let rate = "/topology/bottleneck/rate";
    let queue = "/topology/bottleneck/queue";
    let flow = |key: &str| format!("/flows/0/{key}");
    let table: Vec<(String, Value, &str)> = vec![
        // Units.
        (
            rate.into(),
            json!("10 ms"),
            "topology.bottleneck.rate: '10 ms': unknown unit 'ms'; allowed: Gbit/s, Mbit/s, kbit/s, bit/s; expected a rate such as \"32 Mbit/s\"",
        ),
        (
            rate.into(),
            json!("-1 Mbit/s"),
            "topology.bottleneck.rate: '-1 Mbit/s': must not be negative; expected a rate such as \"32 Mbit/s\"",
        ),
        (
            rate.into(),
            json!("0 Mbit/s"),
            "topology.bottleneck.rate: '0 Mbit/s': must be above zero; expected a rate such as \"32 Mbit/s\"",
        ),
        (
            rate.into(),
            json!(10),
            "topology.bottleneck.rate: invalid type: integer `10`, expected a rate such as \"32 Mbit/s\"",
        ),
        (
            rate.into(),
            json!("10"),
            "topology.bottleneck.rate: '10': a unit is missing; expected a rate such as \"32 Mbit/s\"",
        ),
        (
            flow("rtt"),
            json!(15),
            "flows.0.rtt: invalid type: integer `15`, expected a time such as \"15 ms\"",
        ),
        (flow("rtt"), json!("soon"), "flows.0.rtt: 'soon': expected a time such as \"15 ms\""),
        (
            "/topology/bottleneck/loss".into(),
            json!("101 %"),
            "topology.bottleneck.loss: '101 %': expected a share between 0 % and 100 % such as \"0.1 %\"",
        ),
        (
            flow("send_buffer"),
            json!("lots"),
            "flows.0.send_buffer: 'lots': expected an amount of data such as \"60 kB\", \"auto\" or \"stack\"",
        ),
        (
            queue.into(),
            json!({ "kind": "fifo", "limit": 40 }),
            "topology.bottleneck.queue.limit: invalid type: integer `40`, expected a queue size such as \"40 packets\", \"60 kB\" or \"1 bdp\"",
        ),
        (
            queue.into(),
            json!({ "kind": "fq_codel", "limit": "60 kB" }),
            "topology.bottleneck.queue.limit: '60 kB': expected a number of packets such as \"40 packets\", or \"1 bdp\"",
        ),
        // Names and keys.
        (
            queue.into(),
            json!({ "target": "5 ms" }),
            "topology.bottleneck.queue.target: unknown key 'target'; allowed: limit; without kind it is a fifo",
        ),
        (
            queue.into(),
            json!({ "kind": "", "limit": "1 bdp" }),
            "topology.bottleneck.queue: kind is \"\"; expected a name, or a table such as ",
        ),
        (
            queue.into(),
            json!({}),
            "topology.bottleneck.queue: kind is missing; expected a name, or a table such as { kind = \"fifo\" }",
        ),
        (
            flow("cca"),
            json!("cubik"),
            "flows.0.cca: unknown congestion control 'cubik'; did you mean 'cubic'? allowed: reno, cubic,",
        ),
        (
            flow("cca"),
            json!({ "kind": "reno", "betta": 0.5 }),
            "flows.0.cca.betta: unknown key 'betta'; did you mean 'beta'? allowed: ",
        ),
        (
            flow("cca"),
            json!({ "kind": "reno", "beta": 2.0 }),
            "flows.0.cca.beta: 2 is not between 0 and 1",
        ),
        (
            flow("cca"),
            json!({ "beta": 0.5 }),
            "flows.0.cca: kind is missing; expected a name, or a table such as { kind = \"reno\" }",
        ),
        (
            flow("cca"),
            json!(["reno", "cubic"]),
            "flows.0.cca: several given; transport tcp takes one",
        ),
        (
            flow("cca"),
            Value::Null,
            "flows.0.cca: is missing; name a congestion control, such as \"reno\"",
        ),
        (
            queue.into(),
            json!("fifu"),
            "topology.bottleneck.queue: unknown queue discipline 'fifu'; did you mean 'fifo'? allowed: ",
        ),
        (
            flow("traffic"),
            json!({ "kind": "cbr", "rate": "1 Gbit/s", "size": "1 B" }),
            "flows.0.traffic.rate: 1 Gbit/s given; allowed: up to 80 Mbit/s in writes of 1 B",
        ),
        (
            flow("traffic"),
            json!({ "kind": "sized", "repeats": 1000, "interval": "1 ns" }),
            "flows.0.traffic.interval: 1 ns given; allowed: at least 100 ns",
        ),
        (
            flow("traffic"),
            json!({ "kind": "web", "reading_time": "0 s" }),
            "flows.0.traffic.reading_time: 0 s given; allowed: at least 100 ns",
        ),
        (
            flow("traffic"),
            json!("greedi"),
            "flows.0.traffic: unknown traffic model 'greedi'; did you mean 'greedy'? allowed: greedy, sized, cbr, on-off, poisson, web",
        ),
        (
            "/topology/kind".into(),
            json!("dumbell"),
            "topology: unknown topology 'dumbell'; did you mean 'dumbbell'? allowed: dumbbell, parking_lot, graph",
        ),
        (
            "/stack".into(),
            json!("linux-7"),
            "stack: unknown stack 'linux-7'; did you mean 'linux-6'? allowed: linux-6, linux-5.1, linux-4.9, ns3, rfc",
        ),
        (
            flow("ecn"),
            json!("clasic"),
            "flows.0.ecn: unknown ECN feedback 'clasic'; did you mean 'classic'? allowed: off, classic, accurate, dctcp, dctcp-sce, sce, l4s",
        ),
        (
            flow("rtd"),
            json!("1 ms"),
            "flows.0.rtd: unknown key 'rtd'; did you mean 'rtt'? allowed: label, transport,",
        ),
        (
            "/durration".into(),
            json!("1 s"),
            "durration: unknown key 'durration'; did you mean 'duration'? allowed: name, duration,",
        ),
        (
            "/topology/bottleneck/rat".into(),
            json!("1 bit/s"),
            "topology.bottleneck.rat: unknown key 'rat'; did you mean 'rate'? allowed: rate, delay,",
        ),
        (
            "/topology".into(),
            json!(7),
            "topology: 7 given; expected a name, or a table such as { kind = \"dumbbell\" }",
        ),
        // Times.
        (
            "/duration".into(),
            json!("0 s"),
            "duration: 0 s given; allowed: above zero, at most 1000000 s",
        ),
        (
            "/duration".into(),
            json!("1000001 s"),
            "duration: 1000001 s given; allowed: above zero, at most 1000000 s",
        ),
        (
            "/sample_interval".into(),
            json!("0 ms"),
            "sample_interval: 0 s given; allowed: above zero",
        ),
        (
            "/sample_interval".into(),
            json!("100 ns"),
            "sample_interval: 100 ns, and with it 200000000 rows of samples, given; allowed: at most",
        ),
        (
            "/warmup".into(),
            json!("10 s"),
            "warmup: 10 s given; allowed: less than the duration, 10 s",
        ),
        (
            flow("start"),
            json!("10 s"),
            "flows.0.start: 10 s given; allowed: before the end of the run, 10 s",
        ),
        (
            flow("stop"),
            json!("11 s"),
            "flows.0.stop: 11 s given; allowed: at most the duration, 10 s",
        ),
        (flow("stop"), json!("0 s"), "flows.0.stop: 0 s given; allowed: after start, 0 s"),
        (
            flow("rtt"),
            json!("2 h"),
            "flows.0.rtt: '2 h': unknown unit 'h'; allowed: min, s, ms, us, ns; expected",
        ),
        (flow("rtt"), json!("61 min"), "flows.0.rtt: 3660 s given; allowed: at most 1 hour"),
        // Counts and sizes.
        ("/flows".into(), json!([]), "flows: no flow given; allowed: at least one, or arrivals"),
        (flow("count"), json!(0), "flows.0.count: 0 given; allowed: at least 1"),
        (flow("count"), json!(-1), "flows.0.count: invalid value: integer `-1`, expected u32"),
        (flow("count"), json!(1_000_000), "flows: 1000000 flows given; allowed: at most 100000"),
        (flow("mss"), json!(0), "flows.0.mss: 0 given; allowed: 1 to 65000 bytes"),
        (flow("mss"), json!(65_001), "flows.0.mss: 65001 given; allowed: 1 to 65000 bytes"),
        (flow("ack_every"), json!(0), "flows.0.ack_every: 0 given; allowed: 1 to 1000 segments"),
        (
            flow("initial_ssthresh"),
            json!(1),
            "flows.0.initial_ssthresh: 1 given; allowed: 2 to 2147483647 segments",
        ),
        (
            flow("initial_window"),
            json!(0),
            "flows.0.initial_window: 0 given; allowed: 1 to 10000 segments",
        ),
        (
            flow("initial_window"),
            json!(10_001),
            "flows.0.initial_window: 10001 given; allowed: 1 to 10000 segments",
        ),
        (
            flow("pacing"),
            json!("fast"),
            "flows.0.pacing: 'fast': expected a rate such as \"32 Mbit/s\", \"on\" or \"off\"",
        ),
        (
            flow("pacing"),
            json!(true),
            "flows.0.pacing: invalid type: boolean `true`, expected \"on\", \"off\" or a rate such as \"32 Mbit/s\"",
        ),
        (
            flow("pacing"),
            json!("1e6 Gbit/s"),
            "flows.0.pacing: 1000000 Gbit/s given; allowed: at most 10000 Gbit/s",
        ),
        (flow("drop"), json!([1, -1]), "flows.0.drop.1: invalid value: integer `-1`, expected u32"),
        (
            flow("receive_buffer"),
            json!("1 kB"),
            "flows.0.receive_buffer: 1 kB given; allowed: 1448 B (one segment) to 64 GB",
        ),
        (
            queue.into(),
            json!({ "kind": "fifo", "limit": "1000 GB" }),
            "topology.bottleneck.queue.limit: 1000 GB given; allowed: at most 50000000 packets or 64 GB",
        ),
        (
            queue.into(),
            json!({ "kind": "fifo", "limit": "1e9 packets" }),
            "topology.bottleneck.queue.limit: 1000000000 packets given; allowed: at most 50000000 packets",
        ),
        (
            queue.into(),
            json!({ "kind": "fifo", "limit": "1e6 GB" }),
            "topology.bottleneck.queue.limit: 1000000 GB given; allowed: at most 50000000 packets",
        ),
        (
            "/topology/bottleneck".into(),
            json!({ "rate": "1 Gbit/s", "queue": { "kind": "fifo", "limit": "900000 bdp" } }),
            "topology: queue.limit of link 'bottleneck': 900000 bdp, ",
        ),
        (
            "/topology/bottleneck/device_queue".into(),
            json!("1e9 packets"),
            "topology.bottleneck.device_queue: 1000000000 packets given; allowed: at most 50000000 packets",
        ),
        (
            rate.into(),
            json!("1e6 Gbit/s"),
            "topology.bottleneck.rate: 1000000 Gbit/s given; allowed: at most 10000 Gbit/s",
        ),
        (
            rate.into(),
            json!("1e9 Gbit/s"),
            "topology.bottleneck.rate: '1e9 Gbit/s': too large; at most 9000000 Gbit/s; expected",
        ),
        (
            "/name".into(),
            json!("../x"),
            "name: \"../x\" given; allowed: 1 to 100 characters without slashes, not beginning with a dot",
        ),
        (flow("dscp"), json!("af44"), "flows.0.dscp: 'af44': expected a DiffServ codepoint"),
        // Combinations of keys.
        (flow("transport"), json!("udp"), "flows.0.cca: given with transport udp, which has none"),
        (
            "/flows/0".into(),
            json!({ "transport": "udp" }),
            "flows.0.traffic: greedy given; allowed: cbr, on-off, poisson",
        ),
        (
            "/flows/0".into(),
            json!({ "transport": "udp", "traffic": { "kind": "cbr", "rate": "1 Gbit/s" }, "mss": 1 }),
            "flows.0.traffic.rate: 1 Gbit/s given; allowed: up to 80 Mbit/s in datagrams of 1 B (mss)",
        ),
        (
            "/topology/bottleneck/outages".into(),
            json!([{ "start": "0 s", "duration": "1 ns", "every": "2 ns" }]),
            "topology.bottleneck.outages.0.every: 2 ns given; allowed: at least 20 us",
        ),
        (
            "/flows/0".into(),
            json!({ "transport": "udp", "traffic": "cbr", "ecn": "sce" }),
            "flows.0.ecn: sce given; allowed: off, classic or l4s with transport udp",
        ),
        (
            flow("direction"),
            json!("reverse"),
            "flows.0: its data passes no link with a rate; give one of the links on its way a rate",
        ),
        (
            "/topology/bottleneck/mtu".into(),
            json!("1000 B"),
            "flows.0.mss: 1448 bytes, in packets of 1500 B, given; allowed: IP packets of at most 1 kB, the smallest mtu on its way",
        ),
        (
            "/topology/reverse".into(),
            json!({ "queue": { "kind": "fifo", "limit": "1 bdp" } }),
            "topology.reverse.queue.limit: 1 bdp given; allowed: packets or bytes, since the link has no rate",
        ),
        (
            "/topology/reverse".into(),
            json!({ "reverse_loss": "1 %" }),
            "topology.reverse.reverse_loss: not allowed, as it is the loss of the bottleneck; set bottleneck.loss instead",
        ),
        (
            "/flows/0".into(),
            json!({ "cca": "dctcp", "ecn": "off" }),
            "flows.0.ecn: off given; allowed: classic, accurate, dctcp, dctcp-sce, sce, l4s (required by dctcp)",
        ),
        (
            "/flows/0".into(),
            json!({ "cca": "reno", "ecn": true }),
            "flows.0.ecn: invalid type: boolean `true`, expected a name (ECN feedback: off, classic, accurate,",
        ),
        (
            "/flows/0".into(),
            json!({ "cca": "fixed-rate", "stack": "linux-4.9" }),
            "flows.0.host_queue: none given; allowed: fq, since fixed-rate is bounded by pacing alone",
        ),
        (
            "/flows/0".into(),
            json!({ "cca": "fixed-rate", "pacing": "off" }),
            "flows.0.pacing: off given; allowed: on or a rate, since fixed-rate is bounded by pacing alone",
        ),
        (
            "/flows/0".into(),
            json!({ "cca": "reno", "host_queue": "fq", "pacing": "off" }),
            "flows.0.pacing: off given; allowed: on or a rate, since host_queue = \"fq\" paces every control",
        ),
        (
            "/flows/0".into(),
            json!({ "transport": "udp", "traffic": "cbr", "initial_window": 30 }),
            "flows.0.initial_window: given with transport udp, which ignores it; leave it out",
        ),
        (
            "/flows/0".into(),
            json!({ "transport": "udp", "traffic": "cbr", "pacing": "on" }),
            "flows.0.pacing: given with transport udp, which ignores it; leave it out",
        ),
        (
            "/flows/0".into(),
            json!({ "cca": "prague", "ecn": "classic" }),
            "flows.0.ecn: classic given; allowed: accurate, dctcp, dctcp-sce, l4s (required by prague)",
        ),
    ];
    let wrong: Vec<String> = table
        .into_iter()
        .filter_map(|(pointer, value, expected)| {
            let message = refusal(&pointer, value);
            (!message.starts_with(expected)).then(|| format!("  got {message}\n want {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn missing_fields_are_named() {
    for (field, message) in [
        ("duration", "duration: is missing"),
        ("topology", "topology: is missing"),
        ("flows", "flows: no flow given; allowed: at least one, or arrivals"),
    ] {
        let mut scenario = good();
        scenario.as_object_mut().unwrap().remove(field);
        assert_eq!(Scenario::from_json(&scenario, builtin()).unwrap_err().to_string(), message);
    }
}

#[test]
fn labels_and_ids_are_short_and_of_one_line() {
    let (long, shown) = ("x".repeat(1_000_000), "x".repeat(199));
    let told = format!("\"{shown}... (1000002 characters) given; allowed: at most 200 characters");
    let link = json!({ "id": long, "from": "a", "to": "b", "rate": "1 Mbit/s" });
    let graph = json!({ "kind": "graph", "links": [link] });
    for (pointer, value, field) in [
        ("/flows/0/label", json!(long), "flows.0.label"),
        ("/topology", graph, "topology.links.0.id"),
    ] {
        let message = refusal(pointer, value);
        assert!(message.starts_with(&format!("{field}: {told}")), "{message}");
    }
    assert!(refusal("/name", json!(long)).chars().count() < 400);
    let message = refusal("/flows/0/label", json!("a\u{1b}[31m"));
    assert!(message.starts_with("flows.0.label: \"a\\u{1b}[31m\" given; allowed: "), "{message}");
}

#[test]
fn malformed_toml_is_located() {
    let message = |text: &str| toml_to_json(text).unwrap_err().to_string();
    assert_eq!(
        message("duration = \"1 s\"\nname = \n"),
        "not valid TOML, line 2, column 8: string values must be quoted, expected literal string"
    );
    assert!(message("a = 1\na = 2\n").starts_with("not valid TOML, line 2, column 1: "));
    assert_eq!(message("x = [1, { y = nan }]"), "x.1.y: NaN given; allowed: finite numbers");
    assert_eq!(message("x = 1979-05-27"), "x: 1979-05-27 given; write a date in quotes");
}
