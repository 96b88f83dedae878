use serde_json::Value;
use sojourn_catalogue::builtin;
use sojourn_sim::{Scenario, Simulation};

use super::testing::{finished, index_of, length_of};
use super::*;

const BESIDE: &str = r#"duration = "2 s"
sample_interval = "50 ms"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "10 Mbit/s"
queue = { kind = "fifo", limit = "1 bdp" }

[[flows]]
cca = "bbr3"
rtt = "20 ms"

[[flows]]
label = "the other"
cca = "cubic"
rtt = "20 ms"
start = "500 ms"
"#;

fn refused(text: &str) -> Refusal {
    match Session::open(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(refusal) => refusal,
    }
}

/// A column of a block.
fn column(block: &[u8], table: &str, name: &str) -> Vec<f64> {
    let index = index_of(block);
    let table = &index["tables"][table];
    let (first, rows) = (table["columns"][name].as_u64(), table["rows"].as_u64());
    let (first, rows) = (first.unwrap() as usize, rows.unwrap() as usize);
    let values = block[8 + length_of(block)..].chunks_exact(8);
    let value = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
    values.skip(first).take(rows).map(value).collect()
}

#[test]
fn a_page_is_told_what_it_opened() {
    let told = Session::open(BESIDE).unwrap().told();
    assert_eq!(told["flows"][0]["name"], "bbr3");
    assert_eq!(told["flows"][1]["name"], "the other");
    assert_eq!(told["flows"][1]["start"], 0.5);
    assert_eq!(told["flows"][1]["stop"], 2.0);
    assert_eq!(told["flows"][0]["base_rtt"], 0.02);
    assert_eq!(told["flows"][0]["path"], serde_json::json!([0]));
    assert_eq!(told["links"][0]["rate"], 1e7);
    assert_eq!(told["scenario"]["topology"]["bottleneck"]["queue"]["kind"], "fifo");
    assert_eq!(told["limits"]["flows"], 16);
}

#[test]
fn columns_are_those_of_a_run_however_it_is_advanced() {
    let scenario = Scenario::from_toml(BESIDE, builtin()).unwrap();
    let outcome = Simulation::new(&scenario).unwrap().run().unwrap();
    let whole = finished(BESIDE);
    for name in ["time", "delivered_bytes", "cwnd", "srtt", "rtt_sum"] {
        let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let expected = outcome.flow_samples.reals(name).unwrap();
        assert_eq!(bits(column(&whole, "flow_samples", name)), bits(expected), "{name}");
    }
    let mut steps = Session::open(BESIDE).unwrap();
    let mut now = 0.0;
    while now < 2.0 {
        now = steps.advance(now + 0.0137).unwrap();
    }
    assert!(steps.finish().unwrap() == whole, "other bits by small steps");
}

#[test]
fn a_run_may_be_finished_before_its_end() {
    let mut session = Session::open(BESIDE).unwrap();
    assert_eq!(session.advance(0.5).unwrap(), 0.5);
    let block = session.finish().unwrap();
    assert_eq!(column(&block, "totals", "simulated_seconds"), [0.5]);
}

#[test]
fn modes_are_told_when_they_change() {
    let index = index_of(&finished(BESIDE));
    let modes = index["modes"].as_array().unwrap();
    assert_eq!(modes[0]["mode"], "startup");
    assert!(modes.iter().all(|change| change["flow"] == 0), "Cubic has none");
    let words: Vec<&Value> = modes.iter().map(|change| &change["mode"]).collect();
    assert!(words.contains(&&"drain".into()) || words.contains(&&"probe_bw".into()));
    let times: Vec<f64> = modes.iter().filter_map(|change| change["time"].as_f64()).collect();
    assert!(times.is_sorted() && times.len() == modes.len());
    assert!(modes.windows(2).all(|pair| {
        (&pair[0]["mode"], &pair[0]["phase"]) != (&pair[1]["mode"], &pair[1]["phase"])
    }));
}

