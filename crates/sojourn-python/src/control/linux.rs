//! A congestion control that is the source of a Linux kernel module, unchanged.
//!
//! Model: the source itself; `source` is its file, `version` the version of the kernel's interface
//! (6.1 or 6.12), `hz` its ticks per second, and `observe` names fields of its private state that are
//! recorded. Further keys are the module's parameters.

use pyo3::prelude::*;
use serde_json::{Map, Value};
use sojourn_base::error::FieldError;

use crate::error::field_error;

/// The table of the shared library that the source has been compiled into, with its parameters.
pub(super) fn loadable(
    shim: &str,
    params: &Map<String, Value>,
) -> Result<Map<String, Value>, FieldError> {
    Python::attach(|py| {
        let text = Value::from_iter(params.clone()).to_string();
        let hook = py.import("sojourn.external.hooks")?.getattr("linux_library")?;
        hook.call1((text, shim))?.extract::<String>()
    })
    .map_err(|error| Python::attach(|py| field_error(py, &error)))
    .and_then(|text| {
        serde_json::from_str(&text).map_err(|error| FieldError::new("", error.to_string()))
    })
}
