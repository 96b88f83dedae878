//! Programs inside a kernel: their hosts, the files that they see, what they do and leave.
//!
//! All of it happens in the process of the agent, the first one inside, in a thread beside the
//! agent's own.

mod copies;
mod hosts;
mod process;
mod programs;
mod root;

pub(super) use hosts::make;
pub(super) use programs::{Guest, prepare};
