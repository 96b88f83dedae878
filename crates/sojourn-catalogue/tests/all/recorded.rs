//! Recorded events, compared with the counters and with the same run unrecorded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::json;

use crate::laws::shortened;
use crate::random::scenario;
use sojourn_catalogue::builtin;
use sojourn_net::record::LinkCounters;
use sojourn_net::record::Outcome;
use sojourn_net::record::live::Sink;
use sojourn_net::record::live::{Batch, PacketRows, StateRows};
use sojourn_sim::spec::Recorded;
use sojourn_sim::{Scenario, Simulation};

/// Batches that a sink received.
#[derive(Default)]
struct Record {
    state: Vec<StateRows>,
    packets: Vec<PacketRows>,
    words: Vec<Arc<str>>,
}

/// Packets that had this happen to them at this link for this reason.
type Counts = HashMap<[String; 3], u64>;

impl Record {
    fn sink() -> (Arc<Mutex<Record>>, Sink) {
        let record = Arc::new(Mutex::new(Record::default()));
        let writer = record.clone();
        let sink = move |batch: Batch, words: &[Arc<str>]| {
            let mut record = writer.lock().unwrap();
            record.words = words.to_vec();
            match batch {
                Batch::State(rows) => record.state.push(rows),
                Batch::Packets(rows) => record.packets.push(rows),
                Batch::Capture(_) | Batch::Events { .. } => {}
            }
        };
        (record, Box::new(sink))
    }

    fn word(&self, number: u32) -> String {
        self.words[number as usize].to_string()
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts::new();
        for rows in &self.packets {
            for ((link, event), reason) in rows.link.iter().zip(&rows.event).zip(&rows.reason) {
                *counts.entry([*link, *event, *reason].map(|word| self.word(word))).or_default() +=
                    1;
            }
        }
        counts
    }

    /// Rows of one component are in the order of time, and each changes something.
    fn changes_strictly(&self) {
        let mut last = HashMap::new();
        let mut times = HashMap::new();
        for rows in &self.state {
            for row in 0..rows.time.len() {
                let (component, name) = (rows.component[row], rows.name[row]);
                let value = (rows.value[row].to_bits(), rows.text[row]);
                let named = || [component, name].map(|word| self.word(word));
                assert_ne!(last.insert((component, name), value), Some(value), "{:?}", named());
                let before = times.insert(component, rows.time[row]).unwrap_or(0.0);
                assert!(before <= rows.time[row], "{:?}", named());
            }
        }
    }
}

/// Runs `scenario` by steps up to some events, recorded or not; what each link has done and holds
/// then.
fn run(scenario: &Scenario, sink: Option<Sink>) -> (Vec<(LinkCounters, u64)>, Outcome) {
    let mut simulation = match sink {
        Some(sink) => Simulation::recording(scenario, sink).unwrap(),
        None => Simulation::new(scenario).unwrap(),
    };
    let step = scenario.duration / 100;
    while simulation.now() < simulation.end() && simulation.events() < 50_000 {
        simulation.advance(simulation.now() + step).unwrap();
    }
    let recorded = scenario.plan().links.iter().filter(|link| link.recorded).count();
    let links = (0..recorded).map(|link| {
        let held = simulation.held(link).packets;
        (simulation.link(link), held)
    });
    let links = links.collect();
    (links, simulation.outcome().unwrap())
}

/// All columns but the count of events, which is no result.
fn results(outcome: Outcome) -> String {
    let mut tables = outcome.into_tables();
    tables.iter_mut().for_each(|(_, table)| table.columns.retain(|c| c.name != "events"));
    format!("{tables:?}")
}

