//! What the registry knows kinds of nodes by. It lies with their trait, for it names what they
//! are built from and how.

use super::{Make, NodeFacts};
use crate::registry::Kind;

/// What nodes do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {}

impl Kind for Node {
    const NAME: &'static str = "node";
    const PLURAL: &'static str = "nodes";
    const TITLE: &'static str = "kind of node";
    const EXAMPLE: &'static str = "router";
    const BY_NAME: bool = true;
    type Facts = NodeFacts;
    type Make = Make;
}
