//! What a scenario file says of TCP's ends: what the ground has, and congestion controls.

mod controls;

pub use crate::cc::kind::Cca;
pub use sojourn_base::spec::*;

pub use controls::Controls;
