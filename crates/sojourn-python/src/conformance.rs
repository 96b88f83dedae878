//! The conformance suite, one check of a member at a time.

use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use sojourn_base::error::FieldError;
use sojourn_sim::conformance::{Check, SUITES, Subject, exceptions};

use crate::CATALOGUE;
use crate::error::{fault, scenario_error};

/// In JSON: by kind the checks (`name`, `legend`, `least`, `most`; null: unbounded), and
/// `exceptions` (`check`, `name`, `reason`).
#[pyfunction]
pub(crate) fn conformance_suites() -> String {
    let bound = |value: f64| value.is_finite().then_some(value);
    let check = |check: &Check| {
        let (least, most) = check.required;
        json!({ "name": check.name, "legend": check.legend, "least": bound(least), "most": bound(most) })
    };
    let of_kind = |(kind, checks): &(&str, &[Check])| {
        ((*kind).to_owned(), checks.iter().map(check).collect::<Value>())
    };
    let mut suites: Map<String, Value> = SUITES.iter().map(of_kind).collect();
    let known = exceptions::EXCEPTIONS.iter().flat_map(|exception| {
        let pairs = exception
            .checks
            .iter()
            .flat_map(|check| exception.controls.iter().map(move |name| (check, name)));
        pairs.map(
            |(check, name)| json!({ "check": check, "name": name, "reason": exception.reason }),
        )
    });
    suites.insert("exceptions".to_owned(), known.collect());
    Value::Object(suites).to_string()
}

/// Measures one check of a kind's suite for a member, a table in JSON.
#[pyfunction]
pub(crate) fn conform(py: Python<'_>, kind: &str, table: &str, check: &str) -> PyResult<f64> {
    let suite =
        SUITES.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, checks)| checks);
    let found = suite.iter().find(|known| known.name == check).ok_or_else(|| {
        let names: Vec<_> = suite.iter().map(|known| known.name).collect();
        scenario_error(py, &FieldError::unknown_name("check", "check", check, &names))
    })?;
    let mut params: Map<String, Value> = serde_json::from_str(table).unwrap_or_default();
    let name = params.remove("kind").and_then(|name| name.as_str().map(str::to_owned));
    let subject =
        Subject { catalogue: Arc::clone(&CATALOGUE), name: name.unwrap_or_default(), params };
    // Acquiring the GIL for every callback would cost more than the callback.
    let measured = match subject.name == "python" {
        true => (found.measure)(&subject),
        false => py.detach(|| (found.measure)(&subject)),
    };
    measured.map_err(|ended| fault(py, &ended))
}
