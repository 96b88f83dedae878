//! Python bindings of the core: scenarios are passed as text, results are returned as columns, and
//! the GIL is released in between; also the command line of programs that add their own members
//! ([`command_line`]). Columns have the units of `docs/reference/results.md`; nothing is simulated here.

mod capture;
mod conformance;
mod control;
mod error;
mod kernel;
mod live;
mod overlay;
mod program;
mod programs;
mod record;
mod replay;
mod run;
#[cfg(feature = "wings")]
mod wings;
#[cfg(not(feature = "wings"))]
#[path = "no_wings.rs"]
mod wings;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use serde_json::Value;
use sojourn_base::packet::headers;
use sojourn_base::registry::Catalogue;
use sojourn_net::queue;
use sojourn_sim::catalogue::to_json;
use sojourn_sim::scenario::{Scenario, json_schema};
use sojourn_sim::spec;
use sojourn_tcp::cc;
use sojourn_tcp::tcp::sack_option_size;

use error::scenario_error;
pub use program::{Add, command_line};

/// The catalogue that scenarios are read with: Sojourn's own members, and the kinds of external
/// code.
static CATALOGUE: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(members()));

fn members() -> Catalogue {
    let outside = vec![
        control::entry(),
        control::library_entry(),
        control::bpf::entry(),
        control::linux_entry(),
    ];
    let of_kernels = (cc::linux_only::entries(), vec![queue::kernel::entry()]);
    let queues = vec![control::linux_queue_entry()];
    let members = program::members().with(outside).with(queues);
    members.with(of_kernels.0).with(of_kernels.1).with(cc::observed::entries())
}

/// Fills the module `sojourn._internal`.
///
/// # Errors
/// Python is out of memory.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ScenarioError", error::class(py)?)?;
    module.add_class::<control::values::Init>()?;
    module.add_class::<control::values::Ack>()?;
    module.add_class::<control::values::RateSample>()?;
    module.add_class::<control::values::Event>()?;
    module.add_class::<control::values::Sent>()?;
    module.add_class::<control::values::Lost>()?;
    module.add_class::<control::values::Decision>()?;
    module.add("PROGRAM", program::path())?;
    module.add("CALLBACKS", sojourn_abi::note::NAMES)?;
    module.add_function(wrap_pyfunction!(describe_library, module)?)?;
    module.add_function(wrap_pyfunction!(keep_note_in, module)?)?;
    module.add_function(wrap_pyfunction!(end_with, module)?)?;
    module.add_function(wrap_pyfunction!(toml_to_json, module)?)?;
    module.add_function(wrap_pyfunction!(validate, module)?)?;
    module.add_function(wrap_pyfunction!(base_rtts, module)?)?;
    module.add_function(wrap_pyfunction!(quantity, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(engine_build, module)?)?;
    module.add_function(wrap_pyfunction!(engine_parts, module)?)?;
    module.add_function(wrap_pyfunction!(header_sizes, module)?)?;
    module.add_function(wrap_pyfunction!(capture::import_capture, module)?)?;
    module.add_function(wrap_pyfunction!(conformance::conformance_suites, module)?)?;
    module.add_function(wrap_pyfunction!(conformance::conform, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::kernel_agent, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::run_kernel, module)?)?;
    module.add_function(wrap_pyfunction!(live::run_command, module)?)?;
    module.add_function(wrap_pyfunction!(live::run_live, module)?)?;
    module.add_function(wrap_pyfunction!(overlay::run_overlay, module)?)?;
    module.add_function(wrap_pyfunction!(programs::run_programs, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::sample_columns, module)?)?;
    wings::fill(module)
}

/// The JSON equivalent of a scenario file.
#[pyfunction]
fn toml_to_json(py: Python<'_>, text: &str) -> PyResult<String> {
    spec::toml_to_json(text).map(|value| value.to_string()).map_err(|e| scenario_error(py, &e))
}

