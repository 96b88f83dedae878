//! `sojourn._internal`, the extension module: `sojourn-python` with Sojourn's own members.
//!
//! A crate of its own, because only one that makes nothing but an extension module is optimised
//! when it is linked.

use pyo3::prelude::*;

/// `sojourn._internal`.
#[pymodule]
fn _internal(module: &Bound<'_, PyModule>) -> PyResult<()> {
    sojourn_python::fill(module)
}