#[test]
fn errors_have_their_place_in_the_text() {
    let cases = [
        // What is written, in its place what is wrong, the line and column that are told.
        ("duration = \"2 s\"", "duration = \"2 parsecs\"", 1, 1),
        ("duration = \"2 s\"", "duration = 2 s", 1, 12),
        ("duration = \"2 s\"", "duration = \"2 s\"\nwarmup = \"3 s\"", 2, 1),
        ("sample_interval", "sample_intervall", 2, 1),
        ("\"50 ms\"", "\"0 ms\"", 2, 1),
        ("\"dumbbell\"", "\"dumbell\"", 5, 1),
        ("[topology.bottleneck]", "[topology.bottleneck", 7, 21),
        ("[topology.bottleneck]", "[topology.bottlenek]", 7, 11),
        ("\"10 Mbit/s\"", "\"10 Mbit\"", 8, 1),
        ("\"10 Mbit/s\"", "10", 8, 1),
        ("kind = \"fifo\"", "kind = \"fifa\"", 9, 11),
        ("limit = \"1 bdp\"", "limit = \"1 pdb\"", 9, 26),
        ("limit", "limits", 9, 26),
        ("\"bbr3\"", "\"bbr33\"", 12, 1),
        ("\"cubic\"", "{ kind = \"cubic\", beta = 2.5 }", 17, 25),
        ("\"cubic\"", "{ kind = \"cubic\", c = \"x\" }", 17, 25),
        ("start = \"500 ms\"", "start = \"5 s\"", 19, 1),
        ("start = \"500 ms\"", "strat = \"500 ms\"", 19, 1),
        ("start = \"500 ms\"", "count = 0", 19, 1),
        ("cca = \"cubic\"\n", "", 15, 1),
    ];
    for (right, wrong, line, column) in cases {
        let text = BESIDE.replace(right, wrong);
        assert_ne!(text, BESIDE, "{right}");
        let refusal = refused(&text);
        let place = refusal.place.map(|place| (place.line, place.column));
        assert_eq!(place, Some((line, column)), "{wrong}: {refusal:?}");
    }
    let missing = refused(&BESIDE.replace("duration = \"2 s\"", ""));
    assert_eq!(missing.place, None, "{missing:?}");
}

#[test]
fn what_a_page_cannot_do_is_said_with_the_command() {
    let cases = [
        ("duration = \"2 s\"", "duration = \"200 s\"", "duration", "sojourn run"),
        ("\"50 ms\"", "\"10 us\"", "sample_interval", "sojourn run"),
        ("\"10 Mbit/s\"", "\"100 Gbit/s\"", "topology", "sojourn run"),
        ("start = \"500 ms\"", "count = 17", "flows", "sojourn run"),
        ("[topology]", "record = [\"cwnd\"]\n[topology]", "record", "sojourn run"),
        ("[topology]", "[sweep]\nseed = [1, 2]\n[topology]", "sweep", "sojourn sweep"),
        ("\"cubic\"", "{ kind = \"python\", path = \"a.py\" }", "flows.1.cca.kind", "sojourn run"),
        ("\"fifo\"", "\"kernel\"", "topology.bottleneck.queue.kind", "--backend kernel"),
        (
            "rate = \"10 Mbit/s\"",
            "trace = { file = \"a.trace\" }",
            "topology.bottleneck.trace.file",
            "sojourn run",
        ),
    ];
    for (right, wrong, field, command) in cases {
        let refusal = refused(&BESIDE.replace(right, wrong));
        assert_eq!(refusal.field.as_deref(), Some(field), "{refusal:?}");
        assert!(refusal.local.is_some_and(|local| local.contains(command)), "{refusal:?}");
        assert!(refusal.place.is_some(), "{refusal:?}");
    }
}

#[test]
fn a_run_of_too_many_events_is_ended() {
    assert!(limits::check_events(limits::EVENTS).is_ok());
    assert!(limits::check_events(limits::EVENTS + 1).is_err());
}
