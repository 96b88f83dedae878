//! Multicast over backpressure in time slots: effects of queues, virtual queues, signals and
//! network coding on rates and delays, without transports and packet formats.
//!
//! Model: GNAT's mobsim (`simulation/mobsim` of raytheonbbn/IRON), with which section 2.2 of its
//! report (2021) was made, and its two signalling strategies and network coding for sections 2.1
//! and 2.4, which were made with ns-3. In a slot packets are admitted, depths are reported to
//! neighbours, queues are forwarded by their gradients into links that hold six packets, and links
//! deliver the packets that are due.
//!
//! | part | file |
//! | --- | --- |
//! | models, and their results | `spec`, `outcome` |
//! | simulation of slots | `simulation` |
//! | a node: gradients, choice of the packet to send | `node`, `gradients` |
//! | queues of packets, without and with coding | `queue`, `coding` |
//! | addition of zombies | `shortening` |
//! | learning virtual queues by dual gradients | `learning` |

mod coding;
mod gradients;
mod learning;
mod node;
mod outcome;
mod queue;
mod shortening;
mod simulation;
mod spec;
#[cfg(test)]
mod tests;

pub use outcome::Outcome;
pub use simulation::run;
pub use spec::{LinkSpec, Model, Queues, Signals, StreamSpec};

/// A set of nodes, as bits.
type Set = u32;

/// The nodes of a set.
fn nodes(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let node = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(node)
    })
}
