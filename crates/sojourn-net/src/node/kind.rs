//! Registry types of kinds of nodes: constructor and facts.

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
