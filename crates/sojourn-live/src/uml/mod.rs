//! A kernel in virtual time: User-Mode Linux, whose clock and network cards are in this process.
//!
//! ```text
//! kernel: senders' namespace           this process                receivers' namespace :kernel
//! sockets -> virtio card -> Virtual -> Network: edges, queues -> Virtual -> virtio card -> sockets
//!             Calendar: who runs next, the kernel or the network, and what time it is
//! ```
//!
//! [`agent`] runs inside the kernel, with `inside`, `receive` and `routers`; everything else in this
//! process.

pub mod agent;
mod arguments;
mod bottlenecks;
mod calendar;
mod card;
mod console;
pub mod control;
mod devices;
mod drive;
mod failure;
mod frames;
mod guest;
mod inside;
mod machine;
mod place;
mod processors;
mod receive;
mod rings;
mod routers;
mod run;
mod sending;

pub use arguments::Image;

/// Number of hosts' cards: the senders' and the receivers'. Those of routers follow, two each.
const HOSTS: usize = 2;
