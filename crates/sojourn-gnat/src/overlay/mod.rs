//! Overlay node: forwards by backpressure over every path, and admits flows by their utility.
//!
//! Model: GNAT (Raytheon BBN, "Generalized Network Assisted Transport", 2021, chapter 4), and where
//! the report does not specify a detail the program behind it (raytheonbbn/IRON). The overlay of a
//! [graph](scenario.md#graph) is all its nodes of this kind; links that join two of them carry it.
//! It carries the flows with a [`service`](scenario.md#services) that begin and end at such nodes;
//! other packets are forwarded along their routes.
//!
//! A proxy where a flow begins admits its packets at the rate that maximises its utility less the
//! price, the depth of the queue for its destination. Each node has a queue per destination. A
//! packet goes from the queue and to the neighbour with the largest gradient: depth here less depth
//! there, where a destination's hops count 1,100 bytes each. Latency-sensitive packets (with a
//! `deadline`) go first, and only to neighbours by which they can arrive in time and that they have
//! not passed: by any path that does not return to this node, or (`multipath = "conditioned"`) by
//! paths through no node that the packet has passed. Those with the least time to the deadline on
//! arrival are first; one that could arrive only by a neighbour that it has passed is sent at once.
//! Neighbours are connected by [SLIQ](sliq.md), which estimates the capacity, retransmits up to
//! five times, and detects outages. Depths are sent to neighbours as packets, in 1 % of the
//! capacity. Working links are advertised to all nodes, with mean and standard deviation of
//! packets' delays since they entered the transmit queue; along a path means and variances add up,
//! and its delay counts as the mean and 2.2 deviations. Supervisory control turns inelastic flows
//! off that cannot be served, because of too little capacity or of packets that arrive too late,
//! and lets one at a time try again.
//!
//! | part | module |
//! | --- | --- |
//! | messages between nodes, and their sizes | `message` |
//! | numbers of applications' flows | `numbers` |
//! | datagrams and connections of applications, for a node that is a program | `applications` |
//! | links, hops and latencies; gradients; advertisements | `routing` |
//! | queues, their advertised depths, zombies, relief of starvation | `queue` |
//! | admission control of flows | `admission` |
//! | path controllers and transmit queues, delays to neighbours | `link` |
//! | forwarding decisions: gradients, deadlines, copies | `forwarding` |
//! | proxies where flows enter and leave; missing packets at receivers | `proxy` |
//! | choice of the inelastic flows that fit, or may try | `supervision` |
//! | the node, which combines these | `node` |
//!
//! TCP proxies end a flow's connections where it begins and where it ends, and acknowledge each
//! segment. Between them only buffers limit, no window, and a missing segment is retransmitted an
//! RTT and four deviations after one sent later has arrived, since packets take several paths.
//!
//! Multicast: flows with a `group` in their service. A group has a queue with a depth for each
//! destination. A packet carries the set of its destinations. The gradient of a group to a
//! neighbour is the sum of those destinations' gradients that are positive; of packets and of
//! zombies separately, and the larger one counts. The packet is sent whose destinations have most
//! of the gradient, to them alone: a copy stays for the others. It is also sent to destinations
//! whose gradient is negative but not below -4,000 bytes and nowhere better (`opportunistic`).
//! Zombies and relief of starvation are per destination. A flow's price is the largest depth among
//! its receivers.
//!
//! Deviations from the program: a packet is processed at the instant of its arrival; a flow's
//! priority and utility are configured with the flow (`service`), not by port; of a datagram
//! between nodes that a link delivers twice, the first counts. One was chosen because of an
//! outcome: the delay of a packet excludes that of its ACK, which the program includes. With it, an
//! idle link of 10 ms counts as 42 to 54 ms, and the flow with 39 ms to go in section 4.18 of the
//! report gets nothing, where the report has it served; the delays of the links there are ours,
//! since none are printed.
//!
//! Observes: `depth.N`, `zombies.N` (bytes, for node N), `packets.N`, `window.N` (s); `capacity.N`
//! (bit/s), `latency.N` (mean, s), `rtt.N` (s), `works.N` for neighbour N; `flow_admitted.N`,
//! `flow_refused.N` for datagram flow N that begins here; `admitted`, `delivered`, `expired`,
//! `refused`, `held`, `copied` (packets). A node that is a program also observes `clock.N` (s, by which
//! neighbour N's clock is ahead) and `lost.N` (packets that a connection held when it began anew).

mod admission;
mod applications;
mod config;
mod forwarding;
mod link;
mod members;
pub mod message;
mod node;
mod numbers;
mod orders;
mod params;
mod proxy;
mod queue;
mod routing;
mod supervision;

pub use applications::{ApplicationCounts, Applications, DatagramKey, Event, Opening, To};
pub use config::{
    FlowTransport, GroupOfApplications, Largest, LastNumber, OverlayConfig, OverlayFlow,
};
pub use link::Mailboxes;
pub use message::{Bounds, Cargo, WireTimes};
pub use node::Overlay;
pub use orders::{Order, Orders};
pub use params::Params;
pub(crate) use queue::Reduction;
