//! Which simulator this is.

use blake2::digest::consts::U8;
use blake2::{Blake2b, Digest};

/// The crates that simulate, each with the hash of its sources, in the order of the package's engine.
const SIMULATING: [(&str, &str); 7] = [
    sojourn_base::SOURCES,
    sojourn_net::SOURCES,
    sojourn_sim::SOURCES,
    sojourn_tcp::SOURCES,
    sojourn_gnat::SOURCES,
    sojourn_sliq::SOURCES,
    sojourn_wifi::SOURCES,
];

/// The build, which is the package's of the same sources: a run there has the same results.
pub(crate) fn build() -> String {
    let mut digest = Blake2b::<U8>::new();
    for (name, part) in SIMULATING.into_iter().chain([("Cargo.lock", env!("SOJOURN_LOCKED"))]) {
        digest.update(format!("{name} {part}\n"));
    }
    let hash: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{hash}", env!("CARGO_PKG_VERSION"))
}
