//! Backends of real kernel endpoints over the core's emulated network: this machine's kernel in
//! real time, or a kernel in virtual time ([`uml`]).
//!
//! ```text
//! senders' namespace              this process                        receivers' namespace
//! sockets -> TUN device -> Loop -> Network: edges, queues -> Loop -> TUN device -> sockets
//!                 (acknowledgments the other way)
//! ```
//!
//! [`Live`] runs a scenario on it, or the traffic of any command, and in virtual time any programs;
//! [`drive`] (the loop) and [`namespace`] serve other drivers as well. Only the module `sys` has `unsafe` code.
//!
//! Times are integer nanoseconds since the run began, rates integer bit/s, sizes bytes of IP
//! packets. The crate needs Linux; real-time runs need user namespaces and TUN devices. It has no
//! queue disciplines, controls or traffic models of its own: the network is that of `sojourn-net`,
//! applications are those of `sojourn-sim`.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use sojourn_live::{Live, Quality};
//! use sojourn_sim::{Outcome, Scenario, catalogue};
//!
//! let members = Arc::new(catalogue::core());
//! let text = std::fs::read_to_string("scenario.toml")?;
//! let live: Live<(Outcome, Quality)> = Live::start(&Scenario::from_toml(&text, &members)?, None)?;
//! let (outcome, quality) = live.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg(target_os = "linux")]

pub mod background;
mod bpf;
mod check;
pub mod clock;
mod command;
mod connection;
mod controls;
mod datagrams;
pub mod drive;
pub mod error;
mod external;
pub mod flows;
mod hosts;
mod iproute;
mod kept;
mod line;
pub mod namespace;
pub mod news;
mod opener;
mod outlet;
pub mod overlay;
mod ports;
pub mod punctual;
pub mod quality;
mod reading;
mod receivers;
mod recorded;
pub mod run;
pub mod script;
mod senders;
mod shown;
mod sockets;
mod store;
mod sys;
mod tcp_info;
mod traffic;
pub mod transfers;
pub mod uml;
mod waiting;
mod watched;
mod windows;

pub use background::Live;
pub use command::{Bottleneck, Commanded, Named};
pub use error::Error;
pub use quality::Quality;
use sojourn_capture::observed;
pub use sojourn_capture::wire;
