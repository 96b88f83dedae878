//! Paths over a graph of nodes and one-way edges.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::units::Span;

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Node it leaves.
    pub from: u16,
    /// Node it reaches.
    pub to: u16,
    /// Propagation delay.
    pub delay: Span,
    /// The network's link, if it is built.
    pub link: Option<u32>,
    /// Index of the edge of the other direction.
    pub twin: Option<usize>,
}

/// Finds paths, each pair of nodes once.
#[derive(Debug, Default)]
pub(super) struct Router {
    edges: Vec<Edge>,
    /// Edges that leave each node, in the order they were added.
    leaving: BTreeMap<u16, Vec<usize>>,
    known: BTreeMap<(u16, u16), Option<Vec<usize>>>,
}

impl Router {
    /// Adds an edge; returns its index.
    pub(super) fn add(&mut self, edge: Edge) -> usize {
        self.leaving.entry(edge.from).or_default().push(self.edges.len());
        self.edges.push(edge);
        self.edges.len() - 1
    }

    /// Pairs two edges as the directions of one link.
    pub(super) fn pair(&mut self, there: usize, back: usize) {
        self.edges[there].twin = Some(back);
        self.edges[back].twin = Some(there);
    }

    /// The edge of this index.
    pub(super) fn edge(&self, index: usize) -> &Edge {
        &self.edges[index]
    }

    /// The edges of the path of the least delay, among equals of the fewest links, among equals of
    /// those added first. `None` if there is no path.
    pub(super) fn shortest(&mut self, from: u16, to: u16) -> Option<Vec<usize>> {
        if let Some(path) = self.known.get(&(from, to)) {
            return path.clone();
        }
        let path = self.search(from, to);
        self.known.insert((from, to), path.clone());
        path
    }

    /// Dijkstra's algorithm over (delay, links).
    fn search(&self, from: u16, to: u16) -> Option<Vec<usize>> {
        let mut reached: BTreeMap<u16, ((Span, u32), Option<usize>)> = BTreeMap::new();
        let mut open = BinaryHeap::from([Reverse(((Span::ZERO, 0), 0, from, None))]);
        let mut pushed = 0;
        while let Some(Reverse((cost, _, node, arrived_by))) = open.pop() {
            if reached.contains_key(&node) {
                continue;
            }
            reached.insert(node, (cost, arrived_by));
            for &index in self.leaving.get(&node).into_iter().flatten() {
                let edge = &self.edges[index];
                pushed += 1;
                let next = (cost.0 + edge.delay, cost.1 + 1);
                open.push(Reverse((next, pushed, edge.to, Some(index))));
            }
        }
        let mut path = Vec::new();
        let mut node = to;
        while let Some(edge) = reached.get(&node)?.1 {
            path.push(edge);
            node = self.edges[edge].from;
        }
        path.reverse();
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: u16, to: u16, ms: u64) -> Edge {
        Edge { from, to, delay: Span::from_millis(ms), link: None, twin: None }
    }

    #[test]
    fn least_delay_then_fewest_links() {
        let mut router = Router::default();
        router.add(edge(0, 1, 5));
        router.add(edge(1, 2, 5));
        router.add(edge(0, 2, 11));
        assert_eq!(router.shortest(0, 2), Some(vec![0, 1]));
        router = Router::default();
        router.add(edge(0, 1, 5));
        router.add(edge(1, 2, 5));
        router.add(edge(0, 2, 10));
        assert_eq!(router.shortest(0, 2), Some(vec![2]));
    }

    #[test]
    fn edges_have_a_direction() {
        let mut router = Router::default();
        router.add(edge(0, 1, 5));
        assert_eq!(router.shortest(1, 0), None);
        assert_eq!(router.shortest(0, 0), Some(vec![]));
    }
}
