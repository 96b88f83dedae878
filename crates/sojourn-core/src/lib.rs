#![doc = include_str!("../README.md")]
// A test may compute what it expects in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod catalogue;
pub mod cc;
pub mod conformance;
pub mod counters;
pub mod edge;
pub mod endpoint;
pub mod error;
pub mod given;
pub mod gnat;
pub mod multicast;
pub mod net;
pub mod node;
pub mod observe;
pub mod packet;
pub mod quantity;
pub mod queue;
pub mod record;
pub mod recovery;
pub mod registry;
pub mod rng;
pub mod scenario;
pub mod section;
pub mod sim;
pub mod sliq;
pub mod spec;
pub mod tcp;
pub mod topology;
pub mod traffic;
pub mod transport;
pub mod units;
pub mod wifi;

pub use error::{Fault, FieldError};
pub use net::Network;
pub use record::Outcome;
pub use registry::Catalogue;
pub use scenario::Scenario;
pub use sim::Simulation;

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
