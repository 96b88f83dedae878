//! Partition of a network into regions at fixed-delay links between active nodes.
//!
//! A packet on such a link arrives no sooner than the link's delay after it was sent: this is the
//! lookahead of conservative parallel simulation. The nodes at its ends can be simulated
//! independently for that long: each finds its state in the caches, and several run at the same
//! time.

use std::collections::VecDeque;

use super::{Alarm, EdgeFacts, EventQueue, MediumSlot, Network, NodeSlot, Turn};
use crate::edge::Edge;
use crate::node::{Behaviour, NodeCounters};
use crate::packet::{Packet, Route};
use crate::units::{Span, Time};

/// With links of less delay, regions would synchronise too often.
const LEAST_DELAY: Span = Span::from_millis(1);

/// An edge from one region to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The edge.
    pub edge: usize,
    /// The region that it leaves, and to which it belongs.
    pub from: usize,
    /// The region that it reaches.
    pub to: usize,
}

/// The regions of a network.
#[derive(Clone, Debug)]
pub struct Split {
    /// Number of regions.
    pub count: usize,
    /// By node: its region.
    pub of_node: Vec<usize>,
    /// By edge: the region that it belongs to.
    pub of_edge: Vec<usize>,
    /// Edges between regions.
    pub crossings: Vec<Crossing>,
    /// Lookahead: time for which regions can be simulated independently.
    pub lookahead: Span,
}

/// Disjoint sets of nodes that stay together.
pub(super) struct Sets(Vec<usize>);

impl Sets {
    /// The least node of its set.
    pub(super) fn of(&mut self, node: usize) -> usize {
        let mut at = node;
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.max(other)] = one.min(other);
    }

    /// Numbers of the sets, in the order of their first nodes, by node; and the number of sets.
    fn numbered(mut self) -> (Vec<usize>, usize) {
        let (mut numbers, mut count) = (vec![0; self.0.len()], 0);
        for node in 0..self.0.len() {
            let first = self.of(node);
            if first == node {
                numbers[node] = count;
                count += 1;
            } else {
                numbers[node] = numbers[first];
            }
        }
        (numbers, count)
    }
}

impl EdgeFacts {
    /// The node at one end; the node at the other end where the former stands for many hosts.
    fn place(&self, end: usize) -> Option<usize> {
        self.ends[end].or(self.ends[1 - end])
    }
}

impl Network {
    /// The nodes where a route begins and ends.
    pub fn ends(&self, route: Route) -> Option<[usize; 2]> {
        let edges = self.routes.edges(route);
        let (first, last) = (*edges.first()? as usize, *edges.last()? as usize);
        Some([self.edge_facts[first].place(0)?, self.edge_facts[last].place(1)?])
    }

    /// The regions of the network; `flows` are the routes of each flow there and back, at whose
    /// ends its sockets are.
    pub fn regions(&self, flows: impl Iterator<Item = [Route; 2]>) -> Split {
        self.seams(flows).unwrap_or_else(|| self.one_region())
    }

    /// The whole network as one region.
    pub fn one_region(&self) -> Split {
        Split {
            count: 1,
            of_node: vec![0; self.nodes.len()],
            of_edge: vec![0; self.edges.len()],
            crossings: Vec::new(),
            lookahead: Time::NEVER.since(Time::ZERO),
        }
    }

    /// The partition; `None` where no edge can be crossed, or the place of an edge or a socket is
    /// not known.
    fn seams(&self, flows: impl Iterator<Item = [Route; 2]>) -> Option<Split> {
        let seam = |edge| self.joins_active(edge) && self.least_delay(edge) >= LEAST_DELAY;
        let (of_node, count) = self.joined(seam, flows)?.numbered();
        self.parted(of_node, count)
    }

    /// The sets of nodes that stay together because an edge that is no seam, a medium or a flow's
    /// end joins them; `None` where the place of an edge or a socket is not known.
    pub(super) fn joined(
        &self,
        is_seam: impl Fn(usize) -> bool,
        flows: impl Iterator<Item = [Route; 2]>,
    ) -> Option<Sets> {
        let mut sets = Sets((0..self.nodes.len()).collect());
        for (edge, facts) in self.edge_facts.iter().enumerate() {
            let [from, to] = [facts.place(0)?, facts.place(1)?];
            if !is_seam(edge) {
                sets.join(from, to);
            }
        }
        for slot in self.media.iter().filter(|slot| slot.channels.len() > 1) {
            for pair in slot.channels.windows(2) {
                let [one, other] = [pair[0], pair[1]].map(|edge| &self.edge_facts[edge as usize]);
                sets.join(one.place(0)?, other.place(0)?);
            }
        }
        for [there, back] in flows {
            let ([from, to], [answers, home]) = (self.ends(there)?, self.ends(back)?);
            sets.join(from, home);
            sets.join(to, answers);
        }
        Some(sets)
    }

    /// The partition into these regions of nodes; `None` where no edge crosses.
    pub(super) fn parted(&self, of_node: Vec<usize>, count: usize) -> Option<Split> {
        let region = |facts: &EdgeFacts, end| facts.place(end).map_or(0, |node| of_node[node]);
        let crossing = |(edge, facts): (usize, &EdgeFacts)| {
            let crossing = Crossing { edge, from: region(facts, 0), to: region(facts, 1) };
            (crossing.from != crossing.to).then_some(crossing)
        };
        let crossings: Vec<_> = self.edge_facts.iter().enumerate().filter_map(crossing).collect();
        let delays = crossings.iter().map(|crossing| self.least_delay(crossing.edge));
        let lookahead = delays.min()?;
        let of_edge = self.edge_facts.iter().map(|facts| region(facts, 0)).collect();
        Some(Split { count, of_node, of_edge, crossings, lookahead })
    }

