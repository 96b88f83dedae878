//! Properties of reading scenarios: nothing makes it panic, and the canonical form is a fixed
//! point.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Value, json};

use crate::random::{mutated, scenario};
use sojourn_catalogue::builtin;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::spec::{Cca, Queue, Traffic};

fn reads_back_to_itself(scenario: &Scenario) {
    let canonical = scenario.to_json();
    let text = serde_json::to_string(&canonical).unwrap();
    let again = Scenario::from_json(&serde_json::from_str(&text).unwrap(), builtin());
    let again = again.unwrap_or_else(|why| panic!("{why}\nin {canonical:#}"));
    assert_eq!(again.to_json(), canonical);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn canonical_forms_are_fixed_points_and_every_flow_has_a_route(value in scenario()) {
        if let Ok(scenario) = Scenario::from_json(&value, builtin()) {
            reads_back_to_itself(&scenario);
            prop_assert_eq!(scenario.plan().routes.len(), scenario.flows_expanded().len());
        }
    }

    #[test]
    fn mutated_scenarios_never_panic(value in mutated()) {
        match Scenario::from_json(&value, builtin()) {
            Ok(scenario) => reads_back_to_itself(&scenario),
            Err(error) => prop_assert!(!error.message.is_empty()),
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Scenario::from_toml(&String::from_utf8_lossy(&bytes), builtin());
    }

    #[test]
    fn toml_with_random_edits_never_panics(at in any::<prop::sample::Index>(), cut in 0..40usize, insert in "[\\[\\]{}=.,\"'a-z0-9 \n]{0,8}") {
        let mut text: Vec<char> = include_str!("../../../sojourn-sim/src/scenario/example.toml").chars().collect();
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, insert.chars());
        let text: String = text.into_iter().collect();
        if let Ok(scenario) = Scenario::from_toml(&text, builtin()) {
            reads_back_to_itself(&scenario);
        }
    }
}

/// The strategies above are of use only if they reach both sides of the boundary.
#[test]
fn the_strategies_make_good_scenarios_and_bad_ones() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut accepted = |strategy: BoxedStrategy<Value>| {
        let values = (0..500).map(|_| strategy.new_tree(&mut runner).unwrap().current());
        values.filter(|value| Scenario::from_json(value, builtin()).is_ok()).count()
    };
    let plain = accepted(scenario().boxed());
    let changed = accepted(mutated().boxed());
    assert!(plain > 200 && changed > 50 && changed < plain, "{plain}, {changed} of 500");
}

#[test]
fn every_member_is_accepted_with_its_defaults() {
    let base = |cca: &str, queue: &str| {
        json!({
            "duration": "1 s",
            "topology": { "kind": "dumbbell", "bottleneck": { "rate": "10 Mbit/s", "queue": queue } },
            "flows": [{ "cca": cca, "rtt": "10 ms" }],
        })
    };
    let read = |value: Value| {
        let scenario =
            Scenario::from_json(&value, builtin()).unwrap_or_else(|why| panic!("{why} in {value}"));
        reads_back_to_itself(&scenario);
    };
    builtin().names::<Cca>().into_iter().for_each(|cca| read(base(cca, "fifo")));
    builtin().names::<Queue>().into_iter().for_each(|queue| read(base("reno", queue)));
    for traffic in builtin().names::<Traffic>() {
        let mut scenario = base("reno", "fifo");
        scenario["flows"][0]["traffic"] = json!(traffic);
        read(scenario);
    }
}
