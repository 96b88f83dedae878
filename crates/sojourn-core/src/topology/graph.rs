//! Graph: nodes, links and routes as the file gives them.
//!
//! Each entry of `links` joins two nodes. A link is alike in both directions unless
//! `duplex = false`; the direction from `to` to `from` is then called `ID_reverse`, and its loss
//! is `reverse_loss`. Nodes are those that links name. A flow gives `from` and `to`, and takes the
//! path of the least propagation delay (among equals the fewest links, then the order of the
//! file), or the links that `route` lists; acknowledgments take the same links back, or the
//! shortest path where one of them has no reverse. A flow's `rtt` is added at the sender.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Network, Topology};
use crate::error::FieldError;
use crate::registry::Params;
use crate::scenario::{Flow, LinkSpec};

/// Keys of a graph.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Graph {
    /// The links.
    pub links: Vec<LinkSpec>,
}

impl Params for Graph {}

impl Topology for Graph {
    fn network(&self, _flows: &[Flow<'_>]) -> Result<Network, FieldError> {
        Err(FieldError::new("topology.kind", "graph is not built yet"))
    }
}
