//! Learning virtual queues by stochastic dual gradients (Chen, Ling and Giannakis, 2018), as mobsim does.
//!
//! Every 12 slots each node computes what its virtual queues would send over its links in that
//! time; the queues then change by what was admitted, sent and received in this way, times a step.
//! The step is 1 at first and falls after 12,000 slots, so that nothing more is learnt.

use super::gradients::Told;
use super::node::{MU, Node};
use super::nodes;

/// Slots between updates, and until the step begins to fall.
pub(super) const INTERVAL: u64 = 12;
const SETTLED: u64 = 12_000;
/// A gradient has to be larger than this for virtual packets to move.
const HYSTERESIS: f64 = 2.0;

/// State of learning over an interval.
#[derive(Debug)]
pub(super) struct Learning {
    step: f64,
    constrained: bool,
    /// Packets admitted in this interval, by node, group and destination.
    admitted: Vec<Vec<Vec<f64>>>,
}

/// Virtual packets sent: from a node, to a node, of a group, for each destination.
struct Moved {
    from: usize,
    to: usize,
    group: usize,
    packets: Vec<f64>,
}

impl Learning {
    /// Of a network; `constrained` if virtual queues must be larger than `1 / mu` times the packets.
    pub(super) fn new(all: usize, groups: usize, constrained: bool) -> Self {
        let admitted = vec![vec![vec![0.0; all]; groups]; all];
        Learning { step: 1.0, constrained, admitted }
    }

    /// A packet was admitted.
    pub(super) fn on_admission(&mut self, node: usize, group: usize, to: super::Set) {
        nodes(to).for_each(|other| self.admitted[node][group][other] += 1.0);
    }

    /// Updates all virtual queues; `periods` says how many slots a packet takes on each way.
    pub(super) fn update(
        &mut self,
        slot: u64,
        all: &mut [Node],
        told: &[Told],
        periods: &[Vec<f64>],
    ) {
        let moved: Vec<Moved> = (0..all.len())
            .flat_map(|from| self.forward(from, &all[from], told, &periods[from]))
            .collect();
        for (node, admitted) in all.iter_mut().zip(&mut self.admitted) {
            for (depths, admitted) in node.virtual_depths.iter_mut().zip(admitted) {
                for (depth, more) in depths.iter_mut().zip(admitted) {
                    *depth += self.step * std::mem::take(more);
                }
            }
        }
        for Moved { from, to, group, packets } in moved {
            for (node, packets) in packets.into_iter().enumerate() {
                all[from].virtual_depths[group][node] -= self.step * packets;
                if node != to {
                    all[to].virtual_depths[group][node] += self.step * packets;
                }
            }
        }
        if slot > SETTLED {
            self.step = 1.0 / (1.0 / (self.step * self.step) + 1.0).sqrt();
        }
    }

    /// Virtual packets that a node sends.
    fn forward(&self, from: usize, node: &Node, told: &[Told], periods: &[f64]) -> Vec<Moved> {
        let mut left: Vec<f64> = periods.iter().map(|period| INTERVAL as f64 / period).collect();
        let mut depths = node.virtual_depths.clone();
        let mut moved = Vec::new();
        loop {
            let mut best: (f64, Option<(usize, usize, Vec<f64>)>) = (1e-4, None);
            for (index, way) in node.ways.iter().enumerate().filter(|(index, _)| left[*index] > 0.0)
            {
                for (group, mine) in depths.iter().enumerate() {
                    let mut gradients = vec![0.0; mine.len()];
                    for to in nodes(way.bias.reached).filter(|to| mine[*to] > 0.0) {
                        let theirs = told[way.to].virtual_depths[group][to];
                        let gradient = mine[to] - theirs + way.bias.packets[to];
                        let packets = node.queues[group].depths()[to];
                        let free = !self.constrained || mine[to] > packets / MU;
                        if gradient > HYSTERESIS && free {
                            gradients[to] = gradient;
                        }
                    }
                    let sum: f64 = gradients.iter().sum();
                    if sum > best.0 {
                        best = (sum, Some((index, group, gradients)));
                    }
                }
            }
            let Some((index, group, gradients)) = best.1 else { return moved };
            let mut packets = gradients;
            for (packets, depth) in packets.iter_mut().zip(&mut depths[group]) {
                *packets = packets.min(left[index]).min(*depth);
                *depth -= *packets;
            }
            left[index] -= packets.iter().copied().fold(0.0, f64::max);
            moved.push(Moved { from, to: node.ways[index].to, group, packets });
        }
    }
}
