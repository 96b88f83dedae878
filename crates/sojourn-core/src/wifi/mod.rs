//! Wi-Fi: 802.11 as a shared medium.

use crate::edge::medium::{MediumInit, entry};
use crate::registry::{Catalogue, members};
use crate::spec::Medium;

mod air;
mod build;
mod category;
mod contender;
mod contention;
mod errors;
mod exchange;
mod minstrel;
mod peer;
mod phy;
#[cfg(test)]
mod tests;
mod window;

use medium::{Access, Params, Queueing, RateControlKind, Station};

members! {
    Medium;
    "wifi" medium::Wifi,
}

/// The catalogue with what it brings.
pub fn add(catalogue: Catalogue) -> Catalogue {
    catalogue.with(members())
}
