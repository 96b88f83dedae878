//! Multicast over backpressure in slots of time: what queues, virtual queues, signals and network
//! coding do to rates and delays, without transports and packet formats.
//!
//! Model: GNAT's mobsim (`simulation/mobsim` of raytheonbbn/IRON), with which section 2.2 of its report
//! (2021) was made, and its two signalling strategies and network coding for sections 2.1 and 2.4,
//! which were made with ns-3. In a slot packets are admitted, depths are told to neighbours, queues are
//! forwarded by their gradients into links that hold six packets, and links give out what is due.
//!
//! | part | file |
//! | --- | --- |
//! | what is simulated, what comes out | `spec`, `outcome` |
//! | slots | `simulation` |
//! | a node: gradients, which packet goes | `node`, `gradients` |
//! | packets without coding, and with it | `queue`, `coding` |
//! | when zombies are added | `shortening` |
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
