//! Scenario keys of TCP's ends: those of `sojourn-base`, and congestion controls.

mod controls;

pub use sojourn_base::spec::*;

pub use controls::Controls;

/// Congestion controls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cca {}
