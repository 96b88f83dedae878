//! What the registry knows topologies by. It lies with their trait, for it names what they are
//! built from and how.

use super::Make;
use crate::registry::{Kind, NoFacts};

/// Topologies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Topology {}

impl Kind for Topology {
    const NAME: &'static str = "topology";
    const PLURAL: &'static str = "topologies";
    const TITLE: &'static str = "topology";
    const EXAMPLE: &'static str = "dumbbell";
    type Facts = NoFacts;
    type Make = Make;
}
