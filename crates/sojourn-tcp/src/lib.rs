//! TCP as Linux has it, without input or output: senders and receivers, their recovery of losses,
//! and congestion controls. It needs no network: time and packets are passed in.
// A test may compute what it expects in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod cc;
pub mod recovery;
pub mod spec;
pub mod tcp;

#[cfg(test)]
mod catalogue;

pub use sojourn_base::{
    counters, endpoint, error, given, observe, packet, quantity, registry, rng, units,
};

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
