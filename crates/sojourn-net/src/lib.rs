//! A network, packet by packet: links with their queues, shared media, nodes, the loop of events
//! that drives them, and the counters that are recorded. What is at its ends is not its affair.
// A test may compute what it expects in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod edge;
pub mod multicast;
pub mod net;
pub mod node;
pub mod queue;
pub mod record;
pub mod spec;

#[cfg(test)]
mod catalogue;

pub use sojourn_base::{
    counters, endpoint, error, given, observe, packet, quantity, registry, rng, units,
};

pub use net::Network;
pub use record::Outcome;

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
