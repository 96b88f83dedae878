//! Golden runs, whose results are recorded in full: an optimisation of the simulator must not
//! change a bit of them.
//!
//! `golden.txt` has a line for each column, with a hash for each scenario; a column that is not in
//! it yet is not compared, and the count of events, a cost and not a result, is left out.
//! `golden-summaries.txt` summarises the same runs in readable form, so that a failure shows what
//! changed and by how much. A golden file could bless a physically impossible result, so every run
//! is also held to the conservation of packets (in every sample, by the simulator itself) and to
//! what its bottleneck can carry. Where results are changed on purpose:
//!
//! ```sh
//! BLESS=1 cargo test -p sojourn-catalogue --test all golden
//! ```

use std::collections::BTreeMap;

use sojourn_catalogue::builtin;
use sojourn_net::record::{Outcome, Table, Values};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/golden.txt");
const SUMMARIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/golden-summaries.txt");

/// One bottleneck of 20 Mbit/s: name, its keys, its flows.
const DUMBBELLS: &[(&str, &str, &str)] = &[
    ("cubic, fifo", "queue = { kind = \"fifo\", limit = \"40 packets\" }", "cca = \"cubic\""),
    ("many cubic flows, fifo", "queue = \"fifo\"", "cca = \"cubic\"\ncount = 40"),
    ("reno, loss", "loss = \"1 %\"\nreverse_loss = \"1 %\"", "cca = \"reno\"\ncount = 3"),
    ("cubic of linux-4.9", "loss = \"0.5 %\"", "cca = \"cubic\"\nstack = \"linux-4.9\"\ncount = 2"),
    ("cubic of ns3", "loss = \"0.5 %\"", "cca = \"cubic\"\nstack = \"ns3\"\ncount = 2"),
    ("reno of rfc", "loss = \"0.5 %\"", "cca = \"reno\"\nstack = \"rfc\"\ncount = 2"),
    ("bbr, fifo", "queue = { kind = \"fifo\", limit = \"1 bdp\" }", "cca = \"bbr\"\ncount = 2"),
    ("bbr3, red", "queue = \"red\"\nloss = \"0.2 %\"", "cca = \"bbr3\"\ncount = 2"),
    ("cubic, codel", "queue = \"codel\"", "cca = \"cubic\"\necn = \"classic\"\ncount = 3"),
    ("cubic, fq_codel", "queue = \"fq-codel\"", "cca = \"cubic\"\ncount = 5"),
    ("vegas, pie", "queue = \"pie\"\ndevice_queue = \"2 packets\"", "cca = \"vegas\"\ncount = 3"),
    ("illinois, fq_pie", "queue = \"fq-pie\"", "cca = \"illinois\"\ncount = 3"),
    (
        "reno-sce, cake",
        "queue = { kind = \"cake\", sce = \"sce\" }",
        "cca = \"reno-sce\"\ncount = 3",
    ),
    ("prague, dualpi2", "queue = \"dualpi2\"", "cca = \"prague\"\ncount = 2"),
    ("dctcp, cobalt", "queue = \"cobalt\"", "cca = \"dctcp\"\ncount = 2"),
    (
        "copa, reordering",
        "reorder = { probability = \"1 %\", delay = \"5 ms\" }",
        "cca = \"copa\"\ncount = 2",
    ),
    (
        "offload, fq",
        "queue = \"fq\"",
        "cca = \"cubic\"\noffload = true\ngro = true\nhost_queue = \"fq\"",
    ),
    ("web, fifo", "queue = \"fifo\"", "cca = \"cubic\"\ntraffic = \"web\"\ncount = 40"),
];

const PARKING_LOT: &str = r#"
duration = "8 s"
[topology]
kind = "parking_lot"
[[topology.hops]]
rate = "20 Mbit/s"
delay = "3 ms"
[[topology.hops]]
rate = "15 Mbit/s"
delay = "4 ms"
queue = "codel"
[[flows]]
cca = "cubic"
rtt = "10 ms"
[[flows]]
cca = "bbr"
rtt = "10 ms"
from = "n0"
to = "n1"
"#;

fn scenarios() -> Vec<(String, String)> {
    let dumbbell = |(name, link, flows): &(&str, &str, &str)| {
        let text = format!(
            "duration = \"8 s\"\n[topology]\nkind = \"dumbbell\"\n[topology.bottleneck]\n\
             rate = \"20 Mbit/s\"\n{link}\n[[flows]]\nrtt = \"20 ms\"\n{flows}\n"
        );
        ((*name).to_owned(), text)
    };
    let mut all: Vec<_> = DUMBBELLS.iter().map(dumbbell).collect();
    all.push(("parking lot".to_owned(), PARKING_LOT.to_owned()));
    all
}

/// FNV-1a over the bits of every value, folded to 16 bits.
fn hash(values: &Values) -> u64 {
    let words: Vec<u64> = match values {
        Values::Integers(values) => values.iter().map(|value| *value as u64).collect(),
        // All encodings of not-a-number are hashed alike.
        Values::Reals(values) => {
            values.iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }).collect()
        }
    };
    let mix = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, mix);
    (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) & 0xffff
}

