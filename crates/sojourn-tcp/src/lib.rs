//! TCP modelled on Linux, sans-io: senders and receivers, loss recovery, and congestion controls.
//! The caller passes in packets and times, and takes out packets and the time of the next timer;
//! the crate has no network, clock or socket. Times are integer nanoseconds, rates bit/s; sequence
//! numbers and windows count segments; sizes are bytes of IP packets. A new congestion control is a
//! file in `cc/` and a line in `members!` of `cc/mod.rs`; the crate's README says where a new
//! loss-detection rule goes.
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