/// The canonical form of a scenario, both in JSON, and warnings about omissions that are seldom
/// intended.
#[pyfunction]
fn validate(py: Python<'_>, scenario: &str) -> PyResult<(String, Vec<String>)> {
    let scenario = parse(py, scenario)?;
    let warnings = scenario.warnings().iter().map(ToString::to_string).collect();
    Ok((scenario.to_json().to_string(), warnings))
}

/// Parses a quantity with a unit: its number in the base unit, and that unit.
#[pyfunction]
fn quantity(text: &str) -> Option<(f64, &'static str)> {
    sojourn_base::quantity::read(text)
}

/// The round-trip propagation delay of every flow of a scenario (JSON), in seconds.
#[pyfunction]
fn base_rtts(py: Python<'_>, scenario: &str) -> PyResult<Vec<f64>> {
    let scenario = parse(py, scenario)?;
    let plan = scenario.plan();
    Ok((0..scenario.flow_count()).map(|flow| plan.base_rtt(flow).as_secs_f64()).collect())
}

/// The JSON schema of scenario files.
#[pyfunction]
fn schema() -> String {
    json_schema(&CATALOGUE).to_string()
}

/// Every member of every open kind, in JSON; with `outside`, the kinds of external code as well.
#[pyfunction]
#[pyo3(signature = (outside = false))]
fn catalogue(outside: bool) -> String {
    match outside {
        true => to_json(&CATALOGUE).to_string(),
        false => to_json(&program::members()).to_string(),
    }
}

/// The build as a hash: of Sojourn's parts, or of a program with its own members.
#[pyfunction]
fn engine_build() -> &'static str {
    program::build()
}

/// Bytes of headers: of the core's (TCP's with timestamps, and three blocks of SACK beside), and of the
/// wings'.
#[pyfunction]
fn header_sizes() -> BTreeMap<&'static str, u32> {
    let of_core = [
        ("ip", headers::IP),
        ("udp", headers::UDP),
        ("tcp", headers::TCP),
        ("tcp_sack", sack_option_size(3)),
        ("ethernet", headers::ETHERNET),
    ];
    of_core.into_iter().chain(wings::HEADERS.iter().copied()).collect()
}

/// The parts of the build: crates with the hashes of their sources, and `Cargo.lock` with the
/// versions of the third-party crates that these draw and compute with.
#[pyfunction]
fn engine_parts() -> Vec<(&'static str, &'static str)> {
    program::parts()
}

/// The table of a control in a shared library with every parameter filled in, both in JSON; runs
/// the library's code.
#[pyfunction]
fn describe_library(py: Python<'_>, table: &str) -> PyResult<String> {
    let table: Value = serde_json::from_str(table).unwrap_or_default();
    let table = table.as_object().cloned().unwrap_or_default();
    let described = sojourn_abi::library::canonical(&table);
    described.map(|table| table.to_string()).map_err(|error| scenario_error(py, &error))
}

/// Keeps a record of the running callback of an external control in this file (`note.rs`).
#[pyfunction]
fn keep_note_in(path: PathBuf) -> PyResult<()> {
    Ok(sojourn_abi::note::keep_in(&path)?)
}

/// Ends this process, whatever it is doing, when its parent is no longer `parent`.
#[pyfunction]
fn end_with(parent: u32) {
    std::thread::spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
        std::process::abort();
    });
}

/// Reads a scenario from JSON.
fn parse(py: Python<'_>, text: &str) -> PyResult<Scenario> {
    parse_with(py, text, &CATALOGUE)
}

fn parse_with(py: Python<'_>, text: &str, catalogue: &Arc<Catalogue>) -> PyResult<Scenario> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let message = format!("not valid JSON: {error}");
        scenario_error(py, &sojourn_base::error::FieldError::new("", message))
    })?;
    Scenario::from_json(&value, catalogue).map_err(|error| scenario_error(py, &error))
}
