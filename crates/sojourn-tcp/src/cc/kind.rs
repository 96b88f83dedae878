//! What the registry knows congestion controls by. It lies with their trait, for it names what
//! they are built from and how.

use super::{CcaFacts, Make};
use crate::registry::Kind;

/// Congestion controls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cca {}

impl Kind for Cca {
    const NAME: &'static str = "cca";
    const PLURAL: &'static str = "ccas";
    const TITLE: &'static str = "congestion control";
    const EXAMPLE: &'static str = "reno";
    type Facts = CcaFacts;
    type Make = Make;
}
