//! What a scenario file says of a network: what the ground has, and the open kinds of its parts.

pub use sojourn_base::spec::*;

/// Queue disciplines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queue {}

/// What nodes do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {}

/// Shared media.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Medium {}
