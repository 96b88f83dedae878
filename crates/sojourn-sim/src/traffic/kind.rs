//! Registry types of traffic models: constructor and facts.

use super::{Make, TrafficFacts};
use crate::registry::Kind;
use crate::spec::Traffic;

impl Kind for Traffic {
    const NAME: &'static str = "traffic";
    const PLURAL: &'static str = "traffic";
    const TITLE: &'static str = "traffic model";
    const EXAMPLE: &'static str = "greedy";
    type Facts = TrafficFacts;
    type Make = Make;
}
