//! The conformance suite: what members of the open kinds are put through, Sojourn's own and those of
//! a program that brings its own.
//!
//! A [`Check`] measures a member and says what is required. [`failures`] puts members through
//! checks; a control, for example, through [`controls::CHECKS`].

pub mod controls;
mod network;
pub mod nodes;
pub mod transports;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::record::Outcome;
use crate::registry::{Catalogue, Entry, Kind};
use crate::scenario::Scenario;
use crate::sim::Simulation;

/// A member of a kind that is put through checks.
#[derive(Clone)]
pub struct Subject {
    /// The catalogue that has it.
    pub catalogue: Arc<Catalogue>,
    /// Its name there.
    pub name: String,
}

impl Subject {
    fn entry<K: Kind>(&self) -> &Entry<K> {
        self.catalogue.find(&self.name).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs a scenario; one that cannot be run is the suite's own mistake or the member's, as when
    /// it breaks an invariant.
    fn run(&self, scenario: &Value) -> Outcome {
        let name = &self.name;
        let scenario = Scenario::read(scenario, Arc::clone(&self.catalogue))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let simulation =
            Simulation::new(&scenario).unwrap_or_else(|error| panic!("{name}: {error}"));
        simulation.run().unwrap_or_else(|fault| panic!("{name}: {fault}"))
    }
}

/// A requirement, and how to measure it.
pub struct Check {
    /// Its name, a column of a table.
    pub name: &'static str,
    /// What is measured and what is required, for a legend.
    pub legend: &'static str,
    /// The measured value that `required` judges. Panics if the member cannot be run, or breaks an
    /// invariant.
    pub measure: fn(&Subject) -> f64,
    /// Bounds that the value must keep.
    pub required: (f64, f64),
}

impl Check {
    /// Whether a value meets the requirement.
    pub fn holds(&self, value: f64) -> bool {
        self.required.0 <= value && value <= self.required.1
    }
}

/// Measures members on as many threads as there are processors; in their order.
///
/// # Panics
/// If a member is not in the catalogue, cannot be run, or breaks an invariant.
pub fn measure(check: &Check, catalogue: &Arc<Catalogue>, names: &[&str]) -> Vec<f64> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = names.get(place) else { return done };
            let subject = Subject { catalogue: Arc::clone(catalogue), name: (*name).to_owned() };
            done.push((place, (check.measure)(&subject)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.flat_map(|done| done.unwrap_or_else(|why| std::panic::resume_unwind(why))).collect()
    });
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, value)| value).collect()
}

/// What members do not meet, a line each: the check's legend, the member and the measured value.
///
/// # Panics
/// As [`measure`].
pub fn failures(checks: &[Check], catalogue: &Arc<Catalogue>, names: &[&str]) -> Vec<String> {
    let of_check = |check: &Check| -> Vec<String> {
        let values = names.iter().zip(measure(check, catalogue, names));
        let failed = values.filter(|(_, value)| !check.holds(*value));
        failed.map(|(name, value)| format!("{name}: {} ({value:.3})", check.legend)).collect()
    };
    checks.iter().flat_map(of_check).collect()
}
