//! `sojourn._internal`, the extension module: `sojourn-python` with Sojourn's own members.
//!
//! It is a separate crate, because link-time optimisation needs one that builds nothing but an
//! extension module.

use pyo3::prelude::*;

/// `sojourn._internal`.
#[pymodule]
fn _internal(module: &Bound<'_, PyModule>) -> PyResult<()> {
    sojourn_python::fill(module)
}
