//! Registry of congestion controls as a kind of member: their static properties and constructor.

use super::{CcaFacts, Make};
use crate::registry::Kind;
use crate::spec::Cca;

impl Kind for Cca {
    const NAME: &'static str = "cca";
    const PLURAL: &'static str = "ccas";
    const TITLE: &'static str = "congestion control";
    const EXAMPLE: &'static str = "reno";
    type Facts = CcaFacts;
    type Make = Make;
}
