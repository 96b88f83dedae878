//! The queues of a node: one per destination, and one per multicast group with a depth for each
//! destination. Backpressure reads their depths.

mod bin;
mod bins;
mod depth;
mod group;
mod groups;
mod packets;
mod starvation;
mod zombies;

pub use bin::Bin;
pub use bins::Bins;
pub use depth::Shown;
pub use groups::Groups;
pub use packets::Gradients;
pub use starvation::INTERVAL as RELIEF_INTERVAL;
pub use zombies::Reduction;

/// How deep a queue is searched for a packet that can arrive in time, in bytes beside what a transmit
/// queue takes.
pub const SEARCH: u64 = 5_000;
/// Bytes of a zombie that is sent at most (`kMaxZombieLenBytes`; they go in full size, as in the public
/// program unless it is built to compress them).
pub const ZOMBIE: u64 = 1_024;
