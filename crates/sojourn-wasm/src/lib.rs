//! The simulator for a web page: a scenario goes in as text, columns come out as one block of memory.
//!
//! One run at a time, on one thread, without files, clocks or Python. [`Session`] is a run as a page
//! does it: refused with the place in the text, within [`limits`], its controls' modes looked at,
//! its numbers summed up by [`summary`] as the package does. [`abi`] is what a page calls.

pub mod abi;
mod block;
mod elsewhere;
pub mod limits;
mod modes;
mod place;
pub mod refusal;
pub mod session;
pub mod summary;
mod version;

pub use refusal::Refusal;
pub use session::Session;
