//! Registry types of shared media: constructor and facts.

use super::Make;
use crate::registry::{Kind, NoFacts};
use crate::spec::Medium;

impl Kind for Medium {
    const NAME: &'static str = "medium";
    const PLURAL: &'static str = "media";
    const TITLE: &'static str = "shared medium";
    const EXAMPLE: &'static str = "NAME";
    type Facts = NoFacts;
    type Make = Make;
}
