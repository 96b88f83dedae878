//! The core alone: the contents of `wings` without the feature of that name.

use pyo3::prelude::*;
use sojourn_base::registry::Catalogue;

/// Nothing but the core.
pub(crate) const SIMULATING: &[(&str, &str)] = &[];

/// Those of the core are all.
pub(crate) const HEADERS: &[(&str, u32)] = &[];

/// The members of the core.
pub(crate) fn members() -> Catalogue {
    sojourn_sim::catalogue::core()
}

/// Adds no functions.
///
/// # Errors
/// None.
pub(crate) fn fill(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
