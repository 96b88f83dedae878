//! Overlay nodes as programs: a node of a scenario with the hosts at it, driven by a clock; what it
//! exchanges with its neighbours is sealed and sent by UDP.
//!
//! | part | file |
//! | --- | --- |
//! | options, errors, a node's configuration | `options`, `error`, `config` |
//! | configurations of all nodes of a scenario | `deploy` |
//! | the scenario: its overlay's members and neighbours | `network` |
//! | what a node tells, and to whom | `told`, `log` |

mod config;
mod deploy;
mod error;
mod log;
mod network;
mod options;
mod signals;
mod told;

pub use config::{Config, PeerConfig};
pub use deploy::deploy;
pub use error::Error;
pub use log::{Level, Log};
pub use options::{Command, DeployOptions, Format, NodeAddress, NodeOptions, StatusOptions};
pub use signals::Signals;
pub use told::{FlowTold, NeighbourTold, QueueTold, Shared, StrangersTold, Told};

/// SKELETON: daemon/node.rs
pub fn run(_options: &NodeOptions) -> Result<(), Error> {
    todo!()
}
/// SKELETON: daemon/status.rs
pub fn status(_options: &StatusOptions) -> Result<(), Error> {
    todo!()
}
