//! A kernel in virtual time: User-Mode Linux, whose clock and network cards are in this process.
//!
//! ```text
//! kernel: senders' namespace           this process                receivers' namespace :kernel
//! sockets -> virtio card -> Virtual -> Network: edges, queues -> Virtual -> virtio card -> sockets
//!             Calendar: who runs next, the kernel or the network, and what time it is
//! ```
//!
//! [`agent`] runs inside the kernel; all else outside.

pub mod agent;
mod calendar;
mod card;
pub mod control;
mod devices;
mod drive;
mod failure;
mod frames;
mod guest;
mod rings;
mod run;

pub use guest::Image;
