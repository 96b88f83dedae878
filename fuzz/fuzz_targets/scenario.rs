//! No text makes the reader of scenarios panic, and the canonical form of one that is accepted
//! reads back to itself. Run with `cargo +nightly fuzz run scenario`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_catalogue::builtin;
use sojourn_sim::scenario::Scenario;

fuzz_target!(|text: &str| {
    if let Ok(scenario) = Scenario::from_toml(text, builtin()) {
        let canonical = scenario.to_json();
        let again =
            Scenario::from_json(&canonical, builtin()).expect("the canonical form is accepted");
        assert_eq!(again.to_json(), canonical);
    }
});
