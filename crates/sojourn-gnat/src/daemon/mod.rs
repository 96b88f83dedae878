//! Overlay nodes as programs: a node of a scenario with the hosts at it, driven by a clock; what it
//! exchanges with its neighbours is sealed and sent by UDP.
//!
//! | part | file |
//! | --- | --- |
//! | options, errors, a node's configuration | `options`, `error`, `config` |
//! | configurations of all nodes of a scenario | `deploy` |
//! | the scenario: its overlay's members and neighbours | `network` |
//! | a node: what it is made of; its loop; all nodes of a run | `node`, `turn`, `members` |
//! | programs that use the overlay as they are | `applications` |
//! | neighbours and the ports to them; packets and their bytes | `peers`, `translate` |
//! | what a node tells of itself | `told` |
//! | to whom: those who ask at its socket or for metrics; logs | `desk`, `metrics`, `status`, `log` |
//! | what may change while it runs, signals | `reload`, `signals` |

mod applications;
mod config;
mod deploy;
mod desk;
mod error;
mod log;
mod members;
mod metrics;
mod network;
mod node;
mod options;
mod peers;
mod reload;
mod signals;
mod status;
mod table;
mod told;
mod translate;
mod turn;

pub use config::{
    ApplicationsConfig, Config, GroupConfig, MemberConfig, PeerConfig, Prefix, ServiceRule,
};
pub use deploy::deploy;
pub use desk::Desk;
pub use error::Error;
pub use log::{Level, Log};
pub use members::{Member, Membership, member_names, memberships};
pub use node::{Node, run};
pub use options::{
    Command, DeployOptions, Format, GroupOption, NodeAddress, NodeOptions, StatusOptions,
};
pub use reload::{Changes, changes};
pub use signals::Signals;
pub use status::status;
pub use told::{
    ApplicationsTold, Exchanged, FlowTold, LinkTold, Names, NeighbourTold, PacketsTold, QueueTold,
    Shared, StrangersTold, Told, gather,
};
