//! The simulator: deterministic, without a clock, without input or output, without Python.
//!
//! The data path: a scenario is validated, `sim` builds the network from it and runs the event
//! loop, recorders collect counters and series, and the outcome is handed out as columns.

pub mod catalogue;
pub mod cc;
pub mod error;
pub mod event;
pub mod link;
pub mod packet;
pub mod quantity;
pub mod queue;
pub mod record;
pub mod registry;
pub mod rng;
pub mod scenario;
pub mod sim;
pub mod topology;
pub mod traffic;
pub mod transport;
pub mod units;
