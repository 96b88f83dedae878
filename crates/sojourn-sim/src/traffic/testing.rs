//! Runs a traffic model for the tests of the models.

use serde_json::Value;

use super::Action;
use crate::catalogue::builtin;
use crate::rng::StreamKey;
use crate::spec::{Spec, Traffic, toml_to_json};
use crate::units::{Span, Time};

/// The actions before `until` of a model written as in a scenario, with their times since the
/// flow's start, which differs from the run's.
pub(super) fn actions(kind: &str, until: Span) -> Vec<(Span, Action)> {
    let table: Value = toml_to_json(&format!("traffic = {kind}")).unwrap();
    let spec: Spec<Traffic> = serde_json::from_value(table["traffic"].clone()).unwrap();
    let entry = builtin().find::<Traffic>(&spec.kind).unwrap();
    let mut source = (entry.make)(&spec.params, builtin()).unwrap();
    let mut rng = StreamKey::root(7).stream();
    let start = Time::ZERO + Span::from_secs(5);
    let mut now = start;
    let mut seen = Vec::new();
    while let Some((time, action)) = source.next(now, &mut rng) {
        assert!(time >= now, "an action in the past");
        if time.since(start) >= until {
            break;
        }
        now = time;
        seen.push((time.since(start), action));
    }
    seen
}

/// Bytes written by these actions.
pub(super) fn written(actions: &[(Span, Action)]) -> u64 {
    let bytes = |action: &Action| if let Action::Write(bytes) = action { *bytes } else { 0 };
    actions.iter().map(|(_, action)| bytes(action)).sum()
}
