//! A part of a network by itself: one active node, with the rest of the network elsewhere.
//!
//! A part is a region whose neighbours are no regions of the same program: whoever drives it takes
//! the packets that leave it and hands in those that come. If it does so at the instants at which
//! they arrive, the part acts as it does within the whole network, bit by bit.

use std::collections::VecDeque;

use super::event::{EventQueue, Target};
use super::{Hosts, Network, PLAIN, Split, Step};
use crate::edge::Edge;
use crate::node::Behaviour;
use crate::packet::{Packet, Route};
use crate::units::{Span, Time};

/// What the edges that leave a part are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Those of the network: a packet can be taken once it has arrived at the far end.
    Kept,
    /// Something outside, such as a path between two machines: a packet can be taken at once.
    Outside,
    /// The same, which packets of flows that no node carries pass as well: the part has nothing of them.
    Shared,
}

impl Network {
    /// Region 0 is an active node with all that no link to another active node separates from it,
    /// region 1 is the rest; `flows` are as in [`Network::regions`]. `None` where the place of an
    /// edge or a socket is not known.
    pub fn around(&self, node: usize, flows: impl Iterator<Item = [Route; 2]>) -> Option<Split> {
        let seam = |edge| self.joins_active(edge) && matches!(self.edges[edge], Edge::Link(_));
        let mut sets = self.joined(seam, flows)?;
        let own = sets.of(node);
        let of_node = (0..self.nodes.len()).map(|other| usize::from(sets.of(other) != own));
        Some(self.parted(of_node.collect(), 2).unwrap_or_else(|| self.one_region()))
    }

    /// One region of a network at time zero, which is split as [`Network::around`] says. All indices
    /// stay; what is in the other region is inert.
    #[must_use]
    pub fn part(self, split: &Split, region: usize, links: Links) -> Network {
        let mut part = self.split(split).swap_remove(region);
        let leaving = split.crossings.iter().filter(|crossing| crossing.from == region);
        if links != Links::Kept {
            leaving.for_each(|leaving| part.edges[leaving.edge] = Edge::Outside(VecDeque::new()));
        }
        part
    }

    /// The edges of a network at time zero by themselves, and a route over each: nodes do nothing, and
    /// what arrives at the far end of an edge is delivered to the hosts.
    #[must_use]
    pub fn links_alone(mut self) -> (Network, Vec<Route>) {
        self.events = EventQueue::default();
        self.edge_turns.iter_mut().for_each(|turn| turn.decider = PLAIN);
        self.nodes.iter_mut().for_each(|slot| slot.behaviour = Behaviour::Plain);
        let routes = (0..self.edges.len()).map(|edge| self.routes.add(&[edge])).collect();
        (self, routes)
    }

    /// The next packet that has left the part over this edge and can be taken at the time reached.
    pub fn take(&mut self, edge: usize) -> Option<Packet> {
        match &mut self.edges[edge] {
            Edge::Link(link) => link.poll(self.now),
            Edge::Outside(waiting) => waiting.pop_front(),
            Edge::Channel { .. } | Edge::FarEnd(_) | Edge::Elsewhere => None,
        }
    }

    /// A packet comes now over an edge that begins outside the part, before all else that has not
    /// happened yet.
    pub fn arrive(&mut self, edge: usize, packet: Packet) {
        self.enter(edge, std::iter::once((self.now, packet)));
    }

    /// A node has something to do that has come from outside the simulation: its timer is asked for
    /// again.
    pub fn wake_node(&mut self, node: usize) {
        let now = self.now;
        let slot = &mut self.nodes[node];
        let Behaviour::Other(other) = &slot.behaviour else { return };
        let want = other.next_timer().unwrap_or(Time::NEVER).max(now);
        if let Some(time) = slot.alarm.arm(want) {
            self.schedule(time, Target::Node(node as u32));
        }
    }

    /// Runs all events before `at`, which is the time then: what arrives at that instant comes
    /// before its other events.
    ///
    /// # Errors
    /// As [`Network::advance`].
    pub fn approach<H: Hosts>(&mut self, at: Time, hosts: &mut H) -> Step {
        if at > self.now {
            self.advance(at - Span::from_nanos(1), hosts)?;
            self.reach(at);
        }
        Ok(())
    }
}
