//! Registry types of topologies: constructor and facts.

use super::Make;
use crate::registry::{Kind, NoFacts};
use crate::spec::Topology;

impl Kind for Topology {
    const NAME: &'static str = "topology";
    const PLURAL: &'static str = "topologies";
    const TITLE: &'static str = "topology";
    const EXAMPLE: &'static str = "dumbbell";
    type Facts = NoFacts;
    type Make = Make;
}
