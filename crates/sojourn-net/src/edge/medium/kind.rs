//! What the registry knows shared media by. It lies with their trait, for it names what they are
//! built from and how.

use super::Make;
use crate::registry::{Kind, NoFacts};

/// Shared media.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Medium {}

impl Kind for Medium {
    const NAME: &'static str = "medium";
    const PLURAL: &'static str = "media";
    const TITLE: &'static str = "shared medium";
    const EXAMPLE: &'static str = "NAME";
    type Facts = NoFacts;
    type Make = Make;
}
