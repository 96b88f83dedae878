//! Errors of the core as Python exceptions.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sojourn_base::error::{Fault, FieldError};
use sojourn_base::units::Time;

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// `ScenarioError`, a `ValueError` with attributes `field` and `message`.
pub(crate) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let make = || {
        let name = c"sojourn._internal.ScenarioError";
        let doc = c"Bad input: names the field, what was given and what is allowed.";
        let base = py.get_type::<PyValueError>();
        let class = PyErr::new_type(py, name, Some(doc), Some(&base), None)?;
        // Instances made in Python may lack them.
        class.bind(py).setattr("field", "")?;
        class.bind(py).setattr("message", "")?;
        PyResult::Ok(class)
    };
    CLASS.get_or_try_init(py, make).map(|class| class.bind(py))
}

/// A refused scenario.
pub(crate) fn scenario_error(py: Python<'_>, error: &FieldError) -> PyErr {
    let make = || {
        let instance = class(py)?.call1((error.to_string(),))?;
        instance.setattr("field", &error.field)?;
        instance.setattr("message", &error.message)?;
        Ok(PyErr::from_value(instance))
    };
    make().unwrap_or_else(|failure: PyErr| failure)
}

/// The error of Python code that refused a value or failed.
pub(crate) fn field_error(py: Python<'_>, error: &PyErr) -> FieldError {
    let value = error.value(py);
    let text = |name: &str| value.getattr(name).and_then(|text| text.extract::<String>());
    match (class(py).is_ok_and(|class| value.is_instance(class).unwrap_or(false)), text("message"))
    {
        (true, Ok(message)) if !message.is_empty() => {
            FieldError::new(text("field").unwrap_or_default(), message)
        }
        _ => FieldError::new("", error.value(py).to_string()),
    }
}

/// A broken invariant of the simulator.
pub(crate) fn fault(py: Python<'_>, error: &Fault) -> PyErr {
    failure(py, error.to_string(), error.time)
}

/// A `RuntimeError` with the simulated seconds at which it happened as `failed_at`.
pub(crate) fn failure(py: Python<'_>, message: String, at: Time) -> PyErr {
    let error = PyRuntimeError::new_err(message);
    match error.value(py).setattr("failed_at", at.as_secs_f64()) {
        Ok(()) => error,
        Err(other) => other,
    }
}
