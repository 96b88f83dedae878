//! A node: queues of each group, the depths that it reports, and forwarding.

use super::gradients::{Bias, Told};
use super::queue::{Packet, Pick, Queue};
use super::shortening::{Prompt, Shortening};
use super::spec::{Model, Queues, Signals};
use super::{Set, nodes};
use crate::overlay::Reduction;
use sojourn_base::rng::Stream;
use sojourn_base::units::Time;

/// Packets that a link holds.
pub(super) const LINK_HOLDS: usize = 6;
/// A gradient has to be larger than this, in packets, for packets to move.
const HYSTERESIS: f64 = 2.0;
/// A packet also goes to nodes with a gradient not below this and nowhere larger.
const FLOOR: f64 = -1.0;
/// Weight of packets beside virtual queues of a dual gradient.
pub(super) const MU: f64 = 0.2;

/// The link to a neighbour.
#[derive(Debug)]
pub(super) struct Way {
    /// The neighbour.
    pub to: usize,
    /// Bias by hops.
    pub bias: Bias,
    /// Packets that the link holds.
    pub held: usize,
}

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    /// By group.
    pub queues: Vec<Queue>,
    /// Virtual depths, by group and node.
    pub virtual_depths: Vec<Vec<f64>>,
    /// Ways out.
    pub ways: Vec<Way>,
    shortenings: Vec<Vec<Shortening>>,
    mu: f64,
    kind: Queues,
    signals: Signals,
}

/// A group and a way that were chosen.
struct Choice {
    group: usize,
    way: usize,
    gradients: Vec<f64>,
    sum: f64,
    zombie: bool,
}

impl Node {
    /// A node of a model with nothing in its queues.
    pub(super) fn new(model: &Model, ways: Vec<Way>) -> Self {
        let (groups, all) = (model.streams.len(), model.nodes);
        let learns = matches!(model.queues, Queues::DualGradient | Queues::ImprovedDualGradient);
        let shortening = match model.queues {
            Queues::ImprovedZombies => Shortening::Prompt(Prompt::default()),
            _ => Shortening::Careful(Reduction::default()),
        };
        Node {
            queues: (0..groups).map(|_| Queue::new(all, model.generation)).collect(),
            virtual_depths: vec![vec![0.0; all]; groups],
            shortenings: vec![vec![shortening; all]; groups],
            mu: if learns { MU } else { 1.0 },
            kind: model.queues,
            signals: model.signals,
            ways,
        }
    }

    /// The depth that counts.
    fn depth(&self, group: usize, node: usize) -> f64 {
        self.virtual_depths[group][node] + self.mu * self.queues[group].depths()[node]
    }

    /// Depths that it reports to its neighbours.
    pub(super) fn tell(&self) -> Told {
        let groups = 0..self.queues.len();
        let all = 0..self.virtual_depths.first().map_or(0, Vec::len);
        let depths: Vec<Vec<f64>> =
            groups.map(|g| all.clone().map(|n| self.depth(g, n)).collect()).collect();
        let by_node = all.map(|node| depths.iter().map(|group| group[node]).sum()).collect();
        let virtual_depths = self.virtual_depths.clone();
        Told { totals: by_node, depths, virtual_depths }
    }

    /// The depth that a stream pays for: the largest of its nodes'.
    pub(super) fn price(&self, group: usize, to: Set) -> f64 {
        nodes(to).map(|node| self.depth(group, node)).fold(0.0, f64::max)
    }

    /// Moves packets into the links as long as these have room and there is a gradient; gives each.
    pub(super) fn forward(
        &mut self,
        now: Time,
        told: &[Told],
        random: &mut Stream,
        mut give: impl FnMut(usize, Packet),
    ) {
        loop {
            let sent = match self.signals {
                Signals::Each => self.one(now, told, random),
                Signals::Totals => self.one_by_totals(told, random),
            };
            let Some((way, packet)) = sent else { break };
            self.ways[way].held += 1;
            give(way, packet);
        }
    }

    fn one(&mut self, now: Time, told: &[Told], random: &mut Stream) -> Option<(usize, Packet)> {
        let Choice { group, way, mut gradients, zombie, .. } = self.choice(told)?;
        if zombie {
            let mut to = 0;
            for (node, depth) in self.virtual_depths[group].iter_mut().enumerate() {
                if gradients[node] > 0.0 && *depth > 0.0 {
                    *depth = (*depth - 1.0).max(0.0);
                    self.shortenings[group][node].on_zombie(now);
                    to |= 1 << node;
                }
            }
            return Some((way, Packet { stream: group, to, born: 0, zombie, coded: None }));
        }
        for node in nodes(self.opportunities(group, way, told)) {
            gradients[node] = gradients[node].max(0.01);
        }
        let pick = self.queues[group].best(&gradients)?;
        Some((way, self.take(now, group, pick, random)))
    }

    fn take(&mut self, now: Time, group: usize, pick: Pick, random: &mut Stream) -> Packet {
        let packet = self.queues[group].take(group, pick, random);
        if matches!(self.kind, Queues::Zombies | Queues::ImprovedZombies) {
            for node in nodes(packet.to) {
                let packets = self.queues[group].depths()[node] as u64;
                let zombies = &mut self.virtual_depths[group][node];
                let more = self.shortenings[group][node].on_packet(now, packets, *zombies as u64);
                *zombies += if more { 1.0 } else { 0.0 };
            }
        }
        packet
    }

