//! Recorded events as somebody else's crate reads them, against the counters.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use ::qlog::events::{Event, JsonEvent};
use serde_json::Value;

use sojourn_catalogue::builtin;
use sojourn_net::record::FlowCounters;
use sojourn_net::record::live::Batch;
use sojourn_sim::{Scenario, Simulation};

const LOSSY: &str = r#"
duration = "5 s"
record = ["qlog"]
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
queue = { kind = "codel", limit = "100 packets" }
loss = "1 %"
[[flows]]
cca = "bbr"
rtt = "20 ms"
[[flows]]
cca = "cubic"
rtt = "40 ms"
ecn = "classic"
[[flows]]
transport = "udp"
rtt = "20 ms"
traffic = { kind = "cbr", rate = "500 kbit/s" }
"#;

/// The records of each flow's file, and its counters.
fn recorded(text: &str) -> Vec<(Vec<Value>, FlowCounters)> {
    let scenario = Scenario::from_toml(text, builtin()).unwrap();
    let files = Arc::new(Mutex::new(BTreeMap::<u32, Vec<u8>>::new()));
    let written = Arc::clone(&files);
    let sink = move |batch: Batch, _: &[Arc<str>]| {
        let Batch::Events { flow, bytes } = batch else { panic!("nothing else is recorded") };
        written.lock().unwrap().entry(flow).or_default().extend(bytes);
    };
    let mut simulation = Simulation::recording(&scenario, Box::new(sink)).unwrap();
    simulation.advance(simulation.end()).unwrap();
    let counters: Vec<FlowCounters> =
        (0..scenario.flow_count()).map(|flow| simulation.flow(flow)).collect();
    simulation.outcome().unwrap();
    let files = std::mem::take(&mut *files.lock().unwrap());
    assert!(files.keys().copied().eq(0..counters.len() as u32));
    let records = files.into_values().map(|bytes| {
        let records = bytes.split(|byte| *byte == 0x1e).skip(1);
        records.map(|record| serde_json::from_slice(record).unwrap()).collect()
    });
    records.zip(counters).collect()
}

/// The data of a file's events of this name.
fn of<'a>(records: &'a [Value], name: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["name"] == name).map(|record| &record["data"]).collect()
}

/// Offset and length of the stream frame of each packet that has one.
fn streams(packets: &[&Value]) -> Vec<(u64, u64)> {
    let frame = |packet: &&Value| {
        let frame = packet["frames"].get(0)?;
        Some((frame["offset"].as_u64()?, frame["raw"]["length"].as_u64()?))
    };
    packets.iter().filter_map(frame).collect()
}

#[test]
fn each_event_is_one_of_the_draft() {
    for (records, _) in recorded(LOSSY) {
        let mut time = 0.0;
        for record in &records[1..] {
            let name = record["name"].as_str().unwrap();
            let now = record["time"].as_f64().unwrap();
            assert!(now >= time, "{record}");
            time = now;
            if name == "control:state_updated" {
                let _: JsonEvent = serde_json::from_value(record.clone()).unwrap();
                continue;
            }
            let event: Event = serde_json::from_value(record.clone())
                .unwrap_or_else(|error| panic!("{error}: {record}"));
            // RTTs are reals of four bytes there, and so are some that are written.
            if name != "quic:recovery_metrics_updated" {
                assert_eq!(serde_json::to_value(&event).unwrap()["data"], record["data"]);
            }
        }
    }
}

#[test]
fn sums_of_events_are_the_counters() {
    for (records, counters) in &recorded(LOSSY)[..2] {
        let (sent, received) =
            (of(records, "quic:packet_sent"), of(records, "quic:packet_received"));
        let data = streams(&sent);
        let counted = counters.sent.unwrap();
        assert_eq!(data.len() as u64, counted.sent_packets);
        assert_eq!(data.iter().map(|(_, length)| length).sum::<u64>(), counted.sent_bytes);
        let mut offsets = HashSet::new();
        let again = data.iter().filter(|(offset, _)| !offsets.insert(*offset)).count() as u64;
        let recovery = counters.recovery.unwrap();
        assert_eq!(again, recovery.retransmissions);
        assert!(again > 3, "{again}");
        // The answer to the SYN is none that is counted.
        assert_eq!(received.len() as u64, counters.arrivals.unwrap().acks_received + 1);
        let lost = of(records, "quic:packet_lost").len() as u64;
        assert!(lost > 0 && lost <= recovery.lost, "{lost} {}", recovery.lost);
        let mut window = 0;
        for metrics in of(records, "quic:recovery_metrics_updated") {
            window = metrics["congestion_window"].as_u64().unwrap_or(window);
        }
        assert_eq!(window, u64::from(counters.window.unwrap().cwnd) * 1448);
    }
}

#[test]
fn no_packet_is_acknowledged_twice() {
    for (records, _) in &recorded(LOSSY)[..2] {
        let mut numbers = HashSet::new();
        for packet in of(records, "quic:packet_received") {
            let ranges = packet["frames"].get(0).and_then(|frame| frame["acked_ranges"].as_array());
            for range in ranges.into_iter().flatten() {
                let (from, to) = (range[0].as_u64().unwrap(), range.get(1).and_then(Value::as_u64));
                assert!((from..=to.unwrap_or(from)).all(|number| numbers.insert(number)));
            }
        }
        assert!(numbers.len() > 200, "{}", numbers.len());
    }
}

#[test]
fn controls_tell_their_states_and_datagrams_are_packets_alone() {
    let flows = recorded(LOSSY);
    let modes: HashSet<&str> = of(&flows[0].0, "control:state_updated")
        .into_iter()
        .filter_map(|data| data["mode"].as_str())
        .collect();
    assert!(modes.contains("startup") && modes.contains("probe_bw"), "{modes:?}");
    let states = of(&flows[1].0, "quic:ecn_state_updated");
    assert_eq!(states.last().unwrap()["new"], "capable");
    assert!(of(&flows[0].0, "quic:ecn_state_updated").is_empty());
    let names: HashSet<&str> =
        flows[2].0[1..].iter().map(|record| record["name"].as_str().unwrap()).collect();
    assert_eq!(names, HashSet::from(["quic:packet_sent"]));
}
