//! Laws that every registered queue discipline keeps, whatever arrives.

use proptest::prelude::*;
use serde_json::{Map, json};
use sojourn_base::packet::Ecn;
use sojourn_catalogue::builtin;
use sojourn_net::queue::QueueCounters;
use sojourn_sim::conformance::queue_bench::{Bench, Breaches, Step};
use sojourn_sim::conformance::queues::{CHECKS, overloaded};
use sojourn_sim::conformance::{Subject, failures, subjects};
use sojourn_sim::spec::Queue;

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
    ("cake", r#"{ "diffserv": "diffserv8", "ack_filter": "ack-filter", "wash": true }"#),
    ("cake", r#"{ "masquerade": "source", "nat": true, "overhead": "pppoe-ptm ether-vlan" }"#),
    ("fq", r#"{ "quantum": "300 B", "flow_limit": "5 packets" }"#),
];

/// Every discipline by its defaults, then without and with little room where it has such a
/// parameter, then the variants.
fn every_setting() -> impl Iterator<Item = Subject> {
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
    let subject = |(name, params)| Subject { params, ..Subject::named(builtin(), name) };
    by_limit.chain(variants).map(subject)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_ordered_and_marked_only_if_capable(
        steps in prop::collection::vec(step(), 1..1500),
        seed in 0u64..1000,
    ) {
        for subject in every_setting() {
            let declared = &builtin().find::<Queue>(&subject.name).expect("a discipline").facts;
            let mut bench = Bench::new(&subject, seed).expect("valid parameters");
            steps.iter().for_each(|step| bench.step(*step));
            bench.drain();
            prop_assert_eq!(
                bench.breaches(declared), Breaches::default(), "{} {:?}", subject.name, subject.params
            );
        }
    }
}

#[test]
fn every_discipline_conforms() {
    let failed = failures(CHECKS, &subjects(builtin(), &builtin().names::<Queue>()));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn overload_is_survived_and_signalled_in_every_setting() {
    for subject in every_setting() {
        let (name, params) = (&subject.name, &subject.params);
        let bench = overloaded(&subject).expect("valid parameters");
        let declared = &builtin().find::<Queue>(name).expect("a discipline").facts;
        assert_eq!(bench.breaches(declared), Breaches::default(), "{name} {params:?}");
        let drops: u64 = bench.counters.drops.iter().sum();
        assert!(drops > 40_000, "{name} {params:?}: {drops} drops");
        let QueueCounters { ce_marks, sce_marks, .. } = bench.counters;
        let marks = declared.marks && params.get("ecn") != Some(&json!(false));
        // With little room, overflow may leave nothing to be marked.
        let room = !params.keys().any(|key| key.contains("limit") || key == "memory");
        assert!(ce_marks > 0 || !(marks && room), "{name} {params:?} marks nothing");
        assert!(ce_marks == 0 || marks, "{name} {params:?}: {ce_marks} marks");
        assert_eq!(sce_marks > 0, params.contains_key("sce"), "{name} {params:?}: {sce_marks}");
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
