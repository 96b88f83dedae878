//! What a scenario file says, all in one place: what the ground has, the open kinds, which lie with
//! their traits, and flows.

mod controls;
mod flow;

pub use crate::cc::kind::Cca;
pub use crate::edge::medium::kind::Medium;
pub use crate::node::kind::Node;
pub use crate::queue::kind::Queue;
pub use crate::topology::kind::Topology;
pub use crate::traffic::kind::Traffic;
pub use crate::transport::kind::Transport;
pub use sojourn_base::spec::*;

pub use controls::Controls;
pub use flow::{Flow, FlowSpec};
