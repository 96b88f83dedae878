//! Transfer of rows to Python while a run goes on.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_net::record::live::{Batch, Sink};
use sojourn_net::record::{Table, TableSink, Values};

/// The first exception from passing rows; none are passed after it.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Raises the exception, if there was one.
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        let failure = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failure.as_ref().map_or(Ok(()), |error| Err(error.clone_ref(py)))
    }

    /// Passes rows, unless that has failed before. Whoever checks meanwhile may hold the interpreter
    /// that this waits for.
    pub(crate) fn pass(&self, rows: impl FnOnce(Python<'_>) -> PyResult<()>) {
        let failure = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failure().is_some() {
            return;
        }
        if let Err(error) = Python::attach(rows) {
            failure().get_or_insert(error);
        }
    }
}

/// A sink that calls `record` with the table's name, its columns as arrays, and a list of words,
/// which numbers in columns of words index; the first stands for none. The table `capture` has only
/// `bytes`, the next of a file; `qlog` also `flow`, the number of the flow whose file it is.
pub(crate) fn sink(record: Py<PyAny>, failure: &Failure) -> Sink {
    let failure = failure.clone();
    Box::new(move |batch: Batch, words: &[Arc<str>]| {
        failure.pass(|py| hand_over(py, &record, batch, words));
    })
}

/// A sink that calls `tables` with the table's name and its next rows, columns as arrays.
pub(crate) fn table_sink(tables: Py<PyAny>, failure: &Failure) -> TableSink {
    let failure = failure.clone();
    Box::new(move |name: &'static str, rows: Table| {
        failure.pass(|py| tables.call1(py, (name, arrays(py, rows)?)).map(drop));
    })
}

fn hand_over(py: Python<'_>, record: &Py<PyAny>, batch: Batch, words: &[Arc<str>]) -> PyResult<()> {
    let columns = PyDict::new(py);
    let table = match batch {
        Batch::State(rows) => {
            columns.set_item("time", PyArray1::from_vec(py, rows.time))?;
            columns.set_item("component", PyArray1::from_vec(py, rows.component))?;
            columns.set_item("name", PyArray1::from_vec(py, rows.name))?;
            columns.set_item("value", PyArray1::from_vec(py, rows.value))?;
            columns.set_item("text", PyArray1::from_vec(py, rows.text))?;
            "state"
        }
        Batch::Packets(rows) => {
            columns.set_item("time", PyArray1::from_vec(py, rows.time))?;
            columns.set_item("link", PyArray1::from_vec(py, rows.link))?;
            columns.set_item("flow", PyArray1::from_vec(py, rows.flow))?;
            columns.set_item("index", PyArray1::from_vec(py, rows.index))?;
            columns.set_item("size", PyArray1::from_vec(py, rows.size))?;
            columns.set_item("event", PyArray1::from_vec(py, rows.event))?;
            columns.set_item("reason", PyArray1::from_vec(py, rows.reason))?;
            columns.set_item("sojourn", PyArray1::from_vec(py, rows.sojourn))?;
            "packets"
        }
        Batch::Capture(bytes) => {
            columns.set_item("bytes", PyArray1::from_vec(py, bytes))?;
            "capture"
        }
        Batch::Events { flow, bytes } => {
            columns.set_item("flow", flow)?;
            columns.set_item("bytes", PyArray1::from_vec(py, bytes))?;
            "qlog"
        }
    };
    let words: Vec<_> = (0..).zip(words).map(|(i, word)| (i > 0).then_some(&**word)).collect();
    record.call1(py, (table, columns, words)).map(drop)
}

/// One array per column; the values are moved, not copied.
pub(crate) fn arrays(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for column in table.columns {
        match column.values {
            Values::Integers(values) => {
                columns.set_item(column.name, PyArray1::from_vec(py, values))?;
            }
            Values::Reals(values) => {
                columns.set_item(column.name, PyArray1::from_vec(py, values))?;
            }
        }
    }
    Ok(columns)
}
