//! Models of multicast in slots of time.

use pyo3::prelude::*;
use sojourn_core::gnat::slotted::{Model, run};

use crate::error::scenario_error;

/// Simulates a model (JSON); what comes out, in JSON. The GIL is released meanwhile.
#[pyfunction]
pub fn run_slotted(py: Python<'_>, model: &str) -> PyResult<String> {
    let model = Model::from_json(model).map_err(|error| scenario_error(py, &error))?;
    let outcome = py.detach(|| run(&model)).map_err(|error| scenario_error(py, &error))?;
    Ok(serde_json::to_string(&outcome).unwrap_or_default())
}
