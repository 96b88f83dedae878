//! A scenario's file. No text makes its reader panic, and the canonical form of one that is accepted
//! reads back to itself.

use sojourn_catalogue::builtin;
use sojourn_sim::scenario::Scenario;

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(scenario) = Scenario::from_toml(text, builtin()) else { return };
    let canonical = scenario.to_json();
    let again = Scenario::from_json(&canonical, builtin());
    let again = again.unwrap_or_else(|why| panic!("{why}\nin {canonical:#}"));
    assert_eq!(again.to_json(), canonical);
}
