//! Real kernel endpoints over the core's emulated network.
//!
//! ```text
//! senders' namespace              this process                        receivers' namespace
//! sockets -> TUN device -> Loop -> Network: edges, queues -> Loop -> TUN device -> sockets
//!                 (acknowledgments the other way)
//! ```
//!
//! [`Live`] puts a scenario on it, or the traffic of any command; [`drive`] (the loop) and [`namespace`] serve other drivers as
//! well. Only the module `sys` has `unsafe` code.
#![cfg(target_os = "linux")]

pub mod background;
mod bpf;
mod check;
pub mod clock;
mod command;
mod controls;
pub mod drive;
pub mod error;
mod external;
pub mod flows;
pub mod namespace;
mod observed;
pub mod punctual;
pub mod quality;
mod receivers;
pub mod run;
pub mod script;
mod senders;
mod sockets;
mod store;
mod sys;
mod tcp_info;
pub mod uml;
pub mod wire;

pub use background::Live;
pub use command::{Bottleneck, Commanded, Named};
pub use error::Error;
pub use quality::Quality;
