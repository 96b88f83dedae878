#![doc = include_str!("../README.md")]
// A test may compute expected values in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod arrivals;
pub mod catalogue;
pub mod conformance;
pub mod scenario;
pub mod section;
pub mod sim;
pub mod spec;
pub mod topology;
pub mod traffic;
pub mod transport;

pub use sojourn_base::{
    counters, endpoint, error, given, observe, packet, quantity, reading, registry, rng, units,
};
pub use sojourn_net::{edge, multicast, net, node, queue, record};
pub use sojourn_tcp::{cc, recovery, tcp};

pub use error::{Fault, FieldError};
pub use net::Network;
pub use record::Outcome;
pub use registry::Catalogue;
pub use scenario::Scenario;
pub use sim::Simulation;

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
