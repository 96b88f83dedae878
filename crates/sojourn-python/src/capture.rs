//! Captures of packets as the columns of a run.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use sojourn_base::error::FieldError;
use sojourn_base::units::Span;
use sojourn_capture::{Flow, Imported, Survey};
use sojourn_net::record::TableSink;

use crate::error::scenario_error;
use crate::record::{Failure, table_sink};
use crate::run::to_python;

/// Reads the capture in a file (pcap or pcapng), sampled at intervals of so many seconds. Returns the
/// columns of its flows as `run` does, and `capture`, what is known of them and what was left out, in
/// JSON. `tables` is called with `passages` and the columns of its next rows, the packets. The error for
/// what is no capture has the file's name as its field.
#[pyfunction]
pub(crate) fn import_capture(
    py: Python<'_>,
    path: PathBuf,
    interval: f64,
    tables: Py<PyAny>,
) -> PyResult<Bound<'_, PyDict>> {
    let failure = Failure::default();
    let tables = table_sink(tables, &failure);
    let imported = py.detach(|| import(&path, Span::from_secs_f64(interval), tables));
    failure.check(py)?;
    let imported = imported.map_err(|error| scenario_error(py, &error))?;
    let told = told(&imported).to_string();
    let columns = to_python(py, imported.outcome)?;
    columns.set_item("capture", told)?;
    Ok(columns)
}

fn import(path: &Path, interval: Span, tables: TableSink) -> Result<Imported, FieldError> {
    let refused = |message: String| FieldError::new(path.display().to_string(), message);
    let unread = |error: io::Error| refused(format!("cannot be read: {error}"));
    let survey = Survey::of(File::open(path).map_err(unread)?);
    let survey = survey.map_err(|error| refused(error.to_string()))?;
    let imported = survey.measure(File::open(path).map_err(unread)?, interval, Some(tables));
    imported.map_err(|error| refused(error.to_string()))
}

fn told(imported: &Imported) -> Value {
    let told = &imported.told;
    let left = told.left.iter().map(|(why, count)| (why.words().to_owned(), Value::from(*count)));
    json!({
        "duration": imported.duration.as_secs_f64(),
        "ours": imported.ours,
        "flows": imported.flows.iter().map(flow).collect::<Value>(),
        "frames": told.frames,
        "counted": told.counted,
        "left": left.collect::<serde_json::Map<String, Value>>(),
        "damage": told.damage.map(|damage| json!({ "at": damage.at, "what": damage.what })),
    })
}

fn flow(flow: &Flow) -> Value {
    json!({
        "label": flow.label,
        "transport": if flow.tcp { "tcp" } else { "udp" },
        "at_sender": flow.at_sender,
        "rtt": flow.rtt.map(Span::as_secs_f64),
    })
}
