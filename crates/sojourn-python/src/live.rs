//! Runs of a scenario on this machine's kernel. The caller's thread waits, so that Python can
//! interrupt and receive the progress.

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[cfg(not(target_os = "linux"))]
use crate::error::scenario_error;

/// Runs a scenario (JSON) live. Returns the same as `run`, and `quality`, the verdict on the run,
/// in JSON; `record`, if given, is called as there.
#[cfg(target_os = "linux")]
#[pyfunction]
#[pyo3(signature = (scenario, progress=None, record=None))]
pub(crate) fn run_live<'py>(
    py: Python<'py>,
    scenario: &str,
    progress: Option<&Bound<'py, PyAny>>,
    record: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    linux::run(py, scenario, progress, record)
}

/// Runs a command whose traffic passes the network of a scenario (JSON). Returns the same as
/// `run_live`, and the command's exit `status`, the names of its flows as `labels`, and
/// `loopback_bytes`, the bytes that bypassed the network. With `download`, the traffic to the
/// command takes the forward direction of the network.
#[cfg(target_os = "linux")]
#[pyfunction]
pub(crate) fn run_command<'py>(
    py: Python<'py>,
    scenario: &str,
    command: Vec<String>,
    download: bool,
) -> PyResult<Bound<'py, PyDict>> {
    linux::run_command(py, scenario, command, download)
}

/// Live runs need Linux.
#[cfg(not(target_os = "linux"))]
#[pyfunction]
#[pyo3(signature = (scenario, progress=None, record=None))]
pub fn run_live<'py>(
    py: Python<'py>,
    scenario: &str,
    progress: Option<&Bound<'py, PyAny>>,
    record: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let _ = (scenario, progress, record);
    elsewhere(py)
}

/// Live runs need Linux.
#[cfg(not(target_os = "linux"))]
#[pyfunction]
pub fn run_command<'py>(
    py: Python<'py>,
    scenario: &str,
    command: Vec<String>,
    download: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let _ = (scenario, command, download);
    elsewhere(py)
}

#[cfg(not(target_os = "linux"))]
fn elsewhere<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let message = "a live run needs Linux; the simulator runs here: --backend sim";
    Err(scenario_error(py, &sojourn_base::error::FieldError::new("backend", message)))
}

#[cfg(target_os = "linux")]
pub(crate) mod linux {
    use std::time::Duration;

    use pyo3::exceptions::PyRuntimeError;
    use pyo3::prelude::*;
    use pyo3::types::PyDict;
    use sojourn_live::{Bottleneck, Error, Live, Quality};
    use sojourn_net::record::Outcome;

    use crate::error::{fault, scenario_error};
    use crate::parse;
    use crate::record::{Failure, sink};
    use crate::run::to_python;

    /// Interval between checks of the progress.
    const PATIENCE: Duration = Duration::from_millis(100);

    pub(crate) fn run<'py>(
        py: Python<'py>,
        scenario: &str,
        progress: Option<&Bound<'py, PyAny>>,
        record: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let scenario = parse(py, scenario)?;
        let plan = scenario.network().to_string();
        let failure = Failure::default();
        let sink = record.map(|record| sink(record, &failure));
        let live = Live::start(&scenario, sink).map_err(|error| to_exception(py, &error))?;
        let (outcome, quality) = wait(py, live, progress, &failure)?;
        to_columns(py, outcome, &plan, &quality)
    }

    pub(crate) fn run_command<'py>(
        py: Python<'py>,
        scenario: &str,
        command: Vec<String>,
        download: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let scenario = parse(py, scenario)?;
        let bottleneck = if download { Bottleneck::Download } else { Bottleneck::Upload };
        let running = Live::command(&scenario, command, bottleneck);
        let done = wait(py, running, None, &Failure::default())?;
        let (labels, paths): (Vec<_>, Vec<_>) =
            done.flows.into_iter().map(|flow| (flow.label, flow.path)).unzip();
        let mut network = scenario.network();
        network["paths"] = paths.into();
        let columns = to_columns(py, done.outcome, &network.to_string(), &done.quality)?;
        columns.set_item("status", done.status)?;
        columns.set_item("labels", labels)?;
        columns.set_item("loopback_bytes", done.loopback_bytes)?;
        Ok(columns)
    }

    /// Waits for a run; meanwhile Python can interrupt, and receives the progress. A record that
    /// cannot be passed on ends the run.
    pub(crate) fn wait<T: Send + 'static>(
        py: Python<'_>,
        live: Live<T>,
        progress: Option<&Bound<'_, PyAny>>,
        failure: &Failure,
    ) -> PyResult<T> {
        if let Err(error) = accompany(py, &live, progress, failure) {
            // Its thread may be about to pass something on to Python.
            py.detach(|| drop(live));
            return Err(error);
        }
        let finished = py.detach(|| live.finish()).map_err(|error| to_exception(py, &error))?;
        failure.check(py)?;
        Ok(finished)
    }

    fn accompany<T: Send + 'static>(
        py: Python<'_>,
        live: &Live<T>,
        progress: Option<&Bound<'_, PyAny>>,
        failure: &Failure,
    ) -> PyResult<()> {
        while !live.is_finished() {
            py.detach(|| std::thread::sleep(PATIENCE));
            py.check_signals()?;
            failure.check(py)?;
            if let Some(progress) = progress {
                progress.call1((live.share(),))?;
            }
        }
        Ok(())
    }

    /// The tables of a run, with its network's `plan` and its quality.
    pub(crate) fn to_columns<'py>(
        py: Python<'py>,
        outcome: Outcome,
        plan: &str,
        quality: &Quality,
    ) -> PyResult<Bound<'py, PyDict>> {
        let columns = to_python(py, outcome)?;
        columns.set_item("network", plan)?;
        let verdict = serde_json::to_string(quality);
        let verdict = verdict.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        columns.set_item("quality", verdict)?;
        Ok(columns)
    }

    /// The Python exception for a run without a result.
    pub(crate) fn to_exception(py: Python<'_>, error: &Error) -> PyErr {
        match error {
            Error::Refused(error) => scenario_error(py, error),
            Error::Fault(error) => fault(py, error),
            Error::System(message) => PyRuntimeError::new_err(message.clone()),
        }
    }
}
