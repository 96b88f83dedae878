//! The canonical form of a scenario, a text in JSON that runs are stored and found by: what is made
//! of it has the same text, byte by byte.

use serde_json::Value;
use sojourn_catalogue::builtin;
use sojourn_sim::scenario::Scenario;

pub(crate) fn check(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    let Ok(scenario) = Scenario::from_json(&value, builtin()) else { return };
    let canonical = scenario.to_json().to_string();
    let read: Value = serde_json::from_str(&canonical).expect("a canonical form is JSON");
    let again = Scenario::from_json(&read, builtin());
    let again = again.unwrap_or_else(|why| panic!("{why}\nin {canonical}"));
    assert_eq!(again.to_json().to_string(), canonical);
}
