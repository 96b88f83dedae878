//! Runs of a scenario in slices, between which Python can interrupt and receives the progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_base::units::{Span, Time};
use sojourn_net::record::{Outcome, Recorder, Table, Values};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;
use sojourn_sim::spec::Controls;

use crate::error::{failure, fault, scenario_error};
use crate::parse;
use crate::record::{self, Failure, arrays};

/// Target of the wall time of a slice, in seconds.
const SLICE: f64 = 0.1;

/// Runs a scenario (JSON). Returns its columns by table and name, `totals` as numbers, and
/// `network`, the network as built, in JSON. `progress`, if given, is called several times per
/// second of work with the simulated share of the run; `record`, if given, with batches of what the
/// scenario asks to be recorded (see `record.rs`). Up to `threads` threads are used where the
/// network partitions into enough regions with enough work. `tables`, if given, is called with the
/// name and columns of every 65,536 rows of samples, or a few more; what is returned has the rest.
#[pyfunction]
#[pyo3(signature = (scenario, progress=None, record=None, threads=1, tables=None))]
pub(crate) fn run<'py>(
    py: Python<'py>,
    scenario: &str,
    progress: Option<&Bound<'py, PyAny>>,
    record: Option<Py<PyAny>>,
    threads: usize,
    tables: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = parse(py, scenario)?;
    let failure = Failure::default();
    let record = record.map(|record| record::sink(record, &failure));
    let tables = tables.map(|tables| record::table_sink(tables, &failure));
    let simulation = match (record, tables) {
        (None, None) => Simulation::new(&scenario),
        (Some(record), None) => Simulation::recording(&scenario, record),
        (record, Some(tables)) => Simulation::streaming(&scenario, record, tables),
    };
    let mut simulation = simulation.map_err(|error| scenario_error(py, &error))?;
    let mut network = scenario.network();
    network["nodes"] = simulation.nodes().into();
    let end = simulation.end();
    // Acquiring the GIL for every callback would cost more than the callback.
    let attached = calls_python(&scenario);
    simulation.use_threads(if attached { 1 } else { threads });
    let mut slice = Span::from_millis(1);
    while simulation.now() < end {
        let until = simulation.now() + slice;
        let wall = advance(py, &mut simulation, until, attached)?;
        slice = slice.mul_f64((SLICE / wall).clamp(0.5, 2.0)) + Span::from_nanos(1);
        py.check_signals()?;
        failure.check(py)?;
        if let Some(progress) = progress {
            progress.call1((simulation.now().as_secs_f64() / end.as_secs_f64(),))?;
        }
    }
    let columns =
        to_python(py, py.detach(|| simulation.outcome()).map_err(|error| fault(py, &error))?)?;
    failure.check(py)?;
    columns.set_item("network", network.to_string())?;
    Ok(columns)
}

/// The names of the columns of `flow_samples`, and of `link_samples`.
#[pyfunction]
pub(crate) fn sample_columns() -> (Vec<&'static str>, Vec<&'static str>) {
    let [flows, links, _] = Recorder::new([0; 3], &[], 0).into_tables();
    let names = |table: Table| table.columns.into_iter().map(|column| column.name).collect();
    (names(flows), names(links))
}

/// Whether a control of the scenario is written in Python.
fn calls_python(scenario: &Scenario) -> bool {
    let paths = scenario.paths();
    let given = paths.iter().filter_map(|flow| flow.spec.cca.as_ref());
    let mut controls = given.flat_map(Controls::iter);
    controls.any(|cca| cca.kind == "python")
}

/// Advances and returns the seconds that took; a panic of the core becomes an exception.
#[allow(clippy::disallowed_methods)] // only the length of slices depends on the clock
fn advance(
    py: Python<'_>,
    simulation: &mut Simulation,
    until: Time,
    attached: bool,
) -> PyResult<f64> {
    let began = Instant::now();
    let mut advance = || catch_unwind(AssertUnwindSafe(|| simulation.advance(until)));
    let caught = if attached { advance() } else { py.detach(advance) };
    match caught {
        Ok(Ok(())) => Ok(began.elapsed().as_secs_f64()),
        Ok(Err(error)) => Err(fault(py, &error)),
        Err(_) => {
            let now = simulation.now();
            Err(failure(py, format!("the simulator failed at {now:?}"), now))
        }
    }
}

/// The columns of an outcome by table and name, `totals` as numbers.
pub(crate) fn to_python(py: Python<'_>, outcome: Outcome) -> PyResult<Bound<'_, PyDict>> {
    let tables = PyDict::new(py);
    for (name, table) in outcome.into_tables() {
        let columns = if name == "totals" { numbers(py, table) } else { arrays(py, table) };
        tables.set_item(name, columns?)?;
    }
    Ok(tables)
}

/// One number per column of a table of one row.
fn numbers(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for column in table.columns {
        match column.values {
            Values::Integers(values) => columns.set_item(column.name, values.first())?,
            Values::Reals(values) => columns.set_item(column.name, values.first())?,
        }
    }
    Ok(columns)
}
