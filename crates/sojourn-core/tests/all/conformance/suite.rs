//! The conformance suite: every registered congestion control through the same scenarios. The test
//! `conformance` and the example of the same name, which writes the documentation's page, share it.

pub mod checks;
pub mod exceptions;
pub mod network;

use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};

use sojourn_core::catalogue::builtin;
use sojourn_core::registry::Entry;
use sojourn_core::spec::Cca;

use checks::Check;

/// The controls to measure: all, or the one that the environment variable `CCA` names.
fn chosen() -> Vec<&'static Entry<Cca>> {
    match env::var("CCA") {
        Ok(name) => vec![builtin().find(&name).unwrap_or_else(|error| panic!("CCA: {error}"))],
        Err(_) => builtin().members().iter().collect(),
    }
}

/// Measures every chosen control on as many threads as there are processors; in the registry's
/// order.
pub fn measure(check: &Check) -> Vec<(&'static str, f64)> {
    let (controls, next) = (chosen(), AtomicUsize::new(0));
    let work = || {
        let mut done = Vec::new();
        while let Some(control) = controls.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((control.listing.name, (check.measure)(control)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let place = |name| controls.iter().position(|control| control.listing.name == name);
    results.sort_by_key(|(name, _)| place(*name));
    results
}
