//! Recorders: what a run leaves behind.
//!
//! Endpoints and links keep cumulative counters and time integrals; at every sampling instant the
//! recorder takes their difference to the last one. Observation costs nothing per packet beyond
//! the counters themselves.

mod flow;
pub mod histogram;
mod link;

pub use flow::FlowCounters;
pub use link::LinkCounters;
