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

pub(super) use bin::Bin;
pub(super) use bins::Bins;
pub(super) use depth::Shown;
pub(super) use groups::Groups;
pub(super) use packets::Gradients;
pub(super) use starvation::INTERVAL as RELIEF_INTERVAL;
pub(crate) use zombies::Reduction;

/// How deep a queue is searched for a packet that can arrive in time, in bytes beside what a transmit
/// queue takes.
pub(super) const SEARCH: u64 = 5_000;
/// Bytes of a zombie that is sent at most (`kMaxZombieLenBytes`; they go in full size, as in the public
/// program unless it is built to compress them).
pub(super) const ZOMBIE: u64 = 1_024;
