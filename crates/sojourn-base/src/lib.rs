//! Base types of Sojourn: units, packets, random draws, errors, the registry of open kinds, the
//! trait of an endpoint and its counters. It simulates nothing.
//!
//! Times are integer nanoseconds ([`units::Time`], [`units::Span`]), rates integer bit/s
//! ([`units::Rate`]), sizes bytes of IP packets; links add their framing.
//!
//! Quantities are read with their units and kept as integers; each random draw has a name, so that
//! adding one does not change the values of others.
//!
//! ```
//! use sojourn_base::{Rate, Span, StreamKey};
//!
//! let rate: Rate = "10 Mbit/s".parse()?;
//! assert_eq!(rate.span_of(1250), Span::from_millis(1));
//! assert!("10 Mbps".parse::<Rate>().unwrap_err().contains("allowed: "));
//!
//! let flow = StreamKey::root(42).child("flow");
//! assert_eq!(flow.index(1).uniform_at(7), flow.index(1).uniform_at(7));
//! assert_ne!(flow.index(1).uniform_at(7), flow.index(2).uniform_at(7));
//! # Ok::<(), String>(())
//! ```
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

pub use endpoint::Endpoint;
pub use error::FieldError;
pub use packet::Packet;
pub use registry::Catalogue;
pub use rng::StreamKey;
pub use units::{Rate, Span, Time};

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
