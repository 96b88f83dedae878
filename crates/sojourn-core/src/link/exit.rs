//! Losses on leaving the link, after queue and transmission.

use crate::packet::{Direction, Packet};
use crate::queue::Backlog;
use crate::rng::StreamKey;

/// Independent random loss of any packet. The fate of a packet hangs on its flow, its direction
/// and its index only, so it meets the same one whatever other flows do.
#[derive(Clone, Copy, Debug)]
pub struct RandomLoss {
    probability: f64,
    key: StreamKey,
}

impl RandomLoss {
    /// Loses each packet with `probability`; `key` names the link.
    pub fn new(probability: f64, key: StreamKey) -> Self {
        RandomLoss { probability, key: key.child("loss") }
    }

    fn loses(&self, packet: &Packet) -> bool {
        let stream = u64::from(packet.flow) << 1 | packet.direction as u64;
        self.key.index(stream).uniform_at(u64::from(packet.index)) < self.probability
    }
}

/// Data packets of one flow that are lost by their number: 0 is the first data packet of the flow
/// that the link has transmitted, retransmissions count like any other.
#[derive(Clone, Debug)]
pub struct FlowDrops {
    flow: u32,
    /// Descending, so that the next one is the last.
    listed: Vec<u32>,
    passed: u32,
}

impl FlowDrops {
    /// Loses the data packets of `flow` whose numbers are listed.
    pub fn new(flow: u32, mut listed: Vec<u32>) -> Self {
        listed.sort_unstable_by(|a, b| b.cmp(a));
        listed.dedup();
        FlowDrops { flow, listed, passed: 0 }
    }

    fn loses_next(&mut self) -> bool {
        let number = self.passed;
        self.passed += 1;
        self.listed.pop_if(|listed| *listed == number).is_some()
    }
}

/// Everything that may befall a packet between the transmitter and the pipe.
#[derive(Debug, Default)]
pub struct Exit {
    loss: Option<RandomLoss>,
    /// In the order of flows.
    drops: Vec<FlowDrops>,
    lost: Backlog,
}

impl Exit {
    /// Random loss and losses by number; `None` when there are neither.
    pub fn new(loss: Option<RandomLoss>, mut drops: Vec<FlowDrops>) -> Option<Self> {
        drops.retain(|drops| !drops.listed.is_empty());
        drops.sort_by_key(|drops| drops.flow);
        (loss.is_some() || !drops.is_empty()).then(|| Exit {
            loss,
            drops,
            lost: Backlog::default(),
        })
    }

    /// Whether `packet` is lost; counts it if so.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        let random = self.loss.is_some_and(|loss| loss.loses(packet));
        let lost = self.is_listed(packet) || random;
        if lost {
            self.lost.add(packet);
        }
        lost
    }

    fn is_listed(&mut self, packet: &Packet) -> bool {
        if !packet.is_data() || packet.direction != Direction::Forward {
            return false;
        }
        match self.drops.binary_search_by_key(&packet.flow, |drops| drops.flow) {
            Ok(found) => self.drops[found].loses_next(),
            Err(_) => false,
        }
    }

    /// Packets lost so far.
    pub fn lost(&self) -> Backlog {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flow: u32, index: u32) -> Packet {
        Packet { flow, index, size: 1500, payload: 1448, ..Packet::default() }
    }

    #[test]
    fn random_loss_has_its_probability_and_ignores_other_flows() {
        let loss = RandomLoss::new(0.1, StreamKey::root(7).child("a link"));
        let mut alone = Exit::new(Some(loss), vec![]).unwrap();
        let mut shared = Exit::new(Some(loss), vec![]).unwrap();
        for index in 0..100_000 {
            shared.loses(&packet(1, index));
            assert_eq!(alone.loses(&packet(0, index)), shared.loses(&packet(0, index)));
        }
        // Binomial: standard deviation 95.
        assert!((9_600..10_400).contains(&alone.lost().packets), "{:?}", alone.lost());
    }

    #[test]
    fn listed_data_packets_of_one_flow_are_lost() {
        let drops = vec![FlowDrops::new(2, vec![5, 0, 5]), FlowDrops::new(1, vec![1])];
        let mut exit = Exit::new(None, drops).unwrap();
        let mut lost = Vec::new();
        for number in 0..8 {
            assert!(!exit.loses(&packet(0, number)));
            assert!(!exit.loses(&Packet { payload: 0, ..packet(2, number) }));
            if exit.loses(&packet(2, 100 + number)) {
                lost.push(number);
            }
        }
        assert_eq!(lost, [0, 5]);
        assert_eq!(exit.lost(), Backlog { packets: 2, bytes: 3000 });
    }
}
