//! Base types of Sojourn: units, packets, random draws, errors, the registry of open kinds, the
//! trait of an endpoint and its counters. It simulates nothing.
//!
//! Times are integer nanoseconds ([`units::Time`], [`units::Span`]), rates integer bit/s
//! ([`units::Rate`]), sizes bytes of IP packets; links add their framing.
// A test may compute expected values in any way.
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
