//! The ground that Sojourn stands on: units, packets, random draws, errors, the registry of open
//! kinds, and what an endpoint is and counts. It simulates nothing.
// A test may compute what it expects in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod counters;
pub mod endpoint;
pub mod error;
pub mod given;
pub mod observe;
pub mod packet;
pub mod quantity;
pub mod reading;
pub mod registry;
pub mod rng;
pub mod spec;
pub mod units;

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
