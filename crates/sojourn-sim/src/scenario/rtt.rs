//! Checks of flows whose `rtt` is not given: 0 ms, which is seldom intended.
//!
//! Where the links on a flow's path have delays of their own, nothing is missing. Elsewhere its
//! base RTT is zero, and with it every buffer that is given in bandwidth-delay products.

use super::Scenario;
use crate::error::FieldError;
use crate::quantity::Limit;
use crate::spec::FlowSpec;
use crate::topology::{Plan, Routes};
use crate::units::Span;

/// Refuses a flow that leaves a buffer on its path without size.
pub(super) fn check(flow: &FlowSpec, routes: &Routes, plan: &Plan) -> Result<(), FieldError> {
    if flow.rtt.is_some() || plan.delay(routes) > Span::ZERO {
        return Ok(());
    }
    let links = routes.forward.iter().chain(&routes.backward);
    for link in links.map(|link| &plan.links[*link as usize]) {
        if let Some(limit) = link.spec.queue_sizes().map(|(_, l)| l).find(is_product) {
            let message = format!(
                "is missing; the queue limit of link '{}', {limit}, depends on it: give a \
                 round-trip time, such as \"20 ms\", or the limit in packets or bytes",
                link.id
            );
            return Err(FieldError::new("rtt", message));
        }
    }
    Ok(())
}

fn is_product(limit: &Limit) -> bool {
    matches!(limit, Limit::Bdp(_))
}

/// The entries of `flows` and `arrivals` whose base RTT is zero because none was given.
pub(super) fn warnings(scenario: &Scenario) -> Vec<FieldError> {
    let paths = scenario.paths();
    if paths.iter().all(|flow| flow.spec.rtt.is_some()) {
        return Vec::new();
    }
    let plan = scenario.plan();
    let silent = paths
        .iter()
        .zip(&plan.routes)
        .filter(|(flow, routes)| flow.spec.rtt.is_none() && plan.delay(routes) == Span::ZERO);
    let mut entries: Vec<String> = silent.map(|(flow, _)| flow.field()).collect();
    entries.dedup();
    let seldom =
        "is not given, so it is 0 ms, which is rarely intended; give a time, or rtt = \"0 ms\"";
    let warning = |entry: String| FieldError::new(format!("{entry}.rtt"), seldom);
    entries.into_iter().map(warning).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::catalogue::builtin;
    use crate::scenario::Scenario;

    fn read(link: Value, flow: Value) -> Result<Scenario, String> {
        let topology = json!({ "kind": "dumbbell", "bottleneck": link });
        let document = json!({ "duration": "1 s", "topology": topology, "flows": [flow] });
        Scenario::from_json(&document, builtin()).map_err(|error| error.to_string())
    }

    fn warnings(link: Value, flow: Value) -> Vec<String> {
        let scenario = read(link, flow).unwrap();
        scenario.warnings().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_buffer_in_products_needs_a_round_trip_time() {
        let refusal =
            "flows.0.rtt: is missing; the queue limit of link 'bottleneck', 1 bdp, depends on it";
        let default = read(json!({ "rate": "1 Mbit/s" }), json!({ "cca": "reno" }));
        assert!(default.unwrap_err().starts_with(refusal));
        let queue = json!({ "kind": "fifo", "limit": "2 bdp" });
        let given = read(json!({ "rate": "1 Mbit/s", "queue": queue }), json!({ "cca": "reno" }));
        assert!(given.unwrap_err().contains(", 2 bdp, depends on it"));
        let zero = json!({ "cca": "reno", "rtt": "0 ms" });
        assert!(read(json!({ "rate": "1 Mbit/s" }), zero).is_ok());
        let delayed = json!({ "rate": "1 Mbit/s", "delay": "1 ms" });
        assert!(read(delayed, json!({ "cca": "reno" })).is_ok());
    }

    #[test]
    fn elsewhere_zero_is_warned_of_unless_it_was_said() {
        let link = || json!({ "rate": "1 Mbit/s", "queue": "codel" });
        let silent = warnings(link(), json!({ "cca": "reno", "count": 2 }));
        assert_eq!(
            silent,
            [
                "flows.0.rtt: is not given, so it is 0 ms, which is rarely intended; give a time, or rtt = \"0 ms\""
            ]
        );
        assert!(warnings(link(), json!({ "cca": "reno", "rtt": "0 ms" })).is_empty());
        let delayed = json!({ "rate": "1 Mbit/s", "queue": "codel", "delay": "1 ms" });
        assert!(warnings(delayed, json!({ "cca": "reno" })).is_empty());
    }
}
