//! Random linear network coding over GF(256), in generations.
//!
//! A coded packet is a combination of the packets of its generation and carries the coefficients. A
//! node sends random combinations of what it has received of a generation; a receiver decodes a
//! generation when it has as many independent ones as the generation has packets. Arithmetic:
//! `reed-solomon-erasure`.

use std::collections::BTreeMap;

use rand::RngExt;
use reed_solomon_erasure::galois_8::{div, mul};

use super::{Set, nodes};
use sojourn_base::rng::Stream;

/// Generations without waiting packets are forgotten when they are so much older than the newest.
const KEPT: usize = 64;

/// Content of a coded packet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Coded {
    /// Its generation.
    pub generation: usize,
    /// A coefficient for each packet; empty for a demand without new information.
    pub coefficients: Vec<u8>,
}

/// Independent combinations, in echelon form: a row begins with a 1 where no other does.
#[derive(Clone, Debug, Default)]
pub(super) struct Basis {
    rows: Vec<(usize, Vec<u8>)>,
}

impl Basis {
    /// Number of independent combinations.
    pub(super) fn rank(&self) -> usize {
        self.rows.len()
    }

    /// Adds a combination; returns whether it is independent of the others.
    pub(super) fn add(&mut self, mut row: Vec<u8>) -> bool {
        for (pivot, known) in &self.rows {
            let factor = row[*pivot];
            if factor != 0 {
                row.iter_mut().zip(known).for_each(|(value, other)| *value ^= mul(factor, *other));
            }
        }
        let Some(pivot) = row.iter().position(|value| *value != 0) else { return false };
        let first = row[pivot];
        row.iter_mut().for_each(|value| *value = div(*value, first));
        self.rows.push((pivot, row));
        true
    }

    /// A random combination of all.
    fn combine(&self, length: usize, random: &mut Stream) -> Vec<u8> {
        let mut made = vec![0; length];
        for (_, row) in &self.rows {
            let factor: u8 = random.random();
            made.iter_mut().zip(row).for_each(|(value, other)| *value ^= mul(factor, *other));
        }
        made
    }
}

/// A generation at a node: what was received, and how many packets each node still is to get.
#[derive(Debug)]
struct Generation {
    basis: Basis,
    due: Vec<u32>,
    waiting: Set,
}

/// Coded packets of a group at a node.
#[derive(Debug)]
pub(super) struct Coder {
    nodes: usize,
    length: usize,
    generations: BTreeMap<usize, Generation>,
}

impl Coder {
    /// With generations of `length` packets.
    pub(super) fn new(nodes: usize, length: usize) -> Self {
        Coder { nodes, length, generations: BTreeMap::new() }
    }

    /// Adds a packet for some nodes.
    pub(super) fn push(&mut self, coded: Coded, to: Set) {
        if !self.generations.contains_key(&coded.generation) {
            let newest = self.generations.last_key_value().map_or(0, |(newest, _)| *newest);
            self.generations.retain(|at, known| known.waiting != 0 || at + KEPT > newest);
        }
        let generation = self.generations.entry(coded.generation).or_insert_with(|| Generation {
            basis: Basis::default(),
            due: vec![0; self.nodes],
            waiting: 0,
        });
        if !coded.coefficients.is_empty() && generation.basis.rank() < self.length {
            generation.basis.add(coded.coefficients);
        }
        nodes(to).for_each(|node| generation.due[node] += 1);
        generation.waiting |= to;
    }

    /// The generation that goes best with gradients, and to which nodes: those with the largest sum
    /// of positive ones, the oldest of those alike.
    pub(super) fn best(&self, gradients: &[f64]) -> Option<(usize, Set)> {
        let wanted = (0..gradients.len()).filter(|node| gradients[*node] > 0.0);
        let wanted = wanted.fold(0, |set, node| set | 1 << node);
        let mut best: Option<(usize, Set, f64)> = None;
        for (at, generation) in &self.generations {
            let to = generation.waiting & wanted;
            if to == 0 || best.is_some_and(|(_, known, _)| known == to) {
                continue;
            }
            let sum: f64 = nodes(to).map(|node| gradients[node]).sum();
            if best.is_none_or(|(.., least)| sum > least) {
                best = Some((*at, to, sum));
            }
            if to == wanted {
                break;
            }
        }
        best.map(|(at, to, _)| (at, to))
    }

    /// Makes a packet of a generation for nodes that are to get one.
    pub(super) fn take(&mut self, at: usize, to: Set, random: &mut Stream) -> Coded {
        let mut coefficients = vec![0; self.length];
        if let Some(generation) = self.generations.get_mut(&at) {
            coefficients = generation.basis.combine(self.length, random);
            for node in nodes(to) {
                generation.due[node] -= 1;
                if generation.due[node] == 0 {
                    generation.waiting &= !(1 << node);
                }
            }
        }
        Coded { generation: at, coefficients }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::rng::StreamKey;

    #[test]
    fn combinations_span_what_they_are_made_of_and_no_more() {
        let mut random = StreamKey::root(7).stream();
        let mut source = Basis::default();
        for index in 0..8 {
            let mut row = vec![0; 8];
            row[index] = 1;
            assert!(source.add(row));
        }
        let mut middle = Basis::default();
        (0..3).for_each(|_| assert!(middle.add(source.combine(8, &mut random))));
        let mut end = Basis::default();
        let new = (0..10).filter(|_| end.add(middle.combine(8, &mut random))).count();
        assert_eq!((new, end.rank()), (3, 3), "a node cannot tell more than it knows");
        let more = (0..8).filter(|_| end.add(source.combine(8, &mut random))).count();
        assert_eq!((more, end.rank()), (5, 8));
    }

    #[test]
    fn one_packet_is_new_to_two_nodes_that_lack_different_ones() {
        // Packets a and b; one end has a, the other has b, and a + b serves both.
        let (mut one, mut other) = (Basis::default(), Basis::default());
        assert!(one.add(vec![1, 0]) && other.add(vec![0, 1]));
        assert!(one.add(vec![1, 1]) && other.add(vec![1, 1]));
        assert_eq!([one.rank(), other.rank()], [2, 2]);
    }
}
