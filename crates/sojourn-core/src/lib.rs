#![doc = include_str!("../README.md")]
// A test may compute what it expects in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod catalogue;
pub mod cc;
pub mod conformance;
pub mod edge;
pub mod gnat;
pub mod multicast;
pub mod net;
pub mod node;
pub mod queue;
pub mod record;
pub mod recovery;
pub mod scenario;
pub mod section;
pub mod sim;
pub mod sliq;
pub mod spec;
pub mod tcp;
pub mod topology;
pub mod traffic;
pub mod transport;
pub mod wifi;

pub use sojourn_base::{
    counters, endpoint, error, given, observe, packet, quantity, registry, rng, units,
};

pub use error::{Fault, FieldError};
pub use net::Network;
pub use record::Outcome;
pub use registry::Catalogue;
pub use scenario::Scenario;
pub use sim::Simulation;

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