    /// Whether the nodes at both ends are active.
    pub(super) fn joins_active(&self, edge: usize) -> bool {
        let decides = |node: Option<usize>| node.is_some_and(|node| self.is_active(node));
        self.edge_facts[edge].ends.into_iter().all(decides)
    }

    /// Whether a node is active.
    pub fn is_active(&self, node: usize) -> bool {
        matches!(self.nodes[node].behaviour, Behaviour::Other(_))
    }

    fn least_delay(&self, edge: usize) -> Span {
        match &self.edges[edge] {
            Edge::Link(link) => link.least_delay(),
            Edge::Channel { medium, .. } => self.media[*medium as usize].medium.least_delay(),
            Edge::FarEnd(_) | Edge::Outside(_) | Edge::Elsewhere => Span::ZERO,
        }
    }

    /// A network for each region, from one at time zero. All have the same numbers of nodes, edges
    /// and routes; those of other regions are inert.
    #[must_use]
    pub fn split(mut self, split: &Split) -> Vec<Network> {
        if split.count == 1 {
            return vec![self];
        }
        let mut parts: Vec<_> = (0..split.count).map(|_| self.outline()).collect();
        for (node, slot) in self.nodes.into_iter().enumerate() {
            let part = &mut parts[split.of_node[node]];
            part.nodes[node] = NodeSlot { alarm: Alarm::default(), ..slot };
            part.start_node(node);
        }
        let mut media: Vec<_> = self.media.drain(..).map(Some).collect();
        for (number, edge) in self.edges.into_iter().enumerate() {
            let part = &mut parts[split.of_edge[number]];
            part.edges[number] = match edge {
                Edge::Channel { medium, channel } => {
                    let medium = part.take_medium(&mut media[medium as usize], number);
                    Edge::Channel { medium, channel }
                }
                edge => edge,
            };
        }
        for Crossing { edge, from, to } in &split.crossings {
            parts[*from].edge_turns[*edge].alarm = Alarm::silent();
            parts[*to].edges[*edge] = Edge::FarEnd(VecDeque::new());
        }
        parts
    }

    /// The same network without its edges and nodes.
    fn outline(&self) -> Network {
        let node = |slot: &NodeSlot| NodeSlot {
            name: slot.name.clone(),
            behaviour: Behaviour::Plain,
            ports: slot.ports.clone(),
            counters: NodeCounters::default(),
            named: slot.named,
            alarm: Alarm::default(),
        };
        let turn = |turn: &Turn| Turn { alarm: Alarm::default(), ..*turn };
        Network {
            now: self.now,
            steps: 0,
            events: EventQueue::default(),
            edges: self.edges.iter().map(|_| Edge::Elsewhere).collect(),
            edge_turns: self.edge_turns.iter().map(turn).collect(),
            edge_facts: self.edge_facts.clone(),
            media: Vec::new(),
            nodes: self.nodes.iter().map(node).collect(),
            routes: self.routes.clone(),
            direct: VecDeque::new(),
            actions: Vec::new(),
        }
    }

    /// Takes over a medium with the first of its channels; returns its index here.
    fn take_medium(&mut self, from: &mut Option<MediumSlot>, edge: usize) -> u32 {
        self.media.extend(from.take());
        let has = |slot: &MediumSlot| slot.channels.contains(&(edge as u32));
        self.media.iter().position(has).unwrap_or(0) as u32
    }

    /// Moves the arrivals at the far end of an edge to another region before `until`, with their
    /// times, to `out`.
    pub(super) fn leave(&mut self, edge: usize, until: Time, out: &mut Vec<(Time, Packet)>) {
        match &mut self.edges[edge] {
            Edge::Link(link) => link.arrivals(self.now, until, |at, packet| out.push((at, packet))),
            // Arrivals from a medium are not known ahead; with one, regions synchronise at every
            // instant.
            Edge::Channel { medium, .. } => {
                let last = until - Span::from_nanos(1);
                let medium = &mut self.media[*medium as usize].medium;
                while medium.next_wakeup().is_some_and(|at| at <= last)
                    && let Some((_, packet)) = medium.poll(last)
                {
                    out.push((last, packet));
                }
            }
            Edge::FarEnd(_) | Edge::Outside(_) | Edge::Elsewhere => {}
        }
    }

    /// Earliest time at which a packet may leave an edge to another region.
    pub fn leaves_at(&self, edge: usize) -> Option<Time> {
        match &self.edges[edge] {
            Edge::Channel { medium, .. } => self.media[*medium as usize].medium.next_wakeup(),
            edge => edge.next_wakeup(),
        }
    }

    /// Takes in the arrivals of an edge from another region.
    pub(super) fn enter(&mut self, edge: usize, arrivals: impl Iterator<Item = (Time, Packet)>) {
        if let Edge::FarEnd(waiting) = &mut self.edges[edge] {
            waiting.extend(arrivals);
        }
        self.arm_edge(edge);
    }
}
