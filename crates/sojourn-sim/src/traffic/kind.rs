//! What the registry knows traffic models by. It lies with their trait, for it names what they
//! are built from and how.

use super::{Make, TrafficFacts};
use crate::registry::Kind;

/// Traffic models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {}

impl Kind for Traffic {
    const NAME: &'static str = "traffic";
    const PLURAL: &'static str = "traffic";
    const TITLE: &'static str = "traffic model";
    const EXAMPLE: &'static str = "greedy";
    type Facts = TrafficFacts;
    type Make = Make;
}
