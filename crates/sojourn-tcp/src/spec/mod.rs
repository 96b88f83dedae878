//! What a scenario file says of TCP's ends: what the ground has, and congestion controls.

mod controls;

pub use sojourn_base::spec::*;

pub use controls::Controls;

/// Congestion controls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cca {}
