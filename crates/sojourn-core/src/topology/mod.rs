//! Topologies: one file each, one registry line each.
//!
//! A topology turns its keys and the flows into a [`Plan`]: nodes, links, and for each flow a
//! route of links in each direction. The simulator knows only the network.

use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::registry::{self, Listing, Params};
use crate::scenario::Flow;

mod access;
mod builder;
mod plan;
mod routing;

pub use plan::{Plan, PlannedLink, Routes};

/// What `sojourn new topology` writes must compile and pass its own test.
#[cfg(test)]
#[path = "../../../../python/sojourn/templates/topology.rs"]
#[allow(clippy::upper_case_acronyms)]
mod template;

macro_rules! topologies {
    ($($name:literal $module:ident :: $type:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// Every topology.
        pub static TOPOLOGIES: &[TopologyEntry] = &[$(TopologyEntry::new::<$module::$type>(
            $name,
            include_str!(concat!(stringify!($module), ".rs")),
        )),*];
    };
}

topologies! {
    "dumbbell" dumbbell::Dumbbell,
    "parking_lot" parking_lot::ParkingLot,
    "graph" graph::Graph,
}

/// A topology: its parameters are its keys in the scenario.
pub trait Topology: Params + 'static {
    /// The network for these flows.
    ///
    /// # Errors
    /// If a flow's hosts or route do not fit. The field is relative to the scenario.
    fn plan(&self, flows: &[Flow<'_>]) -> Result<Plan, FieldError>;
}

/// A registered topology.
pub struct TopologyEntry {
    /// Name, documentation, parameters.
    pub listing: Listing,
    make: Factory,
}

type Factory = fn(&Map<String, Value>, &[Flow<'_>]) -> Result<Plan, FieldError>;

impl TopologyEntry {
    const fn new<T: Topology>(name: &'static str, source: &'static str) -> Self {
        TopologyEntry { listing: Listing::new::<T>(name, source), make: make::<T> }
    }

    /// Builds the network.
    ///
    /// # Errors
    /// If a parameter is wrong, or a flow's hosts or route do not fit.
    pub fn build(
        &self,
        params: &Map<String, Value>,
        flows: &[Flow<'_>],
    ) -> Result<Plan, FieldError> {
        (self.make)(params, flows)
    }
}

fn make<T: Topology>(params: &Map<String, Value>, flows: &[Flow<'_>]) -> Result<Plan, FieldError> {
    let topology: T = registry::parse_params(params).map_err(|e| e.within("topology"))?;
    topology.plan(flows)
}

/// Finds a topology by name.
///
/// # Errors
/// Lists the known names and suggests the nearest.
pub fn find(name: &str) -> Result<&'static TopologyEntry, FieldError> {
    registry::find(TOPOLOGIES, |entry| &entry.listing, name, "topology")
}

/// The index of the node of this name.
fn known_node(field: &str, node: &str, nodes: &[String]) -> Result<usize, FieldError> {
    nodes.iter().position(|known| known == node).ok_or_else(|| {
        let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
        FieldError::unknown_name(field, "node", node, &names)
    })
}
