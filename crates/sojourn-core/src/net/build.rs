//! Puts a network together: nodes first, then edges between them, then routes over these.

use super::event::{EventQueue, Target};
use super::routes::RouteTable;
use super::{Alarm, EdgeFacts, MediumSlot, Network, NodeKind, NodeSlot, PLAIN};
use crate::edge::{Edge, Link, Medium};
use crate::node::{Node, NodeCounters, Port};
use crate::packet::Route;
use crate::units::Time;

/// Packets count the edges they have passed in a byte.
const LONGEST_ROUTE: usize = 255;

/// A network under construction.
#[derive(Default)]
pub struct Builder {
    edges: Vec<Edge>,
    /// Where each edge leads: from, to.
    ends: Vec<(usize, usize)>,
    ids: Vec<String>,
    media: Vec<MediumSlot>,
    nodes: Vec<NodeSlot>,
    routes: RouteTable,
}

impl Builder {
    /// Nothing yet.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Adds a router or a host, which follow routes; its number.
    pub fn plain_node(&mut self, name: &str) -> usize {
        self.add_node(name, NodeKind::Plain)
    }

    /// Adds a node that decides itself; its number.
    pub fn node(&mut self, name: &str, node: Box<dyn Node>) -> usize {
        self.add_node(name, NodeKind::Other(node))
    }

    fn add_node(&mut self, name: &str, kind: NodeKind) -> usize {
        self.nodes.push(NodeSlot {
            name: name.to_owned(),
            kind,
            ports: Vec::new(),
            counters: NodeCounters::default(),
            alarm: Alarm::default(),
        });
        self.nodes.len() - 1
    }

    /// Adds a link between two nodes; its index.
    pub fn link(&mut self, id: &str, [from, to]: [usize; 2], link: Link) -> usize {
        self.edge(id, from, to, Edge::Link(link))
    }

    /// Adds a shared medium without channels; its index.
    pub fn medium(&mut self, medium: Box<dyn Medium>) -> usize {
        let alarm = Alarm::default();
        self.media.push(MediumSlot { medium, channels: Vec::new(), alarm });
        self.media.len() - 1
    }

    /// Adds a channel of a medium between two nodes; its index as an edge.
    pub fn channel(&mut self, id: &str, [from, to]: [usize; 2], medium: usize) -> usize {
        let slot = &mut self.media[medium];
        let channel = slot.channels.len() as u32;
        slot.channels.push(self.edges.len() as u32);
        self.edge(id, from, to, Edge::Channel { medium: medium as u32, channel })
    }

    fn edge(&mut self, id: &str, from: usize, to: usize, edge: Edge) -> usize {
        let index = self.edges.len();
        self.edges.push(edge);
        self.ids.push(id.to_owned());
        self.ends.push((from, to));
        self.nodes[from].ports.push(Port { edge: index, to });
        index
    }

    /// The route over these edges, at most 255.
    pub fn route(&mut self, edges: &[u32]) -> Route {
        debug_assert!(edges.len() <= LONGEST_ROUTE, "packets cannot count so many edges");
        self.routes.add(edges)
    }

    /// The network, at time zero.
    pub fn build(self) -> Network {
        let decides = |node: usize| matches!(self.nodes[node].kind, NodeKind::Other(_));
        let decider = |&(_, to): &(usize, usize)| if decides(to) { to as u32 } else { PLAIN };
        let mut network = Network {
            now: Time::ZERO,
            steps: 0,
            events: EventQueue::default(),
            edge_alarms: vec![Alarm::default(); self.edges.len()],
            deciders: self.ends.iter().map(decider).collect(),
            edge_facts: self.ids.into_iter().map(|id| EdgeFacts { id }).collect(),
            edges: self.edges,
            media: self.media,
            nodes: self.nodes,
            routes: self.routes,
            direct: Default::default(),
            actions: Vec::new(),
        };
        for node in 0..network.nodes.len() {
            network.start_node(node);
        }
        network
    }
}

impl Network {
    /// A node may want to be called before any packet comes.
    fn start_node(&mut self, node: usize) {
        let slot = &mut self.nodes[node];
        let NodeKind::Other(other) = &slot.kind else { return };
        let want = other.next_timer().unwrap_or(Time::NEVER);
        if let Some(time) = slot.alarm.arm(want) {
            self.schedule(time, Target::Node(node as u32));
        }
    }
}
