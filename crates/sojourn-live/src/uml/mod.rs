//! A kernel in virtual time: User-Mode Linux, whose clock and network cards are in this process.
//!
//! ```text
//! kernel: senders' namespace           this process                receivers' namespace :kernel
//! sockets -> virtio card -> Virtual -> Network: edges, queues -> Virtual -> virtio card -> sockets
//!             Calendar: who runs next, the kernel or the network, and what time it is
//! ```
//!
//! [`agent`] runs inside the kernel, with `inside`, `receive`, `routers` and `telling`; everything else in
//! this process.

pub mod agent;
mod arguments;
mod bottlenecks;
mod calendar;
mod card;
mod console;
pub mod control;
mod counter;
mod devices;
mod digest;
mod doings;
mod drive;
mod failure;
mod frames;
mod guest;
mod inside;
mod machine;
mod place;
mod processors;
mod receive;
mod recognised;
mod rings;
mod routers;
mod run;
mod run_programs;
mod sending;
mod telling;

use std::time::Duration;

pub use arguments::Image;
pub use doings::{Ended, Heard, Started, Written};
pub use run_programs::{Programmed, Row, Run};

/// Number of cards of the scenario's own flows: the senders' and the receivers'. Those of programs'
/// hosts follow, and those of routers, two each.
const HOSTS: usize = 2;
/// Start of the run in the kernel's time. That time starts at zero, and booting takes none of it;
/// but a segment that is sent at zero has no sending time for TCP, and the handshake then no RTT.
const BEGINNING: Duration = Duration::from_secs(1);
