//! Tests of the medium against models, and laws that hold for every scenario.

use crate::catalogue::builtin;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::phy::{Phy, Standard};
use sojourn_net::record::Outcome;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;

/// Runs `flows` over links between the stations `s0`, `s1`, ... and `ap`, on a medium with these
/// `keys`.
fn run(keys: Value, stations: usize, flows: &[Value], seconds: u64) -> Outcome {
    let mut medium = keys;
    medium["id"] = json!("air");
    medium["kind"] = json!("wifi");
    let link = |n: usize| json!({ "id": format!("l{n}"), "from": format!("s{n}"), "to": "ap", "medium": "air" });
    let scenario = json!({
        "duration": format!("{seconds} s"),
        "warmup": "500 ms",
        "media": [medium],
        "topology": { "kind": "graph", "links": (0..stations).map(link).collect::<Vec<_>>() },
        "flows": flows,
    });
    let scenario =
        Scenario::from_json(&scenario, builtin()).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(&scenario).unwrap().run().unwrap_or_else(|fault| panic!("{fault}"))
}

/// A saturating flow of datagrams of `mss` bytes.
fn saturating(from: &str, to: &str, mss: u32) -> Value {
    json!({ "from": from, "to": to, "rtt": "0 s", "transport": "udp", "mss": mss,
            "traffic": { "kind": "cbr", "rate": "60 Mbit/s", "size": format!("{mss} B") } })
}

/// Flows that together offer three times what the medium carries.
fn uplinks(stations: usize, mss: u32) -> Vec<Value> {
    let mut flows: Vec<_> =
        (0..stations).map(|n| saturating(&format!("s{n}"), "ap", mss)).collect();
    for flow in &mut flows {
        flow["traffic"]["rate"] = json!(format!("{} kbit/s", 90_000 / stations));
    }
    flows
}

/// Payload per second from the first half second on.
fn goodput(outcome: &Outcome, seconds: f64) -> f64 {
    let delivered = outcome.flow_samples.reals("delivered_bytes").unwrap();
    let time = outcome.flow_samples.reals("time").unwrap();
    let late = delivered.iter().zip(&time).filter(|(_, time)| **time > 0.5 + 1e-9);
    late.map(|(bytes, _)| 8.0 * bytes).sum::<f64>() / (seconds - 0.5)
}

/// Bianchi's fixed point (JSAC 2000, equations 7 and 9) with window `w` doubled `m` times: the
/// probability to transmit in a slot.
fn bianchi_tau(n: f64, w: f64, m: i32) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let tau: f64 = (low + high) / 2.0;
        let p = 1.0 - (1.0 - tau).powf(n - 1.0);
        let sum: f64 = (0..m).map(|i| (2.0 * p).powi(i)).sum();
        let wanted = 2.0 / (1.0 + w + p * w * sum);
        if wanted > tau { low = tau } else { high = tau }
    }
    low
}

#[test]
fn saturation_throughput_is_bianchi_s() {
    let phy = Phy::new(Standard::A, 20, 1, false);
    for n in [1, 5, 20] {
        let mss = 1472;
        let data = phy.duration(7, mss + 28 + 36).as_secs_f64();
        let (sifs, slot) = (phy.sifs().as_secs_f64(), phy.slot().as_secs_f64());
        let (ack, difs) = (phy.answer(7, 14).as_secs_f64(), sifs + 2.0 * slot);
        let stations = n as f64;
        let tau = bianchi_tau(stations, 16.0, 6);
        let some = 1.0 - (1.0 - tau).powf(stations);
        let success = stations * tau * (1.0 - tau).powf(stations - 1.0);
        let time = (1.0 - some) * slot
            + success * (data + sifs + ack + difs)
            + (some - success) * (data + difs);
        let expected = success * 8.0 * f64::from(mss) / time;
        let seconds = 5;
        let keys = json!({ "standard": "a", "contention": "bianchi" });
        let outcome = run(keys, n, &uplinks(n, mss), seconds);
        let measured = goodput(&outcome, seconds as f64);
        assert!((measured / expected - 1.0).abs() < 0.03, "{n}: {measured} against {expected}");
    }
}

