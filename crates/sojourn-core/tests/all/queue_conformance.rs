//! Laws that every registered queue discipline keeps, whatever arrives.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sojourn_core::catalogue::builtin;
use sojourn_core::packet::{Direction, Ecn, FiveTuple, Packet};
use sojourn_core::queue::{
    DropReason, QueueContext, QueueCounters, QueueDiscipline, QueueInit, QueueObserver,
};
use sojourn_core::rng::StreamKey;
use sojourn_core::spec::Queue;
use sojourn_core::units::{Rate, Span, Time};

fn init(seed: u64) -> QueueInit {
    QueueInit {
        rate: Some(Rate::from_bps(10_000_000)),
        overhead: 14,
        full_packet: 1500,
        base_rtt: Span::from_millis(40),
        ecn: true,
        random: StreamKey::root(seed),
    }
}

/// Sums over packets seen on one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    packets: u64,
    bytes: u64,
}

impl Tally {
    fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }
}

/// Checks each drop and mark as it happens.
#[derive(Default)]
struct Watcher {
    dropped: Tally,
    drops: [u64; DropReason::COUNT],
    ce_marks: u64,
    sce_marks: u64,
}

impl QueueObserver for Watcher {
    fn on_drop(&mut self, _now: Time, packet: &Packet, reason: DropReason) {
        self.dropped.add(packet);
        self.drops[reason as usize] += 1;
    }

