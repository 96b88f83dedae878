//! Runs of a scenario's programs on a kernel in virtual time.

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[cfg(not(target_os = "linux"))]
use crate::error::scenario_error;

/// Runs a scenario (JSON) with programs on the kernel `kernel`, whose first process is `init`, as
/// `run_kernel` does. `place` (JSON) tells where the programs run: `cwd`, `hidden`, `env`, `files`,
/// `keep`. A turn of the kernel may take `watchdog` seconds. `heard`, if given, is called with what
/// programs write as they do: program, stream, time, bytes.
///
/// Returns the same as `run_kernel`, and `labels`, for each flow the declared one whose way it took,
/// and its name if it is a program's connection; `connections`, pairs of the numbers that packets have
/// and of the flows; `hash`; `started`, `output` and `ended` of programs; `cut`, those whose output is
/// not all in there; `unrouted`, packets between hosts that no flow joins; `lacks` and `killed`, what the
/// kernel had not, and whom it ended for want of memory; `left_out`, bytes of files that were not kept;
/// `uncopied`, the first file that could not be copied and why, or `None`.
#[cfg(target_os = "linux")]
#[pyfunction]
#[pyo3(signature = (scenario, kernel, init, place, watchdog, progress=None, record=None, heard=None))]
#[allow(clippy::too_many_arguments)] // Python names them
pub(crate) fn run_programs<'py>(
    py: Python<'py>,
    scenario: &str,
    kernel: &str,
    init: Vec<String>,
    place: &str,
    watchdog: f64,
    progress: Option<&Bound<'py, PyAny>>,
    record: Option<Py<PyAny>>,
    heard: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    use std::time::Duration;

    use crate::live::linux::{to_exception, wait};
    use crate::record::{Failure, sink};
    use pyo3::exceptions::PyValueError;
    use sojourn_live::Live;
    use sojourn_live::uml::{Image, Run};

    let watchdog = Duration::try_from_secs_f64(watchdog);
    let watchdog = watchdog.map_err(|error| PyValueError::new_err(format!("watchdog: {error}")))?;
    let parsed = crate::parse(py, scenario)?;
    let failure = Failure::default();
    let run = Run {
        scenario: scenario.to_owned(),
        place: place.to_owned(),
        image: Image { kernel: kernel.into(), init },
        watchdog,
        sink: record.map(|record| sink(record, &failure)),
        heard: heard.map(|heard| linux::passed_on(heard, &failure)),
    };
    let live = Live::programs(&parsed, run).map_err(|error| to_exception(py, &error))?;
    linux::to_columns(py, wait(py, live, progress, &failure)?, parsed.network())
}

#[cfg(target_os = "linux")]
mod linux {
    use pyo3::prelude::*;
    use pyo3::types::{PyBytes, PyDict};
    use serde_json::Value;
    use sojourn_base::units::Time;
    use sojourn_live::uml::{Heard, Programmed};

    use crate::record::Failure;

    /// Passes on to Python what programs write.
    pub(super) fn passed_on(heard: Py<PyAny>, failure: &Failure) -> Heard {
        let failure = failure.clone();
        Box::new(move |program: u32, stream: u8, time: Time, bytes: &[u8]| {
            failure.pass(|py| {
                let written = (program, stream, time.as_secs_f64(), PyBytes::new(py, bytes));
                heard.call1(py, written).map(drop)
            });
        })
    }

    pub(super) fn to_columns(
        py: Python<'_>,
        done: Programmed,
        mut network: Value,
    ) -> PyResult<Bound<'_, PyDict>> {
        let (mut labels, mut paths) = (Vec::new(), Vec::new());
        for row in done.rows {
            labels.push((row.like, row.label));
            paths.push(row.path);
        }
        network["paths"] = paths.into();
        let output = done.output.iter().map(|written| {
            let bytes = PyBytes::new(py, &written.bytes);
            (written.program, written.stream, written.time.as_secs_f64(), bytes)
        });
        let started = done.started.iter().map(|start| (start.program, start.time.as_secs_f64()));
        let ended = done.ended.iter().map(|end| (end.program, end.status, end.time.as_secs_f64()));
        let unrouted = PyDict::new(py);
        for (pair, packets) in done.unrouted {
            unrouted.set_item(pair, packets)?;
        }
        let columns = crate::run::to_python(py, done.outcome)?;
        columns.set_item("network", network.to_string())?;
        columns.set_item("labels", labels)?;
        columns.set_item("connections", done.connections)?;
        columns.set_item("hash", done.hash)?;
        columns.set_item("started", started.collect::<Vec<_>>())?;
        columns.set_item("output", output.collect::<Vec<_>>())?;
        columns.set_item("cut", done.cut)?;
        columns.set_item("ended", ended.collect::<Vec<_>>())?;
        columns.set_item("unrouted", unrouted)?;
        columns.set_item("lacks", done.lacks)?;
        columns.set_item("killed", done.killed)?;
        columns.set_item("left_out", done.left_out)?;
        columns.set_item("uncopied", done.uncopied)?;
        Ok(columns)
    }
}

/// A kernel in virtual time needs Linux.
#[cfg(not(target_os = "linux"))]
#[pyfunction]
#[pyo3(signature = (scenario, kernel, init, place, watchdog, progress=None, record=None, heard=None))]
#[allow(clippy::too_many_arguments)] // Python names them
pub fn run_programs<'py>(
    py: Python<'py>,
    scenario: &str,
    kernel: &str,
    init: Vec<String>,
    place: &str,
    watchdog: f64,
    progress: Option<&Bound<'py, PyAny>>,
    record: Option<Py<PyAny>>,
    heard: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let _ = (scenario, kernel, init, place, watchdog, progress, record, heard);
    let message = "given; only a kernel in virtual time runs them, which needs Linux";
    Err(scenario_error(py, &sojourn_base::error::FieldError::new("programs", message)))
}
