//! Scenario types of a network: those of `sojourn-base`, and the open kinds of its parts.

pub use sojourn_base::spec::*;

/// Queue disciplines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queue {}

/// Kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {}

/// Shared media.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Medium {}
