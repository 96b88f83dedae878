//! Construction of a network: nodes first, then edges between them, then routes over edges.

use super::event::{EventQueue, Target};
use super::routes::RouteTable;
use super::{Alarm, EdgeFacts, MediumSlot, Network, NodeSlot, PLAIN, Turn};
use crate::edge::{Edge, Link, Medium};
use crate::error::FieldError;
use crate::node::{Behaviour, NodeCounters, Port, RecordedNode};
use crate::packet::Route;
use crate::record::live::Log;
use crate::spec::Recorded;
use crate::units::Time;

/// A packet counts its hops in a byte.
const LONGEST_ROUTE: usize = 255;

/// A network under construction.
#[derive(Default)]
pub struct Builder {
    edges: Vec<Edge>,
    facts: Vec<EdgeFacts>,
    media: Vec<MediumSlot>,
    nodes: Vec<NodeSlot>,
    routes: RouteTable,
    log: Option<Log>,
}

impl Builder {
    /// An empty network.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Records the state of active nodes to `log`, if it records queues.
    pub fn record(&mut self, log: Log) {
        self.log = Some(log);
    }

    /// Adds a router or a host, which follow routes; returns its number.
    pub fn plain_node(&mut self, name: &str) -> usize {
        self.node(name, Behaviour::Plain)
    }

    /// Adds a node; returns its number.
    pub fn node(&mut self, name: &str, behaviour: Behaviour) -> usize {
        self.nodes.push(NodeSlot {
            name: name.to_owned(),
            behaviour,
            ports: Vec::new(),
            counters: NodeCounters::default(),
            named: &[],
            alarm: Alarm::default(),
        });
        self.nodes.len() - 1
    }

    /// Sets the behaviour of a node that was added as a plain one: an active node may need the
    /// routes over its edges, which are made after nodes and edges.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn set_behaviour(&mut self, node: usize, behaviour: Behaviour) -> Result<(), FieldError> {
        self.slot(node)?.behaviour = behaviour;
        Ok(())
    }

    /// Names the counters of a node's kind, in their order, as samples show them. A counter without
    /// a name is not shown.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn name_counters(
        &mut self,
        node: usize,
        names: &'static [&'static str],
    ) -> Result<(), FieldError> {
        self.slot(node)?.named = names;
        Ok(())
    }

    fn slot(&mut self, node: usize) -> Result<&mut NodeSlot, FieldError> {
        let none = || FieldError::new("node", format!("there is no node {node}"));
        self.nodes.get_mut(node).ok_or_else(none)
    }

    /// Adds a link from one node to another; returns its index as an edge. An end that is `None`
    /// stands for many hosts, as for an access link that they share.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn link(
        &mut self,
        id: &str,
        ends: [Option<usize>; 2],
        link: Link,
    ) -> Result<usize, FieldError> {
        self.edge(id, ends, Edge::Link(link))
    }

    /// Adds a shared medium without channels; returns its index.
    pub fn medium(&mut self, medium: Box<dyn Medium>) -> usize {
        let alarm = Alarm::default();
        self.media.push(MediumSlot { medium, channels: Vec::new(), alarm });
        self.media.len() - 1
    }

    /// Adds a channel of a medium from one node to another; returns its index as an edge.
    ///
    /// # Errors
    /// If there is no such node or medium.
    pub fn channel(
        &mut self,
        id: &str,
        ends: [Option<usize>; 2],
        medium: usize,
    ) -> Result<usize, FieldError> {
        let Some(slot) = self.media.get(medium) else {
            return Err(FieldError::new(id, format!("there is no medium {medium}")));
        };
        let channel = slot.channels.len() as u32;
        let edge = self.edge(id, ends, Edge::Channel { medium: medium as u32, channel })?;
        self.media[medium].channels.push(edge as u32);
        Ok(edge)
    }

    fn edge(
        &mut self,
        id: &str,
        ends: [Option<usize>; 2],
        edge: Edge,
    ) -> Result<usize, FieldError> {
        if let Some(node) = ends.into_iter().flatten().find(|node| *node >= self.nodes.len()) {
            return Err(FieldError::new(id, format!("there is no node {node}")));
        }
        let index = self.edges.len();
        if let [Some(from), to] = ends {
            self.nodes[from].ports.push(Port { edge: index, to });
        }
        self.edges.push(edge);
        self.facts.push(EdgeFacts { id: id.to_owned(), ends });
        Ok(index)
    }

    /// Adds the route over these edges, at most 255, each of which begins where the one before
    /// ends.
    ///
    /// # Errors
    /// If there is no such edge, if two of them do not join, or if there are too many.
    pub fn route(&mut self, edges: &[usize]) -> Result<Route, FieldError> {
        let wrong = |message: String| Err(FieldError::new("route", message));
        if edges.len() > LONGEST_ROUTE {
            let given = edges.len();
            return wrong(format!("{given} links; allowed: at most {LONGEST_ROUTE}"));
        }
        if let Some(edge) = edges.iter().find(|edge| **edge >= self.edges.len()) {
            return wrong(format!("there is no edge {edge}"));
        }
        for pair in edges.windows(2) {
            let [before, after] = [pair[0], pair[1]].map(|edge| &self.facts[edge]);
            if !before.joins(after) {
                return wrong(format!("'{}' does not begin where '{}' ends", after.id, before.id));
            }
        }
        Ok(self.routes.add(edges))
    }

    /// The network, at time zero.
    pub fn build(mut self) -> Network {
        if let Some(log) = self.log.take() {
            self.nodes = self.nodes.into_iter().map(|slot| recorded(slot, &log)).collect();
        }
        let decides = |node: usize| matches!(self.nodes[node].behaviour, Behaviour::Other(_));
        let turn = |facts: &EdgeFacts| Turn {
            alarm: Alarm::default(),
            decider: facts.ends[1].filter(|to| decides(*to)).map_or(PLAIN, |to| to as u32),
        };
        let mut network = Network {
            now: Time::ZERO,
            steps: 0,
            events: EventQueue::default(),
            edge_turns: self.facts.iter().map(turn).collect(),
            edge_facts: self.facts,
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

/// The same node; an active one is recorded if `log` records queues and nodes.
fn recorded(mut slot: NodeSlot, log: &Log) -> NodeSlot {
    let component = format!("node.{}", slot.name);
    slot.behaviour = match slot.behaviour {
        Behaviour::Other(node) => match log.watch(Recorded::Queue, &component) {
            Some(watch) => Behaviour::of(RecordedNode::new(node, watch)),
            None => Behaviour::Other(node),
        },
        plain @ Behaviour::Plain => plain,
    };
    slot
}

impl Network {
    /// Schedules the timer of a node, which may be due before any packet comes.
    pub(super) fn start_node(&mut self, node: usize) {
        let slot = &mut self.nodes[node];
        let Behaviour::Other(other) = &slot.behaviour else { return };
        let want = other.next_timer().unwrap_or(Time::NEVER);
        if let Some(time) = slot.alarm.arm(want) {
            self.schedule(time, Target::Node(node as u32));
        }
    }
}
