//! The queue of a group at a node: packets that carry their destinations, or coded ones.

use std::collections::VecDeque;

use super::coding::{Coded, Coder};
use super::{Set, nodes};

/// A packet.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    /// Its stream, which is its group.
    pub stream: usize,
    /// Nodes that it is still for.
    pub to: Set,
    /// The slot in which it was admitted; of a coded one nothing.
    pub born: u64,
    /// Whether it is a zombie, which only adds depth.
    pub zombie: bool,
    /// Its coefficients, with network coding.
    pub coded: Option<Coded>,
}

/// Packets of a group.
#[derive(Debug)]
pub(super) struct Queue {
    packets: VecDeque<Packet>,
    coder: Option<Coder>,
    depths: Vec<f64>,
}

/// Choice of what to send: a packet's place, or a generation; and its destinations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    place: usize,
    /// Destinations.
    pub to: Set,
}

impl Queue {
    /// An empty queue, coded in generations of `generation` packets if that is not 0.
    pub(super) fn new(nodes: usize, generation: usize) -> Self {
        let coder = (generation > 0).then(|| Coder::new(nodes, generation));
        Queue { packets: VecDeque::new(), coder, depths: vec![0.0; nodes] }
    }

    /// Packets for each node.
    pub(super) fn depths(&self) -> &[f64] {
        &self.depths
    }

    /// Number of packets; with coding, the least number to be sent.
    pub(super) fn count(&self) -> f64 {
        match &self.coder {
            Some(_) => self.depths.iter().copied().fold(0.0, f64::max),
            None => self.packets.len() as f64,
        }
    }

    /// Adds a packet.
    pub(super) fn push(&mut self, packet: Packet) {
        nodes(packet.to).for_each(|node| self.depths[node] += 1.0);
        match (&mut self.coder, packet.coded) {
            (Some(coder), Some(coded)) => coder.push(coded, packet.to),
            (_, coded) => self.packets.push_back(Packet { coded, ..packet }),
        }
    }

    /// The packet that best matches the gradients, of which only positive ones count: that with the
    /// largest sum over its destinations.
    pub(super) fn best(&self, gradients: &[f64]) -> Option<Pick> {
        let wanted = |to: Set| nodes(to).filter(|node| gradients[*node] > 0.0);
        if let Some(coder) = &self.coder {
            let (place, to) = coder.best(gradients)?;
            return Some(Pick { place, to });
        }
        let mut best = (0.0, None);
        for (place, packet) in self.packets.iter().enumerate() {
            let sum: f64 = wanted(packet.to).map(|node| gradients[node]).sum();
            if sum > best.0 {
                let to = wanted(packet.to).fold(0, |set, node| set | 1 << node);
                best = (sum, Some(Pick { place, to }));
            }
        }
        best.1
    }

    /// What goes best where no gradient of single packets need be positive: the packet of which most
    /// can go whole, then the one with the largest sum; to all its nodes in `within`.
    pub(super) fn least_bad(&self, gradients: &[f64], within: Set) -> Option<Pick> {
        let mut best: Option<((bool, f64), Pick)> = None;
        for (place, packet) in self.packets.iter().enumerate() {
            let positive = nodes(packet.to & within).filter(|node| gradients[*node] > 0.0);
            let positive = positive.fold(0, |set, node| set | 1 << node);
            let downhill = positive != 0;
            let to = if downhill { positive } else { packet.to & within };
            if to == 0 {
                continue;
            }
            let sum: f64 = nodes(to).map(|node| gradients[node]).sum();
            // Downhill before uphill, whole packets before parts.
            let whole = if to == packet.to { 1e-3 } else { 0.0 };
            let rank = (downhill, if downhill { sum * (1.0 + whole) } else { sum });
            if best.as_ref().is_none_or(|(known, _)| rank > *known) {
                best = Some((rank, Pick { place, to }));
            }
        }
        best.map(|(_, pick)| pick)
    }

    /// Removes a packet for some nodes; for its others it stays.
    pub(super) fn take(
        &mut self,
        stream: usize,
        pick: Pick,
        random: &mut sojourn_base::rng::Stream,
    ) -> Packet {
        nodes(pick.to).for_each(|node| self.depths[node] -= 1.0);
        if let Some(coder) = &mut self.coder {
            let coded = Some(coder.take(pick.place, pick.to, random));
            return Packet { stream, to: pick.to, born: 0, zombie: false, coded };
        }
        let packet = &mut self.packets[pick.place];
        let taken = Packet { to: pick.to, ..packet.clone() };
        packet.to &= !pick.to;
        if packet.to == 0 {
            self.packets.remove(pick.place);
        }
        taken
    }
}