/// A recorded run has the results of one that is not, and its record agrees with them.
pub(crate) fn agrees(scenario: &Scenario) {
    let (record, sink) = Record::sink();
    let (links, outcome) = run(scenario, Some(sink));
    let (_, plain) = run(scenario, None);
    let context = || format!("{:#}", scenario.to_json());
    assert_eq!(results(plain), results(outcome), "{}", context());
    let record = record.lock().unwrap();
    record.changes_strictly();
    let counts = record.counts();
    for (index, (counted, held)) in links.into_iter().enumerate() {
        let link = &scenario.plan().links[index].id;
        let count = |event: &str, reason: &str| {
            counts.get(&[link.clone(), event.to_owned(), reason.to_owned()]).copied().unwrap_or(0)
        };
        let all = |wanted: &str| -> u64 {
            let of = counts.iter().filter(|([id, event, _], _)| id == link && event == wanted);
            of.map(|(_, count)| count).sum()
        };
        let losses = ["loss", "burst_loss", "outage", "listed", "retry_limit"];
        let recorded = [
            ("offered_packets", counted.offered_packets, count("enqueue", "")),
            ("duplicated_packets", counted.duplicated_packets, count("enqueue", "duplicate")),
            ("drops_overflow", counted.drops_overflow, count("drop", "overflow")),
            ("drops_aqm", counted.drops_aqm, count("drop", "aqm")),
            ("drops_policed", counted.drops_policed, count("drop", "policed")),
            (
                "drops_loss",
                counted.drops_loss,
                losses.iter().map(|cause| count("drop", cause)).sum(),
            ),
            ("thinned_packets", counted.thinned_packets, count("drop", "thinned")),
            ("ce_marks", counted.ce_marks, count("mark", "ce")),
            ("sce_marks", counted.sce_marks, count("mark", "sce")),
        ];
        for (counter, counted, recorded) in recorded {
            assert_eq!(counted, recorded, "{counter} of {link} in {}", context());
        }
        let gone = all("deliver") + all("drop");
        assert_eq!(all("enqueue"), gone + held, "{link} in {}", context());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 30, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn a_record_agrees_with_the_counters_and_changes_nothing(mut value in scenario()) {
        value["record"] = json!(Recorded::NAMES);
        if let Some(scenario) = shortened(value) {
            agrees(&scenario);
        }
    }
}

/// Everything that can happen to a packet on a link.
const EVENTFUL: &str = r#"
duration = "5 s"
record = ["cc", "queue", "packets"]
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "10 Mbit/s"
queue = { kind = "fq_codel", limit = "60 packets" }
loss = "0.3 %"
duplicate = "1 %"
burst_loss = { to_bad = "0.1 %", to_good = "30 %" }
policer = { rate = "12 Mbit/s", burst = "10 kB" }
outages = [{ start = "2 s", duration = "200 ms", effect = "loss" }]
[topology.reverse]
aggregation = { interval = "5 ms", acks_per_flow = 1 }
[[flows]]
cca = "cubic"
rtt = "20 ms"
ecn = "classic"
drop = [17]
count = 2
[[flows]]
cca = "bbr"
rtt = "40 ms"
[[flows]]
transport = "udp"
rtt = "10 ms"
traffic = { kind = "cbr", rate = "2 Mbit/s" }
"#;

#[test]
fn every_event_is_recorded_for_its_reason() {
    let scenario = Scenario::from_toml(EVENTFUL, builtin()).unwrap();
    agrees(&scenario);
    let (record, sink) = Record::sink();
    run(&scenario, Some(sink));
    let record = record.lock().unwrap();
    let mut seen: Vec<_> =
        record.counts().into_keys().map(|[_, event, why]| [event, why]).collect();
    seen.sort_unstable();
    seen.dedup();
    let seen: Vec<_> = seen.iter().map(|[event, why]| format!("{event} {why}")).collect();
    let expected = [
        "deliver ",
        "drop burst_loss",
        "drop listed",
        "drop loss",
        "drop outage",
        "drop policed",
        "drop thinned",
        "enqueue ",
        "enqueue duplicate",
        "mark ce",
    ];
    let missing: Vec<_> =
        expected.iter().filter(|event| !seen.iter().any(|s| s == *event)).collect();
    assert!(missing.is_empty(), "{missing:?} of {seen:?}");
}

/// The packets in the queue are those that the counters add up to.
#[test]
fn sojourn_times_are_those_of_the_queue() {
    let text = r#"
duration = "3 s"
record = ["packets"]
[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", device_queue = "3 packets", queue = { kind = "fifo", limit = "30 packets" } }
[[flows]]
cca = "reno"
rtt = "20 ms"
stop = "2 s"
"#;
    let scenario = Scenario::from_toml(text, builtin()).unwrap();
    let (record, sink) = Record::sink();
    let (links, _) = run(&scenario, Some(sink));
    let [(counted, 0)] = links[..] else { panic!("something is still on its way") };
    let record = record.lock().unwrap();
    let sojourns = record.packets.iter().flat_map(|rows| &rows.sojourn);
    let recorded: f64 = sojourns.filter(|sojourn| sojourn.is_finite()).sum();
    let counted = counted.sojourn_sum.as_secs_f64();
    assert!(counted > 1.0 && (recorded / counted - 1.0).abs() < 1e-9, "{recorded} of {counted} s");
}

#[test]
fn only_what_is_asked_for_is_recorded() {
    let tables = |record: &str| {
        let text = EVENTFUL.replace(r#"["cc", "queue", "packets"]"#, record);
        let (record, sink) = Record::sink();
        run(&Scenario::from_toml(&text, builtin()).unwrap(), Some(sink));
        let record = record.lock().unwrap();
        let components = record.state.iter().flat_map(|rows| &rows.component);
        let mut kinds: Vec<_> = components
            .map(|word| record.word(*word).split('.').next().unwrap_or_default().to_owned())
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        (kinds, !record.packets.is_empty())
    };
    assert_eq!(tables("[]"), (vec![], false));
    assert_eq!(tables(r#"["cc"]"#), (vec!["flow".to_owned()], false));
    assert_eq!(tables(r#"["queue"]"#), (vec!["link".to_owned()], false));
    assert_eq!(tables(r#"["packets"]"#), (vec![], true));
}

/// Nodes of an overlay, whose network partitions into regions.
const OVERLAY: &str = r#"
duration = "200 ms"
record = ["cc", "queue", "packets"]
[topology]
kind = "graph"
nodes = [{ id = "1", kind = "overlay" }, { id = "2", kind = "overlay" }, { id = "3", kind = "overlay" }]
links = [
    { id = "12", from = "1", to = "2", rate = "200 Mbit/s", delay = "5 ms" },
    { id = "13", from = "1", to = "3", rate = "200 Mbit/s", delay = "5 ms" },
    { id = "32", from = "3", to = "2", rate = "200 Mbit/s", delay = "5 ms" },
]
[[flows]]
from = "1"
to = "2"
transport = "udp"
mss = 1024
traffic = { kind = "cbr", rate = "150 Mbit/s", size = "1024 B" }
service = { ceiling = "1 Gbit/s" }
[[flows]]
from = "3"
to = "1"
cca = "cubic"
service = {}
"#;

#[test]
fn a_record_of_regions_keeps_the_order_of_time_and_changes_nothing() {
    let scenario = Scenario::from_toml(OVERLAY, builtin()).unwrap();
    assert_eq!(Simulation::new(&scenario).unwrap().regions(), 3);
    let (links, _) = run(&scenario, None);
    assert!(links.iter().map(|(link, _)| link.sent_packets).sum::<u64>() > 100);
    agrees(&scenario);
}