#[test]
fn aggregation_amortises_the_overhead_as_computed() {
    for (standard, width, frames) in [("n", 40, 32u32), ("ac", 80, 64)] {
        let phy = Phy::new(standard.parse().unwrap(), width, 2, true);
        let mode = phy.modes.len() - 1;
        let size = (1472 + 28 + 8 + 30 + 4u32).next_multiple_of(4);
        let data = phy.duration(mode, frames * size).as_secs_f64();
        let answer = phy.answer(mode, 32).as_secs_f64();
        let (sifs, slot) = (phy.sifs().as_secs_f64(), phy.slot().as_secs_f64());
        let backoff = 7.5 * slot;
        let cycle = sifs + 3.0 * slot + backoff + data + sifs + answer;
        let expected = f64::from(frames) * 8.0 * 1472.0 / cycle;
        let keys = json!({ "standard": standard, "frames": frames, "bytes": "1048575 B" });
        let traffic = json!({ "kind": "cbr", "rate": "850 Mbit/s", "size": "1472 B" });
        let mut flow = saturating("s0", "ap", 1472);
        flow["traffic"] = traffic;
        let measured = goodput(&run(keys, 1, &[flow], 3), 3.0);
        assert!((measured / expected - 1.0).abs() < 0.02, "{standard}: {measured}, {expected}");
    }
}

/// Two stations, of which one sends at 6 Mbit/s: frame by frame both get the slow one's throughput;
/// by airtime, at the access point, each gets half the time.
#[test]
fn a_slow_station_slows_all_unless_turns_go_by_airtime() {
    let shares = |queueing: &str| {
        let keys = json!({ "standard": "n", "queueing": queueing, "frames": 16,
                           "stations": { "s1": { "mcs": 0, "streams": 1 } } });
        let down = |to: &str| saturating("ap", to, 1472);
        let outcome = run(keys, 2, &[down("s0"), down("s1")], 6);
        let delivered = outcome.flow_samples.reals("delivered_bytes").unwrap();
        let of = |flow| delivered.iter().skip(flow).step_by(2).sum::<f64>();
        of(0) / of(1)
    };
    assert!((0.9..1.1).contains(&shares("driver")), "{}", shares("driver"));
    assert!(shares("mac80211") > 3.0, "{}", shares("mac80211"));
}

#[test]
fn voice_waits_less_than_background() {
    let flow = |from: &str, category: &str, rate: &str| {
        let mut flow = saturating(from, "ap", 200);
        flow["access_category"] = json!(category);
        flow["traffic"]["rate"] = json!(rate);
        flow
    };
    let flows = [
        flow("s0", "voice", "100 kbit/s"),
        flow("s1", "background", "100 kbit/s"),
        saturating("s2", "ap", 1472),
        saturating("s3", "ap", 1472),
    ];
    let outcome = run(json!({ "standard": "n", "frames": 8, "mcs": 3 }), 4, &flows, 5);
    let sum = |name: &str, flow: usize| {
        let column = outcome.flow_samples.reals(name).unwrap();
        column.iter().skip(flow).step_by(4).sum::<f64>()
    };
    let delay = |flow| sum("one_way_delay_sum", flow) / sum("one_way_delay_count", flow);
    assert!(delay(0) < delay(1) / 3.0, "{} and {}", delay(0), delay(1));
}

/// The refusal of a key names the key.
#[test]
fn bad_parameters_are_refused_by_name() {
    let refusal = |keys: &str| {
        let text = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"dumbbell\"\n\
             [topology.bottleneck]\nmedium = {{ kind = \"wifi\", {keys} }}\n\
             [[flows]]\ncca = \"reno\"\nrtt = \"1 ms\""
        );
        Scenario::from_toml(&text, builtin()).unwrap_err().to_string()
    };
    for (keys, said) in [
        ("standard = \"be\"", "topology.bottleneck.medium.standard"),
        ("standard = \"n\", width = 80", "width: 80 MHz given; allowed: [20, 40] MHz"),
        ("mcs = 10", "mcs: 10 given; allowed: a mode of ac"),
        ("streams = 9", "streams: 9 given"),
        ("frames = 65", "frames: 65 frames given; allowed: 1 to 64"),
        ("stations = { phone = { snr = \"9 dB\" } }", "unknown station 'phone'"),
        ("stations = { left = { snr = \"900 dB\" } }", "snr: '900 dB': expected a ratio"),
        ("categories = { voice = { aifsn = 0, cw_min = 3, cw_max = 7, txop = \"0 s\" } }", "aifsn"),
        ("categories = { loud = { aifsn = 2, cw_min = 3, cw_max = 7, txop = \"0 s\" } }", "loud"),
    ] {
        let refused = refusal(keys);
        assert!(refused.contains(said), "{keys}: {refused}");
    }
}