    fn on_mark(&mut self, _now: Time, packet: &Packet) {
        match packet.ecn {
            Ecn::Ce => self.ce_marks += 1,
            Ecn::Ect1 => self.sce_marks += 1,
            other => panic!("marked as {other:?}"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrival { flow: u32, size: u32, ecn: Ecn, back: bool },
    Departure,
    Pause { micros: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    let size = prop_oneof![Just(1500u32), Just(52), 40u32..1500];
    prop_oneof![
        6 => (0u32..6, size, ecn, any::<bool>())
            .prop_map(|(flow, size, ecn, back)| Step::Arrival { flow, size, ecn, back }),
        4 => Just(Step::Departure),
        2 => (0u64..5_000).prop_map(|micros| Step::Pause { micros }),
        1 => (0u64..300_000).prop_map(|micros| Step::Pause { micros }),
    ]
}

/// A discipline under test, with what went in and came out.
struct Bench {
    name: &'static str,
    reorders: bool,
    queue: Box<dyn QueueDiscipline>,
    now: Time,
    counters: QueueCounters,
    watcher: Watcher,
    offered: Tally,
    sent: Tally,
    arrivals: HashMap<u32, Packet>,
    last_sent: HashMap<(u32, Direction), u32>,
}

impl Bench {
    fn step(&mut self, step: Step) {
        match step {
            Step::Arrival { flow, size, ecn, back } => self.arrive(flow, size, ecn, back),
            Step::Departure => drop(self.depart()),
            Step::Pause { micros } => self.pause(Span::from_micros(micros)),
        }
        let waiting = self.queue.backlog();
        let counted = Tally { packets: waiting.packets, bytes: waiting.bytes };
        let sum = Tally {
            packets: self.sent.packets + self.watcher.dropped.packets + counted.packets,
            bytes: self.sent.bytes + self.watcher.dropped.bytes + counted.bytes,
        };
        assert_eq!(self.offered, sum, "{}: in = out + dropped + queued", self.name);
    }

    fn arrive(&mut self, flow: u32, size: u32, ecn: Ecn, back: bool) {
        let direction = if back { Direction::Backward } else { Direction::Forward };
        let index = self.offered.packets as u32;
        let (source, destination) = (flow as u16 % 3, 10 + flow as u16 % 2);
        let enqueued_at = self.now;
        let packet = Packet {
            flow,
            direction,
            ecn,
            tuple: FiveTuple { source, destination, ports: flow },
            size,
            index,
            enqueued_at,
            ..Packet::default()
        };
        self.offered.add(&packet);
        self.arrivals.insert(index, packet);
        let mut cx =
            QueueContext { counters: &mut self.counters, observer: Some(&mut self.watcher) };
        self.queue.enqueue(self.now, packet, &mut cx);
    }

    fn depart(&mut self) -> Option<Packet> {
        let mut cx =
            QueueContext { counters: &mut self.counters, observer: Some(&mut self.watcher) };
        let packet = self.queue.dequeue(self.now, &mut cx)?;
        self.sent.add(&packet);
        let arrived = self.arrivals.remove(&packet.index).expect("sent once, after it arrived");
        let may_become = match arrived.ecn {
            Ecn::NotEct => vec![Ecn::NotEct],
            Ecn::Ect0 => vec![Ecn::Ect0, Ecn::Ect1, Ecn::Ce],
            Ecn::Ect1 => vec![Ecn::Ect1, Ecn::Ce],
            Ecn::Ce => vec![Ecn::Ce],
        };
        assert!(may_become.contains(&packet.ecn), "{}: {arrived:?} left as {packet:?}", self.name);
        assert_eq!((packet.size, packet.flow), (arrived.size, arrived.flow));
        let key = (packet.flow, packet.direction);
        if let Some(previous) = self.last_sent.insert(key, packet.index) {
            assert!(
                previous < packet.index || self.reorders,
                "{}: packet {} after {previous} of one flow",
                self.name,
                packet.index
            );
        }
        Some(packet)
    }

    /// Lets time pass, with the discipline's timers.
    fn pause(&mut self, span: Span) {
        let end = self.now + span;
        while let Some(timer) = self.queue.next_timer().filter(|timer| *timer <= end) {
            let mut cx =
                QueueContext { counters: &mut self.counters, observer: Some(&mut self.watcher) };
            self.now = timer.max(self.now);
            self.queue.on_timer(self.now, &mut cx);
            if self.queue.next_timer().is_some_and(|next| next <= timer) {
                break;
            }
        }
        self.now = end;
    }

    /// Empties the queue; a shaper gets the time it asks for.
    fn drain(&mut self) {
        for _ in 0..100_000 {
            if self.queue.backlog().packets == 0 {
                break;
            }
            if self.depart().is_none() {
                self.pause(Span::from_millis(2));
            }
        }
        assert_eq!(self.queue.backlog().packets, 0, "{} gives its packets back", self.name);
        assert_eq!(self.queue.backlog().bytes, 0);
        assert_eq!(self.offered.packets, self.sent.packets + self.watcher.dropped.packets);
        assert_eq!(self.counters.drops, self.watcher.drops, "every drop has a reason");
        assert_eq!(self.counters.dropped_bytes, self.watcher.dropped.bytes);
        assert_eq!(self.counters.ce_marks, self.watcher.ce_marks);
        assert_eq!(self.counters.sce_marks, self.watcher.sce_marks);
    }
}

/// Parameters besides the defaults with which the laws are checked.
const VARIANTS: &[(&str, &str)] = &[
    ("fifo", r#"{ "limit": "9 kB" }"#),
    ("fifo", r#"{ "limit": "1 bdp" }"#),
    ("red", r#"{ "gentle": true, "adaptive": true }"#),
    ("red", r#"{ "limit": "30 kB", "hard_drop": true }"#),
    ("red", r#"{ "ecn": false }"#),
    ("codel", r#"{ "ce_threshold": "1 ms", "limit": "30 kB" }"#),
    ("codel", r#"{ "ecn": false }"#),
    ("fq_codel", r#"{ "flows": 1, "ce_threshold": "1 ms", "memory_limit": "50 kB" }"#),
    ("pie", r#"{ "version": "linux-4" }"#),
    ("pie", r#"{ "rate_estimator": true, "ecn": false }"#),
    ("fq_pie", r#"{ "flows": 2, "rate_estimator": true }"#),
    ("dualpi2", r#"{ "step_queue": "0 packets", "drop_on_overload": false }"#),
    ("cobalt", r#"{ "rtt": "10 ms", "limit": "30 kB" }"#),
    ("cake", r#"{ "bandwidth": "unlimited", "isolation": "flowblind", "sce": "sce" }"#),
    ("cake", r#"{ "isolation": "flows", "sce": "sce-thresh 8", "ramp": "draft", "mpu": "84 B" }"#),
    ("cake", r#"{ "isolation": "hosts", "sce": "sce-single", "framing": "atm" }"#),
    ("cake", r#"{ "isolation": "dual-srchost", "ingress": true, "memory": "100 kB" }"#),
    ("cake", r#"{ "isolation": "dual-dsthost", "framing": "ptm", "overhead": "30 B" }"#),
    ("cake", r#"{ "isolation": "srchost", "bandwidth": "2 Mbit/s" }"#),
    ("cake", r#"{ "isolation": "dsthost", "rtt": "10 ms" }"#),
    ("fq", r#"{ "quantum": "300 B", "flow_limit": "5 packets" }"#),
];

/// Every discipline by its defaults, then without and with little room where it has such a
/// parameter, then the variants.
fn every_setting() -> impl Iterator<Item = (&'static str, Map<String, Value>)> {
    let by_limit =
        builtin().members::<Queue>().iter().map(|entry| &entry.listing).flat_map(|listing| {
            let of = |limit: &str| Map::from_iter([("limit".to_owned(), json!(limit))]);
            [Map::new(), of("0 packets"), of("20 packets")]
                .into_iter()
                .filter(|params| (listing.canonical)(params, builtin()).is_ok())
                .map(|params| (listing.name, params))
        });
    let variants = VARIANTS.iter().map(|(name, params)| {
        (*name, serde_json::from_str(params).expect("parameters are a table"))
    });
    by_limit.chain(variants)
}

fn bench(name: &'static str, params: &Map<String, Value>, seed: u64) -> Bench {
    let entry = builtin().find::<Queue>(name).expect("a discipline");
    let queue = (entry.make)(params, &init(seed), builtin()).expect("valid parameters");
    Bench {
        name,
        reorders: entry.facts.reorders,
        queue: queue.boxed(),
        now: Time::ZERO,
        counters: QueueCounters::default(),
        watcher: Watcher::default(),
        offered: Tally::default(),
        sent: Tally::default(),
        arrivals: HashMap::new(),
        last_sent: HashMap::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_ordered_and_marked_only_if_capable(
        steps in prop::collection::vec(step(), 1..1500),
        seed in 0u64..1000,
    ) {
        for (name, params) in every_setting() {
            let mut bench = bench(name, &params, seed);
            steps.iter().for_each(|step| bench.step(*step));
            bench.drain();
        }
    }
}

/// First a tenth, then ten times more than the link can carry, for long enough that every law acts.
#[test]
fn overload_is_survived_and_signalled() {
    for (name, params) in every_setting() {
        let mut bench = bench(name, &params, 1);
        let slot = init(1).rate.expect("a rate").span_of(1514);
        for n in 0..10_000u32 {
            let ecn = if n % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct };
            let arrivals = if n < 4_000 { 1 + u32::from(n % 10 == 0) } else { 10 };
            (0..arrivals).for_each(|i| bench.arrive((n + i) % 4, 1500, ecn, false));
            bench.depart();
            bench.pause(slot);
        }
        let drops: u64 = bench.counters.drops.iter().sum();
        assert!(drops > 40_000, "{name} {params:?}: {drops} drops");
        let QueueCounters { ce_marks, sce_marks, .. } = bench.counters;
        let declared = builtin().find::<Queue>(name).expect("a discipline").facts.marks;
        let marks = declared && params.get("ecn") != Some(&json!(false));
        // With little room, overflow may leave nothing to be marked.
        let room = !params.keys().any(|key| key.contains("limit") || key == "memory");
        assert!(
            ce_marks > 0 || !(marks && room),
            "{name} {params:?} marks nothing: declare MARKS = false?"
        );
        assert!(ce_marks == 0 || marks, "{name} {params:?}: {ce_marks} marks");
        assert_eq!(sce_marks > 0, params.contains_key("sce"), "{name} {params:?}: {sce_marks}");
        bench.drain();
    }
}

#[test]
fn every_discipline_has_a_page_and_complete_defaults() {
    for entry in builtin().members::<Queue>() {
        let listing = &entry.listing;
        assert!(listing.summary().ends_with('.'), "{}: {}", listing.name, listing.summary());
        assert!(listing.documentation().len() > 300, "{}", listing.name);
        let full = (listing.canonical)(&Map::new(), builtin()).expect("defaults are valid");
        let full = full.as_object().expect("an object");
        assert_eq!(
            (listing.canonical)(full, builtin()).expect("canonical reads back"),
            json!(full)
        );
    }
}
