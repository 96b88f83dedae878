//! The conformance suite: checks of the members of open kinds, Sojourn's own and those of a program
//! that adds members.
//!
//! A [`Check`] measures a member and has the required range. [`failures`] applies checks to
//! members; those of a control, for example, are [`controls::CHECKS`].

pub mod controls;
pub mod exceptions;
pub mod media;
mod network;
pub mod nodes;
pub mod queue_bench;
pub mod queues;
pub mod transports;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value};

use crate::error::{Fault, FieldError};
use crate::record::Outcome;
use crate::registry::{Catalogue, Entry, Kind};
use crate::scenario::Scenario;
use crate::sim::Simulation;
use crate::spec::{Cca, Medium, Node, Queue, Transport};
use crate::units::Time;

/// The checks of every kind that has any, by the kind's name in the catalogue.
pub static SUITES: &[(&str, &[Check])] = &[
    (Cca::PLURAL, controls::CHECKS),
    (Queue::PLURAL, queues::CHECKS),
    (Transport::PLURAL, transports::CHECKS),
    (Node::PLURAL, nodes::CHECKS),
    (Medium::PLURAL, media::CHECKS),
];

/// A measured value, or the fault that ended the run.
pub type Measured = Result<f64, Fault>;

/// A member of a kind under test.
#[derive(Clone)]
pub struct Subject {
    /// The catalogue that contains it.
    pub catalogue: Arc<Catalogue>,
    /// Its name there.
    pub name: String,
    /// Its parameters; those left out have their defaults.
    pub params: Map<String, Value>,
}

impl Subject {
    /// A member with its default parameters.
    pub fn named(catalogue: &Arc<Catalogue>, name: &str) -> Self {
        let (catalogue, name) = (Arc::clone(catalogue), name.to_owned());
        Subject { catalogue, name, params: Map::new() }
    }

    /// The member as a table of a scenario.
    fn table(&self) -> Value {
        let kind = ("kind".to_owned(), Value::from(self.name.as_str()));
        [kind].into_iter().chain(self.params.clone()).collect()
    }

    fn entry<K: Kind>(&self) -> &Entry<K> {
        self.catalogue.find(&self.name).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs a scenario. A refusal is a fault at its beginning.
    fn run(&self, scenario: &Value) -> Result<Outcome, Fault> {
        let refused = |error: FieldError| Fault {
            time: Time::ZERO,
            component: self.name.clone(),
            message: error.to_string(),
        };
        let scenario = Scenario::from_json(scenario, &self.catalogue).map_err(refused)?;
        Simulation::new(&scenario).map_err(refused)?.run()
    }
}

/// A requirement, and how it is measured.
pub struct Check {
    /// Name; a column of a table.
    pub name: &'static str,
    /// The quantity and its requirement, for a legend.
    pub legend: &'static str,
    /// Measures the value that `required` bounds.
    pub measure: fn(&Subject) -> Measured,
    /// Bounds of the value.
    pub required: (f64, f64),
}

impl Check {
    /// Whether a value meets the requirement.
    pub fn holds(&self, value: f64) -> bool {
        self.required.0 <= value && value <= self.required.1
    }
}

/// Measures members on as many threads as there are processors; results are in the members' order.
///
/// # Panics
/// If a member is not in its catalogue.
pub fn measure(check: &Check, subjects: &[Subject]) -> Vec<Measured> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(subject) = subjects.get(place) else { return done };
            done.push((place, (check.measure)(subject)));
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

/// Requirements that members do not meet, a line each: the member, the check's legend, and the
/// measured value or the fault that ended its run.
///
/// # Panics
/// As [`measure`].
pub fn failures(checks: &[Check], subjects: &[Subject]) -> Vec<String> {
    let told = |check: &Check, subject: &Subject, measured: Measured| {
        let found = match measured {
            Ok(value) if check.holds(value) => return None,
            Ok(value) => format!("measured {value:.3}"),
            Err(fault) => fault.to_string(),
        };
        Some(format!("{}: {} ({found})", subject.name, check.legend))
    };
    let of_check = |check: &Check| -> Vec<String> {
        let values = subjects.iter().zip(measure(check, subjects));
        values.filter_map(|(subject, value)| told(check, subject, value)).collect()
    };
    checks.iter().flat_map(of_check).collect()
}

/// Members of a kind with their default parameters.
pub fn subjects(catalogue: &Arc<Catalogue>, names: &[&str]) -> Vec<Subject> {
    names.iter().map(|name| Subject::named(catalogue, name)).collect()
}