#[test]
fn links_and_media_must_fit() {
    let read = |media: Value, link: Value| {
        let scenario = json!({ "duration": "1 s", "media": media,
            "topology": { "kind": "dumbbell", "bottleneck": link },
            "flows": [{ "cca": "reno", "rtt": "1 ms" }] });
        Scenario::from_json(&scenario, builtin()).map(|_| ()).map_err(|error| error.to_string())
    };
    let air = || json!([{ "id": "air", "kind": "wifi" }]);
    assert_eq!(read(air(), json!({ "medium": "air" })), Ok(()));
    let unknown = read(air(), json!({ "medium": "ether" })).unwrap_err();
    assert!(unknown.contains("link 'bottleneck': unknown shared medium 'ether'"), "{unknown}");
    let unused = read(air(), json!({ "rate": "1 Mbit/s" })).unwrap_err();
    assert!(unused.starts_with("media.0.id: no link has medium = \"air\""), "{unused}");
    let both = read(air(), json!({ "medium": "air", "rate": "1 Mbit/s" })).unwrap_err();
    assert!(both.starts_with("topology.bottleneck.rate: given as well as medium"), "{both}");
    let limit = json!({ "medium": "air", "queue": { "limit": "40 packets" } });
    let silent = read(air(), limit).unwrap_err();
    assert!(silent.starts_with("topology.bottleneck.queue: kind is missing"), "{silent}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Packets are conserved (the simulator checks at every sample), losses are repaired, and
    /// airtime does not exceed elapsed time.
    #[test]
    fn any_medium_conserves_packets_and_time(
        standard in prop::sample::select(vec!["a", "g", "n", "ac"]),
        queueing in prop::sample::select(vec!["driver", "mac80211"]),
        rate_control in prop::sample::select(vec!["fixed", "minstrel-ht"]),
        snr in 8..40u32,
        frames in 1..64u64,
        amsdu in prop::sample::select(vec!["0 B", "3839 B"]),
        rts in prop::option::of(100..3000u32),
        queue in prop::sample::select(vec!["fifo", "codel", "fq-codel", "pie", "cake", "fq", "red"]),
        control in prop::sample::select(vec!["reno", "cubic", "bbr", "copa", "prague"]),
        loss in prop::sample::select(vec!["0 %", "2 %"]),
        category in prop::sample::select(vec!["background", "best-effort", "video", "voice"]),
        seed in 0..1000u64,
    ) {
        let mut medium = json!({ "id": "air", "kind": "wifi", "standard": standard,
            "queueing": queueing, "rate_control": rate_control, "snr": format!("{snr} dB"),
            "frames": frames, "amsdu": amsdu, "airtime": "3 ms",
            "stations": { "s1": { "snr": "12 dB" } } });
        if let Some(rts) = rts {
            medium["rts_threshold"] = json!(format!("{rts} B"));
        }
        let link = |n: u32| json!({ "id": format!("l{n}"), "from": format!("s{n}"), "to": "ap",
            "medium": "air", "queue": queue, "loss": loss, "delay": "1 ms" });
        let flow = |from: &str, to: &str| json!({ "cca": control, "from": from, "to": to,
            "rtt": "4 ms", "access_category": category });
        let scenario = json!({ "duration": "700 ms", "seed": seed, "media": [medium],
            "topology": { "kind": "graph", "links": [link(0), link(1)] },
            "flows": [flow("s0", "ap"), flow("ap", "s1"), flow("s1", "s0")] });
        let scenario = match Scenario::from_json(&scenario, builtin()) {
            Ok(scenario) => scenario,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let outcome = Simulation::new(&scenario).unwrap().run();
        let outcome = outcome.map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        let airtime: f64 = outcome.link_samples.reals("airtime").unwrap().iter().sum();
        let collisions: f64 = outcome.link_samples.reals("collisions").unwrap().iter().sum();
        prop_assert!(airtime > 0.0 && (collisions > 0.0 || airtime <= 0.7 + 0.006), "{airtime}");
    }
}
