//! Nodes: where edges meet.
//!
//! A packet that comes to a node goes on along its route, or to its socket where the route ends. A
//! router and a host do just that. Any other behaviour is a [`Node`]: it gets packets and timers, and
//! may forward, hold, copy or drop, the latter for a reason. All of it goes through a
//! [`NodeContext`], which counts, so that the network can check that a node neither loses nor makes
//! packets.

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

/// What is known of a kind of node besides its listing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NodeFacts {
    /// What its nodes count besides what all do, by name: columns of samples, no part of the listing.
    #[serde(skip)]
    pub counters: &'static [&'static str],
}

/// How a node is built. Errors: a parameter is unknown, of the wrong type or out of range.
pub type Make = fn(&Map<String, Value>, &NodeInit, &Catalogue) -> Result<Behaviour, FieldError>;

/// What a node is told about its place.
#[derive(Clone, Debug)]
pub struct NodeInit {
    /// Names its random draws.
    pub random: StreamKey,
    /// Its number in the network.
    pub number: u16,
    /// What the scenario gives its nodes; one that is not given what it looks for stands alone.
    pub given: Given,
}

impl Default for NodeInit {
    fn default() -> Self {
        NodeInit { random: StreamKey::root(0), number: 0, given: Given::default() }
    }
}

/// What a kind of node comes to.
pub enum Behaviour {
    /// Packets follow their routes.
    Plain,
    /// The node decides itself.
    Other(Box<dyn Node>),
}

impl Behaviour {
    /// That of a node that decides itself.
    pub fn of(node: impl Node + 'static) -> Self {
        Behaviour::Other(Box::new(node))
    }
}

/// A kind of node that can be registered.
pub trait Registered: Sized + 'static {
    /// Its parameters.
    type Params: Params;
    /// What it counts besides what all nodes do: the names of columns of samples, up to
    /// [`NodeSample::MOST_COUNTERS`]. Kinds that count the same give it the same name.
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

/// The counters that kinds of nodes name, each once, in the order of the catalogue.
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

/// What happens at a node.
pub trait Node: Send {
    /// A packet has come to the node, over the edge whose index is `from`.
    fn on_packet(&mut self, now: Time, from: usize, packet: Packet, cx: &mut NodeContext<'_>);

    /// When `on_timer` wants to be called next, if at all.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time asked for has come.
    fn on_timer(&mut self, _now: Time, _cx: &mut NodeContext<'_>) {}

    /// Packets that it holds.
    fn held(&self) -> Backlog {
        Backlog::default()
    }

    /// What waits in its queues: what it holds, or what it has taken out of packets.
    fn waiting(&self) -> Backlog {
        self.held()
    }

    /// Names and values of internal state worth recording.
    fn observe(&self, _out: &mut Observer<'_>) {}
}

/// A way out of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Index of the edge.
    pub edge: usize,
    /// Number of the node it leads to, unless it stands for many.
    pub to: Option<usize>,
}

/// What a node has done with packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCounters {
    /// Packets that came over edges.
    pub received: u64,
    /// Copies it made of packets.
    pub copied: u64,
    /// Packets of its own.
    pub created: u64,
    /// Packets sent on.
    pub sent: u64,
    /// Packets given to sockets here.
    pub delivered: u64,
    /// Packets that ended at the node itself.
    pub absorbed: u64,
    /// Packets dropped, by [`DropReason`].
    pub drops: [u64; DropReason::COUNT],
    /// What its kind counts besides, in the order of [`Registered::COUNTERS`].
    pub own: [u64; NodeSample::MOST_COUNTERS],
}

impl NodeCounters {
    /// Whether every packet that came in or was made has gone out, was dropped, or is among the
    /// `held` ones.
    pub fn is_balanced(&self, held: Backlog) -> bool {
        let dropped: u64 = self.drops.iter().sum();
        self.received + self.copied + self.created
            == self.sent + self.delivered + self.absorbed + dropped + held.packets
    }
}

/// What a node wants done with a packet; carried out in order when it returns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// Along its route, or to its socket where that ends.
    Forward(Packet),
    /// Out of this port.
    Send(Port, Packet),
}

/// The only way for a node to do anything with packets.
pub struct NodeContext<'a> {
    pub(crate) ports: &'a [Port],
    pub(crate) counters: &'a mut NodeCounters,
    pub(crate) actions: &'a mut Vec<Action>,
}

impl<'a> NodeContext<'a> {
    /// The ways out, in the order in which they were added to the network.
    pub fn ports(&self) -> &'a [Port] {
        self.ports
    }

    /// Sends a packet on along its route, or gives it to its socket where the route ends.
    pub fn forward(&mut self, packet: Packet) {
        self.actions.push(Action::Forward(packet));
    }

    /// Sends a packet out of one of the node's ports, in place of the next edge of its route. Where
    /// the port leads to a router or a host, its route has to go on from there, or to end.
    pub fn send(&mut self, port: Port, packet: Packet) {
        self.actions.push(Action::Send(port, packet));
    }

    /// Another packet like this one, along another route to another socket; [`Route::default`] ends
    /// at once, for a packet that is sent out of a port.
    #[must_use]
    pub fn copy(&mut self, packet: &Packet, route: Route, socket: u32) -> Packet {
        self.counters.copied += 1;
        Packet { route, socket, hop: 0, ..*packet }
    }

    /// Announces a packet of the node's own, to be sent or held like any other.
    #[must_use]
    pub fn create(&mut self, packet: Packet) -> Packet {
        self.counters.created += 1;
        packet
    }

    /// Adds to one of the counters that the node's kind names, which has this place among
    /// [`Registered::COUNTERS`].
    ///
    /// # Panics
    /// If no kind can have so many.
    pub fn count(&mut self, counter: usize, amount: u64) {
        self.counters.own[counter] += amount;
    }

    /// Takes a packet in for good: it was for the node itself.
    pub fn absorb(&mut self, _packet: &Packet) {
        self.counters.absorbed += 1;
    }

    /// Drops a packet.
    pub fn drop(&mut self, _packet: Packet, reason: DropReason) {
        self.counters.drops[reason as usize] += 1;
    }
}
