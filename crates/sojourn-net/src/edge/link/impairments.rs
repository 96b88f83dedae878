//! Impairments of packets that leave the link, after queue and transmission: losses, ECN faults,
//! duplication.

use super::burst_loss::BurstLoss;
use super::draw;
use super::ecn_fault::EcnFault;
use super::outage::Outages;
use super::schedule::Schedule;
use crate::packet::{Direction, Packet};
use crate::quantity::Percent;
use crate::queue::Backlog;
use crate::queue::bursts::Bursts;
use crate::record::LinkCounters;
use crate::record::live::Tap;
use crate::rng::StreamKey;
use crate::units::Time;

/// Independent random loss of any packet; a burst that links carry as one packet is lost as a
/// whole. The draw depends on the packet's flow, direction and index only, so that other flows do
/// not change it.
#[derive(Debug)]
pub struct RandomLoss {
    probability: f64,
    schedule: Option<Schedule<Percent>>,
    bursts: Bursts,
    key: StreamKey,
}

impl RandomLoss {
    /// Loses each packet with `probability`; `key` names the link.
    pub fn new(probability: f64, key: StreamKey) -> Self {
        let (schedule, bursts, key) = (None, Bursts::default(), key.child("loss"));
        RandomLoss { probability, schedule, bursts, key }
    }

    /// The same with a probability that follows `schedule`.
    #[must_use]
    pub fn with_schedule(self, schedule: Option<Schedule<Percent>>) -> Self {
        RandomLoss { schedule, ..self }
    }

    fn loses(&mut self, now: Time, packet: &Packet) -> bool {
        let scheduled = self.schedule.as_mut().map(|schedule| schedule.at(now).fraction());
        let probability = scheduled.unwrap_or(self.probability);
        self.bursts.drops(packet, || draw::uniform(self.key, packet) < probability)
    }
}

/// Random duplication of any packet: the copy follows at once.
#[derive(Clone, Copy, Debug)]
pub struct Duplication {
    probability: f64,
    key: StreamKey,
}

impl Duplication {
    /// Doubles each packet with `probability`; `key` names the link.
    pub fn new(probability: f64, key: StreamKey) -> Self {
        Duplication { probability, key: key.child("duplicate") }
    }

    fn doubles(&self, packet: &Packet) -> bool {
        draw::uniform(self.key, packet) < self.probability
    }
}

/// Data packets of one flow that are lost by their number: 0 is the first data packet of the flow
/// that the link has transmitted; retransmissions count like any other.
#[derive(Clone, Debug)]
pub struct FlowDrops {
    flow: u32,
    /// In descending order: the next one is the last.
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

/// All impairments between the transmitter and the pipe.
#[derive(Debug, Default)]
pub struct Impairments {
    loss: Option<RandomLoss>,
    /// Sorted by flow.
    drops: Vec<FlowDrops>,
    burst_loss: Option<BurstLoss>,
    outages: Option<Outages>,
    ecn_fault: Option<EcnFault>,
    duplication: Option<Duplication>,
    lost: Backlog,
    duplicated: Backlog,
    tap: Option<Tap>,
}

/// Cause of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Listed,
    Random,
    Burst,
    Outage,
}

impl Cause {
    /// Name of the cause in records.
    fn name(self) -> &'static str {
        match self {
            Cause::Listed => "listed",
            Cause::Random => "loss",
            Cause::Burst => "burst_loss",
            Cause::Outage => "outage",
        }
    }
}

/// Impairments without counters of their own.
#[derive(Debug, Default)]
pub struct Faults {
    /// Loss in bursts.
    pub burst_loss: Option<BurstLoss>,
    /// Times at which every packet is lost.
    pub outages: Option<Outages>,
    /// Fault of the ECN field.
    pub ecn_fault: Option<EcnFault>,
    /// Packets that arrive twice.
    pub duplication: Option<Duplication>,
}

impl Impairments {
    /// Random loss, losses by number, and other faults; `None` when there are none of them.
    pub fn new(
        loss: Option<RandomLoss>,
        mut drops: Vec<FlowDrops>,
        faults: Faults,
    ) -> Option<Self> {
        drops.retain(|drops| !drops.listed.is_empty());
        drops.sort_by_key(|drops| drops.flow);
        let Faults { burst_loss, outages, ecn_fault, duplication } = faults;
        let needed = loss.is_some()
            || !drops.is_empty()
            || burst_loss.is_some()
            || outages.is_some()
            || ecn_fault.is_some()
            || duplication.is_some();
        let rest =
            Impairments { burst_loss, outages, ecn_fault, duplication, ..Impairments::default() };
        needed.then_some(Impairments { loss, drops, ..rest })
    }

