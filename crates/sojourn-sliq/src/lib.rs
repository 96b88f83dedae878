//! SLIQ: streams of messages over UDP, under several congestion controls at once; the protocol
//! sans-io, its transport for the simulator, and (feature `programs`) its programs over UDP
//! sockets. Times are integer nanoseconds (on the wire microseconds), rates bit/s, windows bytes of
//! payload; sequence numbers count a stream's packets.
//!
//! A scenario with one flow over SLIQ:
//!
//! ```
//! use std::sync::Arc;
//!
//! use sojourn_sim::{Scenario, Simulation, catalogue};
//!
//! let members = Arc::new(sojourn_sliq::add(catalogue::core()));
//! let text = r#"
//! duration = "1 s"
//! [topology]
//! kind = "dumbbell"
//! bottleneck = { rate = "10 Mbit/s" }
//! [[flows]]
//! transport = "sliq"
//! cca = ["cubic", "copa"]
//! rtt = "20 ms"
//! mss = 1400
//! "#;
//! let outcome = Simulation::new(&Scenario::from_toml(text, &members)?)?.run()?;
//! let received: f64 = outcome.flow_samples.reals("delivered_bytes").unwrap().iter().sum();
//! assert!(received > 5e5, "{received}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// A test may compute what it expects in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

use sojourn_base::registry::{Catalogue, members};
use sojourn_sim::spec::Transport;
use sojourn_sim::transport::entry;

mod aec;
mod capacity;
mod clock;
mod connection;
mod control;
mod endpoint;
mod lane;
mod mailbox;
mod measure;
mod payload;
mod rtt;
mod section;
#[cfg(feature = "programs")]
pub mod secure;
mod stream;
#[cfg(feature = "programs")]
pub mod udp;
mod virtual_payload;
pub mod wire;

pub use aec::{Decider, Expected, Path};
pub use connection::{Config, Connection, Event, Measured, Role};
pub use control::{Catalogued, Control, Copa, Cubic};
pub use mailbox::{Mailbox, Spare};
pub use payload::{Payload, Received};
pub use section::{FlowKeys, ReliabilityMode, StreamSpec};
pub use stream::{Delivered, Reliability, StreamConfig, Target};
pub use transport::{control_init, make_control};

members! {
    Transport;
    "sliq" transport::Sliq,
}

/// The catalogue with this crate's members.
pub fn add(catalogue: Catalogue) -> Catalogue {
    catalogue.with(members()).with(vec![section::section()])
}

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
