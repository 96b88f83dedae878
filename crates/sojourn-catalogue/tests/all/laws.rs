//! Any scenario that is accepted runs to its end and keeps to physical laws.

use proptest::prelude::*;
use serde_json::json;

use crate::random::{mutated, scenario, stretched};
use sojourn_base::error::Fault;
use sojourn_base::units::Rate;
use sojourn_base::units::Span;
use sojourn_base::units::Time;
use sojourn_catalogue::builtin;
use sojourn_net::record::Outcome;
use sojourn_net::record::Table;
use sojourn_sim::{Scenario, Simulation};

/// The scenario shortened to half a second, which keeps random scenarios affordable.
pub(crate) fn shortened(mut value: serde_json::Value) -> Option<Scenario> {
    value["duration"] = json!("500 ms");
    let scenario = Scenario::from_json(&value, builtin()).ok()?;
    let plan = scenario.plan();
    let affordable = plan
        .links
        .iter()
        .all(|link| link.spec.rate.is_none_or(|rate| rate <= Rate::from_bps(1_000_000_000)));
    let affordable = affordable && scenario.sample_interval >= Span::from_millis(1);
    (affordable && scenario.flows_expanded().len() <= 20).then_some(scenario)
}

fn sum(table: &Table, column: &str) -> f64 {
    table.reals(column).unwrap().iter().sum()
}

/// Runs to the end, or up to a limit of events, since tiny segments at high rates cause many.
/// Returns the time reached.
fn affordably(scenario: &Scenario) -> Result<(Span, Outcome), Fault> {
    const MOST_EVENTS: u64 = 200_000;
    let mut simulation = Simulation::new(scenario).unwrap();
    let step = scenario.duration / 1_000;
    while simulation.now() < simulation.end() && simulation.events() < MOST_EVENTS {
        simulation.advance(simulation.now() + step)?;
    }
    Ok((simulation.now().since(Time::ZERO), simulation.outcome()?))
}

fn keeps_the_laws(scenario: &Scenario) {
    let (duration, outcome) = affordably(scenario).unwrap_or_else(|fault| {
        panic!("{fault} in {:#}", scenario.to_json());
    });
    let flows = &outcome.flow_samples;
    let context = || format!("{:#}", scenario.to_json());
    assert!(sum(flows, "delivered_bytes") <= sum(flows, "sent_bytes"), "{}", context());
    assert!(sum(flows, "in_order_bytes") <= sum(flows, "delivered_bytes"), "{}", context());
    let plan = scenario.plan();
    let (links, sent) = (
        outcome.link_samples.reals("link").unwrap(),
        outcome.link_samples.reals("sent_bytes").unwrap(),
    );
    for (index, link) in plan.links.iter().enumerate().filter(|(_, link)| link.recorded) {
        let spec = &link.spec;
        let varies =
            spec.rate_schedule.is_some() || spec.trace.is_some() || spec.duplicate.fraction() > 0.0;
        let Some(rate) = spec.rate.filter(|_| !varies) else { continue };
        let of_link = links.iter().zip(&sent).filter(|(number, _)| **number == index as f64);
        let carried: f64 = of_link.map(|(_, bytes)| bytes).sum();
        let most = rate.bytes_in(duration) as f64 + 70_000.0;
        assert!(carried <= most, "{}: {carried} of {most} B in {}", link.id, context());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 30, ..ProptestConfig::default() })]

    #[test]
    fn random_scenarios_keep_the_laws(value in scenario()) {
        if let Some(scenario) = shortened(value) {
            keeps_the_laws(&scenario);
        }
    }

    #[test]
    fn stretched_scenarios_keep_the_laws(value in stretched()) {
        if let Some(scenario) = shortened(value) {
            keeps_the_laws(&scenario);
        }
    }

    #[test]
    fn mutated_scenarios_keep_the_laws(value in mutated()) {
        if let Some(scenario) = shortened(value) {
            keeps_the_laws(&scenario);
        }
    }
}