    /// The same; `tap` records losses and copies.
    #[must_use]
    pub fn recorded(self, tap: Option<Tap>) -> Self {
        Impairments { tap, ..self }
    }

    /// Number of copies of `packet` that go on: zero if it is lost.
    pub fn copies(&mut self, now: Time, packet: &mut Packet) -> u32 {
        if let Some(cause) = self.loses(now, packet) {
            self.lost.add(packet);
            if let Some(tap) = &self.tap {
                tap.lose(now, packet, cause.name());
            }
            return 0;
        }
        if let Some(fault) = self.ecn_fault {
            packet.ecn = fault.apply(packet.ecn);
        }
        if self.duplication.is_some_and(|duplication| duplication.doubles(packet)) {
            self.duplicated.add(packet);
            if let Some(tap) = &self.tap {
                tap.duplicate(now, packet);
            }
            return 2;
        }
        1
    }

    /// Evaluates every cause, so that one does not shift the counts of another.
    fn loses(&mut self, now: Time, packet: &Packet) -> Option<Cause> {
        let listed = self.is_listed(packet);
        let random = self.loss.as_mut().is_some_and(|loss| loss.loses(now, packet));
        let burst = self.burst_loss.as_mut().is_some_and(BurstLoss::loses_next);
        let outage = self.outages.as_ref().is_some_and(|outages| outages.down(now));
        let causes = [
            (listed, Cause::Listed),
            (random, Cause::Random),
            (burst, Cause::Burst),
            (outage, Cause::Outage),
        ];
        causes.iter().find_map(|(loses, cause)| loses.then_some(*cause))
    }

    fn is_listed(&mut self, packet: &Packet) -> bool {
        if !packet.is_data() || packet.direction() != Direction::Forward {
            return false;
        }
        match self.drops.binary_search_by_key(&packet.flow, |drops| drops.flow) {
            Ok(found) => self.drops[found].loses_next(),
            Err(_) => false,
        }
    }

    /// Adds its share of the link's counters.
    pub fn report(&self, counters: &mut LinkCounters) {
        counters.drops_loss = self.lost.packets;
        counters.lost_bytes = self.lost.bytes;
        counters.duplicated_packets = self.duplicated.packets;
        counters.duplicated_bytes = self.duplicated.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Header;

    fn packet(flow: u32, index: u32) -> Packet {
        Packet { flow, index, size: 1500, header: Header::opaque(1448), ..Packet::default() }
    }

    #[test]
    fn random_loss_has_its_probability_and_ignores_other_flows() {
        let impairments = || {
            let loss = RandomLoss::new(0.1, StreamKey::root(7).child("a link"));
            Impairments::new(Some(loss), vec![], Faults::default()).unwrap()
        };
        let (mut alone, mut shared) = (impairments(), impairments());
        for index in 0..100_000 {
            shared.copies(Time::ZERO, &mut packet(1, index));
            let copies = alone.copies(Time::ZERO, &mut packet(0, index));
            assert_eq!(copies, shared.copies(Time::ZERO, &mut packet(0, index)));
        }
        // Binomial: standard deviation 95.
        assert!((9_600..10_400).contains(&alone.lost.packets), "{:?}", alone.lost);
    }

    #[test]
    fn listed_data_packets_of_one_flow_are_lost() {
        let drops = vec![FlowDrops::new(2, vec![5, 0, 5]), FlowDrops::new(1, vec![1])];
        let mut impairments = Impairments::new(None, drops, Faults::default()).unwrap();
        let mut lost = Vec::new();
        for number in 0..8 {
            let mut copies = |mut packet| impairments.copies(Time::ZERO, &mut packet);
            assert_eq!(copies(packet(0, number)), 1);
            assert_eq!(copies(Packet { header: Header::opaque(0), ..packet(2, number) }), 1);
            if copies(packet(2, 100 + number)) == 0 {
                lost.push(number);
            }
        }
        assert_eq!(lost, [0, 5]);
        assert_eq!(impairments.lost, Backlog { packets: 2, bytes: 3000 });
    }
}
