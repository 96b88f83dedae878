//! GNAT: an overlay that forwards by backpressure, its link emulator, and the report's own models
//! of multicast in time slots. Times are integer nanoseconds, rates bit/s, sizes bytes of IP
//! packets; depths of queues are bytes, or bits where they are a price. A new admission control is
//! a file in `src/overlay/admission/`, a variant of `Admission` with its branches there, and a name
//! of `Utility` in `src/service.rs`. Outside `daemon` it has no sockets and no
//! clock.
//!
//! Two overlay nodes exchange datagrams; the overlay admits what the link can carry:
//!
//! ```
//! use std::sync::Arc;
//!
//! use sojourn_sim::{Scenario, Simulation, catalogue};
//!
//! let members = Arc::new(sojourn_gnat::add(catalogue::core()));
//! let text = r#"
//! duration = "4 s"
//! [topology]
//! kind = "graph"
//! nodes = [{ id = "a", kind = "overlay" }, { id = "b", kind = "overlay" }]
//! [[topology.links]]
//! id = "ab"
//! from = "a"
//! to = "b"
//! rate = "10 Mbit/s"
//! delay = "5 ms"
//! [[flows]]
//! transport = "udp"
//! from = "a"
//! to = "b"
//! mss = 1024
//! traffic = { kind = "cbr", rate = "5 Mbit/s", size = "1024 B" }
//! "#;
//! let outcome = Simulation::new(&Scenario::from_toml(text, &members)?)?.run()?;
//! let received: f64 = outcome.flow_samples.reals("delivered_bytes").unwrap().iter().sum();
//! assert!(received > 1e6, "{received}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// A test may compute what it expects in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

use sojourn_base::registry::Catalogue;
use sojourn_net::node;
use sojourn_sim::topology;

#[cfg(any(test, feature = "programs"))]
mod catalogue;
#[cfg(feature = "programs")]
pub mod daemon;
pub mod linkem;
pub mod overlay;
#[cfg(test)]
mod runs;
mod section;
mod service;
pub mod slotted;

pub use section::{FlowKeys, ScenarioKeys, check_sizes};
pub use service::{PortService, PriorityStep, ServiceSpec, Utility};

/// The catalogue with this crate's members.
pub fn add(catalogue: Catalogue) -> Catalogue {
    let overlay = node::entry::<overlay::Overlay>("overlay", include_str!("overlay/mod.rs"));
    let linkem = topology::entry::<linkem::LinkEm>("linkem", include_str!("linkem.rs"));
    let catalogue = catalogue.before("shared-tree", overlay).before("graph", linkem);
    catalogue.with(vec![section::section()])
}

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