    /// Queues a packet from another node or from a source.
    pub(super) fn push(&mut self, now: Time, packet: Packet) {
        let (group, to) = (packet.stream, packet.to);
        self.queues[group].push(packet);
        for node in nodes(to) {
            let packets = self.queues[group].depths()[node] as u64;
            self.shortenings[group][node].on_depth(now, packets);
        }
    }

    /// The group and the way with room that have the largest sum of positive gradients.
    fn choice(&self, told: &[Told]) -> Option<Choice> {
        let mut best: Option<Choice> = None;
        for (index, way) in self.ways.iter().enumerate() {
            if way.held >= LINK_HOLDS {
                continue;
            }
            for group in 0..self.queues.len() {
                let (gradients, zombie) = self.gradients(group, way, &told[way.to]);
                let sum: f64 = gradients.iter().sum();
                if sum > best.as_ref().map_or(0.0, |best| best.sum) {
                    best = Some(Choice { group, way: index, gradients, sum, zombie });
                }
            }
        }
        best
    }

    /// Positive gradients, by node, and whether zombies go.
    fn gradients(&self, group: usize, way: &Way, told: &Told) -> (Vec<f64>, bool) {
        let packets = self.queues[group].depths();
        let zombies = &self.virtual_depths[group];
        let mut real = vec![0.0; packets.len()];
        let mut haunted = vec![0.0; packets.len()];
        for node in nodes(way.bias.reached) {
            let gradient =
                self.depth(group, node) - told.depths[group][node] + way.bias.packets[node];
            if gradient > 0.0 && packets[node] > 0.0 {
                real[node] = gradient;
            } else if gradient > 0.0 && zombies[node] > 0.0 {
                haunted[node] = gradient;
            }
        }
        let sums = [real.iter().sum::<f64>(), haunted.iter().sum()];
        let zombie = match self.kind {
            Queues::Zombies => sums[0] == 0.0 && sums[1] > 0.0,
            Queues::ImprovedZombies => sums[1] > sums[0],
            _ => false,
        };
        if zombie {
            return (haunted, true);
        }
        let least =
            |gradient: &mut f64| *gradient = if *gradient > HYSTERESIS { *gradient } else { 0.0 };
        real.iter_mut().for_each(least);
        if self.kind == Queues::Zombies && sums[0] > 0.0 {
            // The original counts what zombies draw, though only packets can go.
            real.iter_mut().zip(&haunted).for_each(|(real, other)| *real += other);
        }
        (real, false)
    }

    /// Nodes with packets to which no other way has a larger gradient, and this none far below 0.
    fn opportunities(&self, group: usize, way: usize, told: &[Told]) -> Set {
        let packets = self.queues[group].depths();
        let difference = |way: &Way, node: usize| {
            self.depth(group, node) - told[way.to].depths[group][node] + way.bias.packets[node]
        };
        let mut set = 0;
        for node in nodes(self.ways[way].bias.reached).filter(|node| packets[*node] > 0.0) {
            let here = difference(&self.ways[way], node);
            let others = self.ways.iter().filter(|other| other.bias.reached >> node & 1 == 1);
            if here >= FLOOR && others.into_iter().all(|other| difference(other, node) <= here) {
                set |= 1 << node;
            }
        }
        set
    }

    /// By totals: first the group and way of the largest difference of the groups' sums, then the packet
    /// of the largest gradient by the nodes' sums; if none is positive, the least bad one goes whole.
    fn one_by_totals(&mut self, told: &[Told], random: &mut Stream) -> Option<(usize, Packet)> {
        let mine = self.tell();
        let mut best: Option<(f64, usize, usize)> = None;
        let sum = |depths: &[f64], set: Set| nodes(set).map(|node| depths[node]).sum::<f64>();
        for (index, way) in self.ways.iter().enumerate() {
            if way.held >= LINK_HOLDS {
                continue;
            }
            for (group, queue) in self.queues.iter().enumerate() {
                // A neighbour's report excludes nodes that it reaches only through this one.
                let reached = way.bias.reached;
                let here = sum(queue.depths(), reached);
                let there = sum(&told[way.to].depths[group], reached);
                let waiting = nodes(reached).filter(|node| queue.depths()[*node] > 0.0);
                let bias: f64 = waiting.map(|node| way.bias.packets[node]).sum();
                let gradient = here - there + bias;
                if here > 0.0 && gradient > best.map_or(HYSTERESIS, |(known, ..)| known) {
                    best = Some((gradient, group, index));
                }
            }
        }
        let (_, group, index) = best?;
        let way = &self.ways[index];
        let theirs = &told[way.to].totals;
        let gradients: Vec<f64> = (mine.totals.iter().zip(theirs).zip(&way.bias.packets))
            .map(|((mine, theirs), bias)| mine - theirs + bias)
            .collect();
        let pick = self.queues[group].least_bad(&gradients, way.bias.reached)?;
        Some((index, self.queues[group].take(group, pick, random)))
    }
}
