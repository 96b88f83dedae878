//! Every registered congestion control meets every check, or is a named exception to it.

use std::env;

use sojourn_catalogue::builtin;
use sojourn_sim::conformance::controls::CHECKS;
use sojourn_sim::conformance::{exceptions, failures, measure, media, nodes, subjects, transports};
use sojourn_sim::spec::{Cca, Medium, Node, Transport};

/// The controls to measure: all, or the one that the environment variable `CCA` names.
fn chosen() -> Vec<&'static str> {
    match env::var("CCA") {
        Ok(name) => vec![builtin().find::<Cca>(&name).unwrap().listing.name],
        Err(_) => builtin().names::<Cca>(),
    }
}

fn every_control_meets(name: &str) {
    let check = CHECKS.iter().find(|check| check.name == name).unwrap();
    let controls = chosen();
    let wrong: Vec<String> = (controls.iter().copied())
        .zip(measure(check, &subjects(builtin(), &controls)))
        .filter_map(|(control, measured)| {
            let value = match measured {
                Ok(value) => value,
                Err(fault) => return Some(format!("{control}: {fault}")),
            };
            match (check.holds(value), exceptions::find(name, control)) {
                (true, None) | (false, Some(_)) => None,
                (false, None) => Some(format!("{control}: {value:.3}")),
                (true, Some(_)) => Some(format!("{control}: {value:.3}, no longer an exception")),
            }
        })
        .collect();
    assert!(wrong.is_empty(), "{} is not met:\n{}", check.legend, wrong.join("\n"));
}

macro_rules! check {
    ($($test:ident $name:literal;)*) => {
        $(#[test]
        fn $test() {
            every_control_meets($name);
        })*

        #[test]
        fn every_check_is_a_test() {
            let tested: &[&str] = &[$($name),*];
            assert!(CHECKS.iter().map(|check| check.name).eq(tested.iter().copied()));
        }
    };
}

check! {
    clean_link "clean link";
    same_again "same again";
    late_start "late start";
    floor "floor";
    loss "loss";
    marks "marks";
    timeout "timeout";
    rate_halved "rate halved";
    rate_doubled "rate doubled";
    longer_path "longer path";
    shorter_path "shorter path";
    idle "idle";
    fairness "fairness";
}

#[test]
fn exceptions_name_checks_and_controls() {
    for exception in exceptions::EXCEPTIONS {
        for name in exception.checks {
            assert!(CHECKS.iter().any(|check| check.name == *name), "{name}");
        }
        assert!(!exception.reason.is_empty());
        for control in exception.controls {
            assert!(builtin().find::<Cca>(control).is_ok(), "{control}");
        }
    }
}

#[test]
fn every_transport_conforms() {
    let failed =
        failures(transports::CHECKS, &subjects(builtin(), &builtin().names::<Transport>()));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_node_conforms() {
    let failed = failures(nodes::CHECKS, &subjects(builtin(), &builtin().names::<Node>()));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_medium_conforms() {
    let failed = failures(media::CHECKS, &subjects(builtin(), &builtin().names::<Medium>()));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
