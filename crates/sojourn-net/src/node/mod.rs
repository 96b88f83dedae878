//! Nodes: the points where edges meet.
//!
//! A packet that arrives at a node is forwarded along its route, or delivered to its socket where
//! the route ends. Routers and hosts do only that. An active node is a [`Node`]: it gets packets
//! and timers, and may forward, hold, copy or drop, the last with a reason. All its actions go
//! through a [`NodeContext`], which counts them, so that the network can check that a node
//! conserves packets.

mod kind;
mod recorded;

pub use recorded::RecordedNode;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::given::Given;
use crate::observe::Observer;
use crate::packet::{Backlog, Packet, Route};
use crate::queue::DropReason;
use crate::record::NodeSample;
use crate::registry::{self, Catalogue, Entry, Listing, Params, members};
use crate::rng::StreamKey;
use crate::units::Time;

/// What `sojourn new node` writes must compile and pass its own test.
#[cfg(test)]
#[path = "../../../../python/sojourn/templates/node.rs"]
#[allow(clippy::upper_case_acronyms)]
mod template;

members! {
    crate::spec::Node;
    "router" router::Router,
    "shared-tree" shared_tree::SharedTree,
}

/// Facts about a kind of node besides its listing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NodeFacts {
    /// Names of the counters of its nodes besides those of all nodes: columns of samples, no part
    /// of the listing.
    #[serde(skip)]
    pub counters: &'static [&'static str],
}

/// Constructor of a node. Errors: a parameter is unknown, of the wrong type or out of range.
pub type Make = fn(&Map<String, Value>, &NodeInit, &Catalogue) -> Result<Behaviour, FieldError>;

/// Parameters of a node that depend on the network it is in.
#[derive(Clone, Debug)]
pub struct NodeInit {
    /// Names its random draws.
    pub random: StreamKey,
    /// Its number in the network.
    pub number: u16,
    /// Values that the scenario gives its nodes; a node that does not find what it needs works
    /// alone.
    pub given: Given,
}

impl Default for NodeInit {
    fn default() -> Self {
        NodeInit { random: StreamKey::root(0), number: 0, given: Given::default() }
    }
}

/// Behaviour of a node.
pub enum Behaviour {
    /// Packets follow their routes.
    Plain,
    /// An active node.
    Other(Box<dyn Node>),
}

impl Behaviour {
    /// The behaviour of an active node.
    pub fn of(node: impl Node + 'static) -> Self {
        Behaviour::Other(Box::new(node))
    }
}

/// A kind of node that can be registered.
pub trait Registered: Sized + 'static {
    /// Its parameters.
    type Params: Params;
    /// Names of its counters besides those of all nodes, which are columns of samples: up to
    /// [`NodeSample::MOST_COUNTERS`]. Kinds that count the same use the same name.
    const COUNTERS: &'static [&'static str] = &[];

    /// Builds one. Parameters are validated.
    fn behaviour(params: Self::Params, init: &NodeInit) -> Behaviour;
}

/// The entry of the kind `N`, whose `source` begins with its documentation.
pub fn entry<N: Registered>(name: &'static str, source: &'static str) -> Entry<crate::spec::Node> {
    const { assert!(N::COUNTERS.len() <= NodeSample::MOST_COUNTERS, "too many counters") };
    Entry {
        listing: Listing::new::<N::Params>(name, source),
        facts: NodeFacts { counters: N::COUNTERS },
        make: |params, init, catalogue| {
            Ok(N::behaviour(registry::parse_params(params, catalogue)?, init))
        },
    }
}

