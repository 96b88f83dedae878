//! Runs of a scenario on a kernel in virtual time.

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[cfg(not(target_os = "linux"))]
use crate::error::scenario_error;

/// Runs a scenario (JSON) on the kernel `kernel` (a program), whose first process is `init`, a
/// program and its arguments, which must call `kernel_agent`. Returns the same as `run`; `record`, if
/// given, is called as there.
#[cfg(target_os = "linux")]
#[pyfunction]
#[pyo3(signature = (scenario, kernel, init, progress=None, record=None))]
pub(crate) fn run_kernel<'py>(
    py: Python<'py>,
    scenario: &str,
    kernel: &str,
    init: Vec<String>,
    progress: Option<&Bound<'py, PyAny>>,
    record: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    use crate::live::linux::{to_exception, wait};
    use crate::record::{Failure, sink};
    use sojourn_live::Live;
    use sojourn_live::uml::Image;

    let image = Image { kernel: kernel.into(), init };
    let parsed = crate::parse(py, scenario)?;
    let plan = parsed.network().to_string();
    let failure = Failure::default();
    let sink = record.map(|record| sink(record, &failure));
    let run = Live::on_kernel(&parsed, scenario.to_owned(), image, sink);
    let run = run.map_err(|error| to_exception(py, &error))?;
    let columns = crate::run::to_python(py, wait(py, run, progress, &failure)?)?;
    columns.set_item("network", plan)?;
    Ok(columns)
}

/// Runs as the first process inside a kernel in virtual time; returns only after a failure.
#[cfg(target_os = "linux")]
#[pyfunction]
pub(crate) fn kernel_agent(py: Python<'_>) {
    py.detach(|| sojourn_live::uml::agent::run(&crate::CATALOGUE));
}

/// A kernel in virtual time needs Linux.
#[cfg(not(target_os = "linux"))]
#[pyfunction]
#[pyo3(signature = (scenario, kernel, init, progress=None, record=None))]
pub fn run_kernel<'py>(
    py: Python<'py>,
    scenario: &str,
    kernel: &str,
    init: Vec<String>,
    progress: Option<&Bound<'py, PyAny>>,
    record: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let _ = (scenario, kernel, init, progress, record);
    let message = "a kernel in virtual time needs Linux; the simulator runs here: --backend sim";
    Err(scenario_error(py, &sojourn_base::error::FieldError::new("backend", message)))
}

/// A kernel in virtual time needs Linux: nothing is done.
#[cfg(not(target_os = "linux"))]
#[pyfunction]
pub fn kernel_agent() {}
