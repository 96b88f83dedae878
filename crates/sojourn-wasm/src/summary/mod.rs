//! The dozen metrics that a page shows, with the names, units and undefined values of the package's: it has
//! the same in `python/sojourn/metrics/`, and `tests/summaries.json` has what both come to.

mod flow;
mod link;
mod samples;

use serde_json::{Map, Value, json};
use sojourn_net::record::Outcome;
use sojourn_sim::Scenario;

use flow::Flows;
use link::Links;

/// Metrics by name, each with a value per flow or link.
type Metrics = Map<String, Value>;

/// The metrics of a run by scope (`flow`, `link`, `net`) and name: a value for each flow or link, one for
/// the network; `null` where it is undefined.
pub fn summary(scenario: &Scenario, outcome: &Outcome) -> Value {
    let flows = Flows::new(scenario, outcome);
    json!({
        "flow": flows.metrics(),
        "link": Links::new(scenario, outcome).metrics(),
        "net": flows.together(),
    })
}

/// A quotient, NaN where the denominator is zero.
fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator == 0.0 { f64::NAN } else { numerator / denominator }
}

/// Values by the name of their metric, `null` for NaN.
fn named<const N: usize>(metrics: [(&str, Vec<f64>); N]) -> Metrics {
    metrics.into_iter().map(|(name, values)| (name.to_owned(), values.into())).collect()
}

#[cfg(test)]
mod tests;