/// Counters that kinds of nodes name, each once, in the order of the catalogue.
pub fn counters(catalogue: &Catalogue) -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in catalogue.members::<crate::spec::Node>().iter().flat_map(|kind| kind.facts.counters)
    {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

/// An active node.
pub trait Node: Send {
    /// A packet has arrived over the edge whose index is `from`.
    fn on_packet(&mut self, now: Time, from: usize, packet: Packet, cx: &mut NodeContext<'_>);

    /// When `on_timer` should be called next, if at all.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time asked for has come.
    fn on_timer(&mut self, _now: Time, _cx: &mut NodeContext<'_>) {}

    /// Packets that the node holds.
    fn held(&self) -> Backlog {
        Backlog::default()
    }

    /// Backlog of its queues: the packets it holds, or data taken out of packets.
    fn waiting(&self) -> Backlog {
        self.held()
    }

    /// Names and values of internal state worth recording.
    fn observe(&self, _out: &mut Observer<'_>) {}
}

/// An outgoing edge of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Index of the edge.
    pub edge: usize,
    /// Number of the node at its far end; `None` if that stands for many hosts.
    pub to: Option<usize>,
}

/// Counters of a node's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCounters {
    /// Packets that arrived over edges.
    pub received: u64,
    /// Copies made of packets.
    pub copied: u64,
    /// Packets created by the node.
    pub created: u64,
    /// Packets forwarded.
    pub sent: u64,
    /// Packets delivered to sockets here.
    pub delivered: u64,
    /// Packets whose destination was the node itself.
    pub absorbed: u64,
    /// Packets dropped, by [`DropReason`].
    pub drops: [u64; DropReason::COUNT],
    /// Counters of its kind, in the order of [`Registered::COUNTERS`].
    pub own: [u64; NodeSample::MOST_COUNTERS],
}

impl NodeCounters {
    /// Whether every packet that arrived or was made has left, was dropped, or is among the `held`
    /// ones.
    pub fn is_balanced(&self, held: Backlog) -> bool {
        let dropped: u64 = self.drops.iter().sum();
        self.received + self.copied + self.created
            == self.sent + self.delivered + self.absorbed + dropped + held.packets
    }
}

/// An action of a node on a packet; actions are carried out in order when it returns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Forward along its route, or deliver to its socket where that ends.
    Forward(Packet),
    /// Send out of this port.
    Send(Port, Packet),
}

/// Interface by which a node acts on packets; there is no other.
pub struct NodeContext<'a> {
    pub(crate) ports: &'a [Port],
    pub(crate) counters: &'a mut NodeCounters,
    pub(crate) actions: &'a mut Vec<Action>,
}

impl<'a> NodeContext<'a> {
    /// The outgoing edges, in the order in which they were added to the network.
    pub fn ports(&self) -> &'a [Port] {
        self.ports
    }

    /// Forwards a packet along its route, or delivers it to its socket where the route ends.
    pub fn forward(&mut self, packet: Packet) {
        self.actions.push(Action::Forward(packet));
    }

    /// Sends a packet out of one of the node's ports, in place of the next edge of its route. Where
    /// the port leads to a router or a host, its route must continue from there, or end.
    pub fn send(&mut self, port: Port, packet: Packet) {
        self.actions.push(Action::Send(port, packet));
    }

    /// A copy of this packet, along another route to another socket; [`Route::default`] has no
    /// edges, for a packet that is sent out of a port.
    #[must_use]
    pub fn copy(&mut self, packet: &Packet, route: Route, socket: u32) -> Packet {
        self.counters.copied += 1;
        Packet { route, socket, hop: 0, ..*packet }
    }

    /// Counts a packet created by the node, which may be sent or held like any other.
    #[must_use]
    pub fn create(&mut self, packet: Packet) -> Packet {
        self.counters.created += 1;
        packet
    }

    /// Adds to one of the counters that the node's kind names, by its index in
    /// [`Registered::COUNTERS`].
    ///
    /// # Panics If `counter` is not below [`NodeSample::MOST_COUNTERS`].
    pub fn count(&mut self, counter: usize, amount: u64) {
        self.counters.own[counter] += amount;
    }

    /// Ends a packet whose destination is the node itself.
    pub fn absorb(&mut self, _packet: &Packet) {
        self.counters.absorbed += 1;
    }

    /// Drops a packet.
    pub fn drop(&mut self, _packet: Packet, reason: DropReason) {
        self.counters.drops[reason as usize] += 1;
    }
}
