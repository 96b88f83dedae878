//! Parts of the wings: their members, the hashes of their sources, and their Python functions.

use pyo3::prelude::*;
use sojourn_base::registry::Catalogue;
use sojourn_base::units::Span;
use sojourn_gnat::overlay::message::{NUMBER, NUMBER_AND_SET, TIMED};
use sojourn_gnat::slotted::{Model, run};
use sojourn_sliq::wire::{ACK_LEN, DATA_LEN, OBSERVED_LEN};
use sojourn_sliq::{Decider, Expected, Path};

use crate::error::scenario_error;

/// The wings' crates, each with the hash of its sources.
pub(crate) const SIMULATING: &[(&str, &str)] =
    &[sojourn_gnat::SOURCES, sojourn_sliq::SOURCES, sojourn_wifi::SOURCES];

/// The members of the core and of all wings.
pub(crate) fn members() -> Catalogue {
    sojourn_catalogue::own()
}

/// Bytes of headers: SLIQ's (an ACK's without observed packets), and those of packets between GNAT's
/// nodes beside them.
pub(crate) const HEADERS: &[(&str, u32)] = &[
    ("sliq_data", DATA_LEN as u32),
    ("sliq_ack", ACK_LEN as u32),
    ("sliq_ack_time", OBSERVED_LEN as u32),
    ("gnat_data", NUMBER),
    ("gnat_timed", TIMED),
    ("gnat_multicast", NUMBER_AND_SET),
];

/// Adds their functions to a module.
///
/// # Errors
/// Python is out of memory.
pub(crate) fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(error_control, module)?)?;
    module.add_function(wrap_pyfunction!(run_slotted, module)?)
}

/// The choice of SLIQ's adaptive error control on a path with this error rate, round trip, delay
/// (both in seconds) and rate (bit/s), so that a share arrives within a deadline (seconds). Returns
/// mode, rounds, source packets of a group, and usable messages per packet received.
#[pyfunction]
fn error_control(
    share: f64,
    deadline: f64,
    per: f64,
    round_trip: f64,
    delay: f64,
    rate: f64,
) -> (&'static str, u8, u8, f64) {
    let path = Path { per, max_rtt: round_trip, max_delay: Some(delay), send_rate: rate };
    let Expected { mode, rounds, sources, efficiency } =
        Decider::new(share, Span::from_secs_f64(deadline)).expect(&path);
    (mode, rounds, sources, efficiency)
}

/// Simulates a model of multicast in time slots (JSON) and returns its results in JSON. The GIL is
/// released meanwhile.
#[pyfunction]
fn run_slotted(py: Python<'_>, model: &str) -> PyResult<String> {
    let model = Model::from_json(model).map_err(|error| scenario_error(py, &error))?;
    let outcome = py.detach(|| run(&model)).map_err(|error| scenario_error(py, &error))?;
    Ok(serde_json::to_string(&outcome).unwrap_or_default())
}
