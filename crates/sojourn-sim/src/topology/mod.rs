//! Topologies: one file each, one registry line each.
//!
//! A topology turns its keys and the flows into a [`Plan`]: nodes, links, and for each flow a route
//! of links in each direction. The simulator uses only the plan.

use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::registry::{self, Catalogue, Entry, Listing, NoFacts, Params, members};
use crate::spec::Flow;

mod access;
mod builder;
mod graph_node;
mod kind;
mod media;
mod plan;
mod routing;

pub use media::{PlannedMedium, categories};
pub use plan::{Plan, PlannedLink, PlannedNode, Routes};

/// What `sojourn new topology` writes must compile and pass its own test.
#[cfg(test)]
#[path = "../../../../python/sojourn/templates/topology.rs"]
#[allow(clippy::upper_case_acronyms)]
mod template;

members! {
    crate::spec::Topology;
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
    fn plan(&self, flows: &[Flow<'_>], catalogue: &Catalogue) -> Result<Plan, FieldError>;
}

/// Constructor of a plan for flows. Errors: a parameter is wrong, or a flow's hosts or route do not
/// fit.
pub type Make = fn(&Map<String, Value>, &[Flow<'_>], &Catalogue) -> Result<Plan, FieldError>;

/// The entry of the topology `T`, whose `source` begins with its documentation.
pub fn entry<T: Topology>(
    name: &'static str,
    source: &'static str,
) -> Entry<crate::spec::Topology> {
    Entry {
        listing: Listing::new::<T>(name, source),
        facts: NoFacts {},
        make: |params, flows, catalogue| {
            let topology: T =
                registry::parse_params(params, catalogue).map_err(|e| e.within("topology"))?;
            topology.plan(flows, catalogue)
        },
    }
}

/// The index of the node of this name.
fn known_node(field: &str, node: &str, names: &[&str]) -> Result<usize, FieldError> {
    let found = names.iter().position(|known| *known == node);
    found.ok_or_else(|| FieldError::unknown_name(field, "node", node, names))
}
