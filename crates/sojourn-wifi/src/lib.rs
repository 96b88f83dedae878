//! Wi-Fi: IEEE 802.11 as a shared medium, and the catalogue's entry for it.
//!
//! Times are integer nanoseconds, rates integer bit/s (a mode's a real number of bit/s), sizes
//! bytes; airtime counts preambles and MAC framing. The header of `src/medium.rs` has the model and
//! its deviations. The network, its event loop and queue disciplines are in `sojourn-net`; another
//! medium goes there.
//!
//! A bottleneck whose two directions share the air:
//!
//! ```
//! use std::sync::Arc;
//!
//! use sojourn_sim::{Scenario, Simulation, catalogue};
//!
//! let members = Arc::new(sojourn_wifi::add(catalogue::core()));
//! let text = r#"
//! duration = "1 s"
//! [topology]
//! kind = "dumbbell"
//! [topology.bottleneck]
//! medium = { kind = "wifi", standard = "ac", snr = "28 dB", rate_control = "minstrel-ht" }
//! [[flows]]
//! cca = "cubic"
//! rtt = "20 ms"
//! "#;
//! let outcome = Simulation::new(&Scenario::from_toml(text, &members)?)?.run()?;
//! let received: f64 = outcome.flow_samples.reals("delivered_bytes").unwrap().iter().sum();
//! assert!(received > 5e5, "{received}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// A test may compute expected values in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

use sojourn_base::registry::{Catalogue, members};
use sojourn_net::edge::medium::{MediumInit, entry};
use sojourn_net::spec::Medium;

mod air;
mod build;
#[cfg(test)]
mod catalogue;
mod category;
mod contender;
mod contention;
mod errors;
mod exchange;
mod minstrel;
mod peer;
mod phy;
mod supply;
#[cfg(test)]
mod tests;
mod window;

use medium::{Access, Params, Queueing, RateControlKind, Station};

members! {
    Medium;
    "wifi" medium::Wifi,
}

/// The catalogue with this wing's members.
pub fn add(catalogue: Catalogue) -> Catalogue {
    catalogue.with(members())
}

/// This crate and the hash of its sources: a part of the build that results name.
pub const SOURCES: (&str, &str) = (env!("CARGO_PKG_NAME"), env!("SOJOURN_SOURCES"));