/// No link sends faster than 20 Mbit/s, give or take the packet under way.
fn check_physics(name: &str, outcome: &Outcome) {
    let sent = outcome.link_samples.reals("sent_bytes").unwrap();
    let most = sent.iter().fold(0.0, |most: f64, bytes| most.max(*bytes));
    assert!(most <= 20e6 / 8.0 * 0.1 + 1600.0, "{name}: {most} bytes in 100 ms");
    assert!(sent.iter().sum::<f64>() > 1e6, "{name}: hardly anything was sent");
}

/// The sum of a column over the rows of one component.
fn total(table: &Table, key: &str, component: f64, column: &str) -> f64 {
    let (keys, values) = (table.reals(key).unwrap(), table.reals(column).unwrap());
    keys.iter().zip(values).filter(|(key, _)| **key == component).map(|(_, value)| value).sum()
}

/// Lines that a person can compare: each flow (the first three) and each link of a run.
fn summary(name: &str, outcome: &Outcome) -> String {
    let (flows, links) = (&outcome.flow_samples, &outcome.link_samples);
    let count = |table: &Table| table.reals(table.columns[0].name).unwrap().len();
    let mut text = String::new();
    for flow in (0..count(&outcome.flows).min(3)).map(|flow| flow as f64) {
        let of = |column| total(flows, "flow", flow, column);
        let rtt = outcome.flows.reals("rtt_p50").unwrap()[flow as usize] * 1e3;
        text += &format!(
            "{name}: flow {flow}: {:.3} Mbit/s, median RTT {rtt:.2} ms, {} sent, \
             {} retransmitted, {} timeouts, {} CE\n",
            of("delivered_bytes") * 8.0 / 8e6,
            of("sent_packets"),
            of("retransmissions"),
            of("rtos"),
            of("ce_received"),
        );
    }
    for link in (0..count(&outcome.links)).map(|link| link as f64) {
        let of = |column| total(links, "link", link, column);
        text += &format!(
            "{name}: link {link}: {} sent, {} overflowed, {} dropped by AQM, {} lost, {} CE, {} SCE, \
             mean wait {:.3} ms\n",
            of("sent_packets"),
            of("drops_overflow"),
            of("drops_aqm"),
            of("drops_loss"),
            of("ce_marks"),
            of("sce_marks"),
            of("sojourn_sum") / of("sojourn_count") * 1e3,
        );
    }
    text
}

/// For each column the hashes of its values, a scenario each.
type Hashes = BTreeMap<String, Vec<String>>;

fn run_all() -> (Hashes, String) {
    let mut hashes = Hashes::new();
    let mut summaries = String::new();
    for (name, text) in scenarios() {
        let scenario =
            Scenario::from_toml(&text, builtin()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let outcome = Simulation::new(&scenario).unwrap().run().unwrap();
        check_physics(&name, &outcome);
        summaries += &summary(&name, &outcome);
        for (table, columns) in outcome.into_tables() {
            for column in columns.columns.iter().filter(|column| column.name != "events") {
                let row = hashes.entry(format!("{table}.{}", column.name)).or_default();
                row.push(format!("{:04x}", hash(&column.values)));
            }
        }
    }
    (hashes, summaries)
}

fn read(text: &str) -> Hashes {
    let row = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some((words.next()?, words.collect()))
    };
    text.lines().filter_map(row).collect()
}

/// Lines of `got` that are not in `written`, each below the one it replaces.
fn difference(written: &str, got: &str) -> String {
    let pairs = written.lines().zip(got.lines()).filter(|(written, got)| written != got);
    pairs.map(|(written, got)| format!("- {written}\n+ {got}\n")).collect()
}

#[test]
fn results_are_those_written_down() {
    let (got, summaries) = run_all();
    if std::env::var_os("BLESS").is_some() {
        let line = |(column, row): (&String, &Vec<String>)| format!("{column} {}\n", row.join(" "));
        std::fs::write(FILE, got.iter().map(line).collect::<String>()).unwrap();
        std::fs::write(SUMMARIES, &summaries).unwrap();
    }
    let mut changed = Vec::new();
    for (column, written) in &read(&std::fs::read_to_string(FILE).unwrap()) {
        let got = got.get(column).unwrap_or_else(|| panic!("there is no column {column} any more"));
        for ((name, _), (got, written)) in scenarios().iter().zip(got.iter().zip(written)) {
            if got != written {
                changed.push(format!("{column} of \"{name}\""));
            }
        }
        assert_eq!(got.len(), written.len(), "golden.txt is of other scenarios");
    }
    let said = difference(&std::fs::read_to_string(SUMMARIES).unwrap(), &summaries);
    let count = changed.len();
    assert!(changed.is_empty(), "{count} columns have changed: {changed:?}\n{said}");
    assert!(said.is_empty(), "summaries have changed, results have not:\n{said}");
}
