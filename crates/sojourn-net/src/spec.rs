//! What a scenario file says of a network: what the ground has, and the open kinds of its parts.

pub use crate::edge::medium::kind::Medium;
pub use crate::node::kind::Node;
pub use crate::queue::kind::Queue;
pub use sojourn_base::spec::*;
