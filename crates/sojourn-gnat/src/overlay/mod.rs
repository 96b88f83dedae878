//! Overlay node: forwards by backpressure over every path, and admits flows by their utility.
//!
//! Model: GNAT (Raytheon BBN, "Generalized Network Assisted Transport", 2021, chapter 4), and where
//! the report is silent the program behind it (raytheonbbn/IRON). The overlay of a
//! [graph](scenario.md#graph) is all its nodes of this kind; links that join two of them carry it.
//! It carries the flows with a [`service`](scenario.md#services) that begin and end at such nodes;
//! other packets are passed on along their routes.
//!
//! A proxy where a flow begins admits its packets at the rate that maximises its utility less the
//! price, the depth of the queue for its destination. Each node has a queue per destination. A packet
//! goes from the queue and to the neighbour with the largest gradient: depth here less depth there,
//! where a destination's hops count 1,100 bytes each. Latency-sensitive packets (with a `deadline`)
//! go first, and only to neighbours by which they can arrive in time and that they have not come through:
//! by any way that does not come back to this node, or (`multipath = "conditioned"`) by ways through no
//! node that the packet has come through. Those that had least time to go when they came are first; one
//! that could arrive only by a neighbour that it has come through goes at once. Neighbours are joined by
//! [SLIQ](sliq.md), which finds out the capacity, retransmits up to five times, and notices
//! outages. Depths are told to neighbours as packets, in 1 % of the capacity. Working links are advertised
//! to all nodes, with mean and standard deviation of how long packets take from when they come into the
//! transmit queue; along a way means and variances add up, and it counts as the mean and 2.2 deviations.
//! Supervisory control turns inelastic flows off that cannot be served, for too little capacity or for
//! packets that come too late, and lets one at a time try.
//!
//! | part | module |
//! | --- | --- |
//! | what nodes send each other, and its size | `message` |
//! | links, hops and latencies; gradients; advertisements | `routing` |
//! | queues, what they show, zombies, against starvation | `queue` |
//! | how flows are admitted | `admission` |
//! | path controllers and transmit queues, delays to neighbours | `link` |
//! | what goes where: gradients, deadlines, copies | `forwarding` |
//! | where flows come in and go out; what receivers miss | `proxy` |
//! | which inelastic flows fit, and try | `supervision` |
//! | the node, which puts these together | `node` |
//!
//! TCP proxies end a flow's connections where it begins and where it ends, and acknowledge each segment.
//! Between them no window limits but buffers, and what is missing goes again an RTT and four deviations
//! after something sent later has arrived, since packets take several ways.
//!
//! Multicast: flows with a `group` in their service. A group has a queue with a depth for each
//! destination. A packet carries the set of its destinations. The gradient of a group to a neighbour
//! is the sum of those destinations' gradients that are positive; of packets and of zombies apart, and
//! the larger one counts. The packet goes whose destinations have most of the gradient, to them alone:
//! what stays behind is a copy. With it go destinations whose gradient is negative but not below -4,000
//! bytes and nowhere better (`opportunistic`). Zombies and relief of starvation are each destination's.
//! A flow's price is the largest depth among its receivers.
//!
//! Deviations from the program: a packet is handled at the instant at which it comes; a flow's
//! priority and utility come with the flow (`service`), not by port; how long a packet takes leaves out how
//! long its ACK waited; of a datagram between nodes that a link delivers twice, the first counts.
//!
//! Observes: `depth.N`, `zombies.N` (bytes, for node N), `window.N` (s); `capacity.N` (bit/s),
//! `latency.N` (mean, s), `works.N` for neighbour N; `admitted`, `delivered`, `expired`, `refused`,
//! `held`, `copied` (packets).

mod admission;
mod config;
mod forwarding;
mod link;
mod members;
pub mod message;
mod node;
mod params;
mod proxy;
mod queue;
mod routing;
mod supervision;

pub use config::{FlowTransport, OverlayConfig, OverlayFlow};
pub use link::Mailboxes;
pub use node::Overlay;
pub use params::Params;
pub(crate) use queue::Reduction;
