//! Replays: two controls, or two disciplines, on the same series of calls.

use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use sojourn_abi::replay::{control_entry, queue_entry, take_report};
use sojourn_base::registry::Catalogue;
use sojourn_sim::sim::Simulation;

use crate::error::{fault, scenario_error};

/// A comparison's number, the time in seconds, and what each did.
type First = (u64, f64, String);

static CATALOGUE: LazyLock<Arc<Catalogue>> = LazyLock::new(|| {
    Arc::new(crate::members().with(vec![control_entry()]).with(vec![queue_entry()]))
});

/// Runs a scenario (JSON) with components of kind `replay`. Returns the number of comparisons, the
/// number of differences, and of the first difference the number of the comparison, the time in
/// seconds and what each did.
#[pyfunction]
pub(crate) fn replay(py: Python<'_>, scenario: &str) -> PyResult<(u64, u64, Option<First>)> {
    let refused = |error| scenario_error(py, &error);
    let scenario = crate::parse_with(py, scenario, &CATALOGUE)?;
    take_report();
    Simulation::new(&scenario).map_err(refused)?.run().map_err(|error| fault(py, &error))?;
    let report = take_report();
    let first = report.first.map(|(step, at, told)| (step, at.as_secs_f64(), told));
    Ok((report.steps, report.differences, first))
}
