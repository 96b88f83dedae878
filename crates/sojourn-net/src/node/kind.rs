//! What the registry knows of kinds of nodes: what they are built from, and how.

use super::{Make, NodeFacts};
use crate::registry::Kind;
use crate::spec::Node;

impl Kind for Node {
    const NAME: &'static str = "node";
    const PLURAL: &'static str = "nodes";
    const TITLE: &'static str = "kind of node";
    const EXAMPLE: &'static str = "router";
    const BY_NAME: bool = true;
    type Facts = NodeFacts;
    type Make = Make;
}
