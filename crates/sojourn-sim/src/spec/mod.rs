//! All types of a scenario file: those of `sojourn-base`, the open kinds, whose traits are defined
//! with their members, and flows.

mod flow;
mod program;

pub use sojourn_base::spec::*;
pub use sojourn_net::spec::{Medium, Node, Queue};
pub use sojourn_tcp::spec::{Cca, Controls};

pub use flow::{Flow, FlowSpec};
pub use program::{Line, ProgramSpec};

/// Topologies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Topology {}

/// Traffic models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {}

/// Transports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transport {}
