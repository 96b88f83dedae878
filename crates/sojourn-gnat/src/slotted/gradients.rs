//! Gradients from a node to a neighbour: depths here less depths there, and a bias by hops.

use std::collections::VecDeque;

use super::{Set, nodes};

/// Packets that a hop less to a destination is worth.
const PER_HOP: f64 = 0.5;

/// Depths as a node reports them: of packets alone, and of virtual queues, by group and node.
#[derive(Clone, Debug)]
pub(super) struct Told {
    /// All that counts, by group and node.
    pub depths: Vec<Vec<f64>>,
    /// Virtual queues alone.
    pub virtual_depths: Vec<Vec<f64>>,
    /// Sums over the groups, by node.
    pub totals: Vec<f64>,
}

/// Bias by hops for a direction of a link: the nodes that it reaches without returning, and for
/// each the value of the hops saved.
#[derive(Clone, Debug)]
pub(super) struct Bias {
    /// Nodes that can be reached.
    pub reached: Set,
    /// Packets, by node; nothing for those that cannot.
    pub packets: Vec<f64>,
}

impl Bias {
    /// Of the direction `from`, `to` of a network with these neighbours.
    pub(super) fn new(neighbours: &[Vec<usize>], from: usize, to: usize) -> Self {
        let (here, there) = (hops(neighbours, from, None), hops(neighbours, to, Some(from)));
        let reached = (0..neighbours.len()).filter(|node| there[*node].is_some());
        let reached = reached.fold(0, |set, node| set | 1 << node);
        let mut packets = vec![0.0; neighbours.len()];
        for node in nodes(reached) {
            if let (Some(here), Some(there)) = (here[node], there[node]) {
                packets[node] = PER_HOP * (f64::from(here) - f64::from(there));
            }
        }
        Bias { reached, packets }
    }
}

/// Hops to each node, without going through another.
fn hops(neighbours: &[Vec<usize>], from: usize, without: Option<usize>) -> Vec<Option<u32>> {
    let mut hops = vec![None; neighbours.len()];
    hops[from] = Some(0);
    let mut next = VecDeque::from([from]);
    while let Some(at) = next.pop_front() {
        for to in &neighbours[at] {
            if hops[*to].is_none() && Some(*to) != without {
                hops[*to] = hops[at].map(|hops| hops + 1);
                next.push_back(*to);
            }
        }
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_drawn_where_no_way_leads_on() {
        // 0 - 1 - 2 and 1 - 3.
        let neighbours = [vec![1], vec![0, 2, 3], vec![1], vec![1]];
        let bias = Bias::new(&neighbours, 1, 2);
        assert_eq!((bias.reached, bias.packets[2]), (0b100, 0.5));
        let bias = Bias::new(&neighbours, 0, 1);
        assert_eq!((bias.reached, bias.packets[3]), (0b1110, 0.5));
    }
}
