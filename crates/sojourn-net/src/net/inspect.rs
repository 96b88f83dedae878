//! Inspection of a network: counters of edges and nodes, and the check that packets are conserved.

use super::{Network, Step};
use crate::edge::{Edge, Link};
use crate::node::{Behaviour, NodeCounters};
use crate::observe::Observer;
use crate::packet::Backlog;
use crate::record::histogram::Histogram;
use crate::record::{LinkCounters, NodeSample};

impl Network {
    /// Checks that every edge and every node conserves packets.
    ///
    /// # Errors
    /// Names the first that does not.
    pub fn check(&mut self) -> Step {
        let holds = "neither loses nor makes packets";
        for edge in 0..self.edges.len() {
            let held = self.held(edge);
            if !self.report(edge).is_balanced(held) {
                return Err(self.fault(format!("link {}", self.edge_facts[edge].id), holds));
            }
        }
        for node in &self.nodes {
            if let Behaviour::Other(other) = &node.behaviour
                && !node.counters.is_balanced(other.held())
            {
                return Err(self.fault(format!("node {}", node.name), holds));
            }
        }
        Ok(())
    }

    /// Counters of an edge, brought up to the present time.
    pub fn report(&mut self, edge: usize) -> LinkCounters {
        match &mut self.edges[edge] {
            Edge::Link(link) => link.report(self.now),
            Edge::Channel { medium, channel } => {
                self.media[*medium as usize].medium.report(self.now, *channel as usize)
            }
            // What entered an edge outside counts there.
            Edge::FarEnd(_) | Edge::Outside(_) | Edge::Elsewhere => LinkCounters::default(),
        }
    }

    /// The edge with this id.
    pub fn edge(&self, id: &str) -> Option<usize> {
        self.edge_facts.iter().position(|facts| facts.id == id)
    }

    /// Packets in an edge.
    pub fn held(&self, edge: usize) -> Backlog {
        match &self.edges[edge] {
            Edge::Link(link) => link.held(),
            Edge::Channel { medium, channel } => {
                self.media[*medium as usize].medium.held(*channel as usize)
            }
            // The near end counts a packet that has left it as arrived.
            Edge::FarEnd(_) | Edge::Outside(_) | Edge::Elsewhere => Backlog::default(),
        }
    }

    /// Sojourn times in an edge's queue since the end of the warm-up.
    pub fn sojourn_histogram(&self, edge: usize) -> Option<&Histogram> {
        match &self.edges[edge] {
            Edge::Link(link) => link.sojourn_histogram(),
            Edge::Channel { medium, channel } => {
                self.media[*medium as usize].medium.sojourn_histogram(*channel as usize)
            }
            Edge::FarEnd(_) | Edge::Outside(_) | Edge::Elsewhere => None,
        }
    }

    /// A node's name.
    pub fn node_name(&self, node: usize) -> &str {
        &self.nodes[node].name
    }

    /// A node's counters of packets.
    pub fn node_counters(&self, node: usize) -> &NodeCounters {
        &self.nodes[node].counters
    }

    /// Samples of the active nodes, by node number.
    pub fn sample_nodes(&self) -> impl Iterator<Item = (usize, NodeSample)> {
        self.nodes.iter().enumerate().filter_map(|(number, node)| match &node.behaviour {
            Behaviour::Plain => None,
            Behaviour::Other(other) => {
                let NodeCounters { received, sent, delivered, drops, own, .. } = node.counters;
                let sample = NodeSample {
                    waiting: other.waiting(),
                    received_packets: received,
                    sent_packets: sent,
                    delivered_packets: delivered,
                    drops: drops.iter().sum(),
                    counts: own,
                    counters: node.named,
                };
                Some((number, sample))
            }
        })
    }

    /// Names and values of an active node's state.
    pub fn observe(&self, node: usize, out: &mut Observer<'_>) {
        if let Behaviour::Other(other) = &self.nodes[node].behaviour {
            other.observe(out);
        }
    }

    /// The link of an edge, unless it is a channel of a shared medium.
    pub fn link(&self, edge: usize) -> Option<&Link> {
        match &self.edges[edge] {
            Edge::Link(link) => Some(link),
            _ => None,
        }
    }

    /// The warm-up is over: distributions (not counters) are reset.
    pub fn end_warmup(&mut self) {
        for edge in &mut self.edges {
            if let Edge::Link(link) = edge {
                link.end_warmup(self.now);
            }
        }
        self.media.iter_mut().for_each(|slot| slot.medium.end_warmup(self.now));
    }

    /// Events scheduled since the start.
    pub fn events(&self) -> u64 {
        self.events.scheduled()
    }
}
