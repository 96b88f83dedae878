//! Every registered congestion control meets every check, or is a named exception to it.

#[path = "conformance/suite.rs"]
mod suite;

use suite::{checks::CHECKS, exceptions, measure};

fn every_control_meets(name: &str) {
    let check = CHECKS.iter().find(|check| check.name == name).unwrap();
    let wrong: Vec<String> = measure(check)
        .into_iter()
        .filter_map(|(control, value)| {
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
            assert!(
                sojourn_core::catalogue::builtin().find::<sojourn_core::spec::Cca>(control).is_ok(),
                "{control}"
            );
        }
    }
}
