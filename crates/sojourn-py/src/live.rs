//! Running a scenario on this machine's kernel. The caller's thread waits, so that Python may
//! interrupt and hear of the progress.

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[cfg(not(target_os = "linux"))]
use crate::error::scenario_error;

/// Runs a scenario (JSON) live: as `run`, with `quality`, the verdict on the run, in JSON.
#[cfg(target_os = "linux")]
#[pyfunction]
#[pyo3(signature = (scenario, progress=None))]
pub fn run_live<'py>(
    py: Python<'py>,
    scenario: &str,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    linux::run(py, scenario, progress)
}

/// Live runs need Linux.
#[cfg(not(target_os = "linux"))]
#[pyfunction]
#[pyo3(signature = (_scenario, _progress=None))]
pub fn run_live<'py>(
    py: Python<'py>,
    _scenario: &str,
    _progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let message = "a live run needs Linux; the simulator runs here: --backend sim";
    Err(scenario_error(py, &sojourn_core::error::FieldError::new("backend", message)))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::time::Duration;

    use pyo3::exceptions::PyRuntimeError;
    use pyo3::prelude::*;
    use pyo3::types::PyDict;
    use sojourn_live::{Error, Live};

    use crate::error::{fault, scenario_error};
    use crate::parse;
    use crate::run::to_python;

    /// Between two looks at the progress.
    const PATIENCE: Duration = Duration::from_millis(100);

    pub fn run<'py>(
        py: Python<'py>,
        scenario: &str,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let scenario = parse(py, scenario)?;
        let plan = scenario.plan().to_json().to_string();
        let live = Live::start(&scenario).map_err(|error| to_exception(py, &error))?;
        while !live.is_finished() {
            py.detach(|| std::thread::sleep(PATIENCE));
            py.check_signals()?;
            if let Some(progress) = progress {
                progress.call1((live.share(),))?;
            }
        }
        let finished = py.detach(|| live.finish());
        let (outcome, quality) = finished.map_err(|error| to_exception(py, &error))?;
        let columns = to_python(py, outcome)?;
        columns.set_item("network", plan)?;
        let verdict = serde_json::to_string(&quality);
        let verdict = verdict.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        columns.set_item("quality", verdict)?;
        Ok(columns)
    }

    fn to_exception(py: Python<'_>, error: &Error) -> PyErr {
        match error {
            Error::Refused(error) => scenario_error(py, error),
            Error::Fault(error) => fault(py, error),
            Error::System(message) => PyRuntimeError::new_err(message.clone()),
        }
    }
}
