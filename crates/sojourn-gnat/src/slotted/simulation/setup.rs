//! Construction of a simulation, and of its empty results.

use std::collections::{BTreeMap, VecDeque};

use super::{Link, Receiver, Sampled, Simulation, Source};
use crate::slotted::gradients::Bias;
use crate::slotted::learning::Learning;
use crate::slotted::node::{Node, Way};
use crate::slotted::outcome::{Load, Outcome, Received};
use crate::slotted::spec::{Model, Queues, StreamSpec};
use sojourn_base::rng::StreamKey;

/// For each node those that a link joins it to.
fn neighbours(model: &Model) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); model.nodes];
    for link in &model.links {
        neighbours[link.from].push(link.to);
        neighbours[link.to].push(link.from);
    }
    neighbours
}

/// Both directions of each link.
fn links(model: &Model, neighbours: &[Vec<usize>]) -> Vec<Link> {
    let mut links = Vec::new();
    for link in &model.links {
        for (from, to) in [(link.from, link.to), (link.to, link.from)] {
            let first = (0, link.rate);
            let later = link.changes.iter().map(|(at, rate)| ((at * model.slots) as u64, *rate));
            let way = neighbours[from].iter().position(|other| *other == to).unwrap_or(0);
            let rates = std::iter::once(first).chain(later).collect();
            let packets = VecDeque::new();
            links.push(Link { from, way, to, rates, period: 1.0, wait: 0.0, packets });
        }
    }
    links
}

fn source((stream, spec): (usize, &StreamSpec)) -> Source {
    let to = spec.to.iter().fold(0, |set, node| set | 1 << node);
    Source { stream, to, next: 0.0, admitted: 0 }
}

fn receiver(node: &usize) -> Receiver {
    Receiver {
        node: *node,
        packets: 0,
        useless: 0,
        generations: BTreeMap::new(),
        arrived: 0,
        waited: 0.0,
    }
}

impl<'a> Simulation<'a> {
    /// A simulation of a checked model.
    pub(super) fn new(model: &'a Model) -> Self {
        let neighbours = neighbours(model);
        let ways = |from: usize| {
            let way =
                |to: &usize| Way { to: *to, bias: Bias::new(&neighbours, from, *to), held: 0 };
            neighbours[from].iter().map(way).collect()
        };
        let all: Vec<Node> = (0..model.nodes).map(|node| Node::new(model, ways(node))).collect();
        let links = links(model, &neighbours);
        let sources = model.streams.iter().enumerate().map(source);
        let receivers = model.streams.iter().map(|spec| spec.to.iter().map(receiver).collect());
        let learning = match model.queues {
            Queues::DualGradient => Some(false),
            Queues::ImprovedDualGradient => Some(true),
            _ => None,
        };
        let groups = model.streams.len();
        let sampled = Sampled {
            admitted: vec![0; groups],
            carried: vec![0; links.len()],
            queued: vec![vec![0.0; groups]; model.nodes],
            ..Sampled::default()
        };
        Simulation {
            slot: 0,
            links,
            sources: sources.collect(),
            receivers: receivers.collect(),
            learning: learning.map(|constrained| Learning::new(model.nodes, groups, constrained)),
            born: vec![Vec::new(); groups],
            demands: VecDeque::new(),
            random: StreamKey::root(model.seed).child("coding").stream(),
            told: all.iter().map(Node::tell).collect(),
            sampled,
            all,
            model,
        }
    }

    /// Empty results.
    pub(super) fn empty(&self) -> Outcome {
        let streams = self.model.streams.iter().enumerate();
        let received = streams.flat_map(|(stream, spec)| {
            let one = move |node: &usize| Received { stream, node: *node, ..Received::default() };
            spec.to.iter().map(one).collect::<Vec<_>>()
        });
        let loads = self.links.iter();
        Outcome {
            received: received.collect(),
            admitted: vec![Vec::new(); self.sources.len()],
            loads: loads.map(|l| Load { from: l.from, to: l.to, ..Load::default() }).collect(),
            queued: vec![vec![Vec::new(); self.sources.len()]; self.all.len()],
            ..Outcome::default()
        }
    }
}
