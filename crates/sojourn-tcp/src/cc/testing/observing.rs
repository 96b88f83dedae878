//! Observable state of every control, on a path with losses, marks and a short queue.

use std::collections::BTreeSet;

use super::{Bottleneck, init};
use crate::catalogue::builtin;
use crate::observe::Observed;
use crate::packet::Ecn;
use crate::spec::Cca;

/// Controls without state other than the window and the threshold, which are recorded anyway.
const STATELESS: [&str; 4] = ["reno", "scalable", "fixed-window", "fixed-rate"];

/// The names that a control reports in a run; checks each value.
fn names(control: &str) -> BTreeSet<String> {
    let make = builtin().find::<Cca>(control).unwrap().make;
    let built = make(&serde_json::Map::new(), &init(), builtin()).unwrap();
    let mut path = Bottleneck::new(20.0, 40).flow(30.0, built);
    path.loss = 1e-3;
    path.mark = |wait, _| match wait.as_millis() {
        0..2 => Ecn::Ect0,
        2..10 => Ecn::Ect1,
        _ => Ecn::Ce,
    };
    let mut all = BTreeSet::new();
    path.run(6.0, |now, _, flow, _| {
        let mut reading = BTreeSet::new();
        flow.control.observe(&mut |name, value| {
            assert!(reading.insert(name.to_owned()), "{control}: {name} twice");
            if let Observed::Number(value) = value {
                assert!(value.is_finite(), "{control} at {now} s: {name} is {value}");
            }
        });
        all.append(&mut reading);
    });
    all
}

#[test]
fn every_control_observes_what_its_header_lists() {
    for entry in builtin().members::<Cca>() {
        let name = entry.listing.name;
        let names = names(name);
        assert_eq!(names.is_empty(), STATELESS.contains(&name), "{name}: {names:?}");
        let page = entry.listing.documentation();
        let (_, listed) = page.split_once("Observes:").unwrap_or_default();
        for observed in names {
            let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(observed.chars().all(snake), "{name}: {observed} is not in snake case");
            assert!(listed.contains(&format!("`{observed}`")), "{name}: {observed} is not listed");
        }
    }
}
