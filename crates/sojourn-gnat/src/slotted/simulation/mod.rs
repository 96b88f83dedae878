//! Simulation of a model slot by slot.

mod samples;
mod setup;

use crate::slotted::Set;
use crate::slotted::coding::{Basis, Coded};
use crate::slotted::gradients::Told;
use crate::slotted::learning::{INTERVAL, Learning};
use crate::slotted::node::Node;
use crate::slotted::outcome::Outcome;
use crate::slotted::queue::Packet;
use crate::slotted::spec::{Model, Signals};
use sojourn_base::error::FieldError;
use sojourn_base::rng::Stream;
use sojourn_base::units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Slots until a receiver's report of a missing packet of a generation arrives at the source.
const REPORT: u64 = 120;
/// Bytes of a message about queues, as overlay nodes send it: an entry's number and depth; a group's
/// header.
const ENTRY: f64 = 9.0;
const GROUP: f64 = 5.0;

/// A direction of a link.
struct Link {
    from: usize,
    way: usize,
    to: usize,
    rates: VecDeque<(u64, f64)>,
    /// Slots that a packet takes, and that are left of one.
    period: f64,
    wait: f64,
    packets: VecDeque<Packet>,
}

/// A source and what it admitted.
struct Source {
    stream: usize,
    to: Set,
    next: f64,
    admitted: u64,
}

/// State of a receiver.
struct Receiver {
    node: usize,
    packets: u64,
    useless: u64,
    generations: BTreeMap<usize, Basis>,
    /// In this sample.
    arrived: u64,
    waited: f64,
}

/// A model while it runs.
struct Simulation<'a> {
    model: &'a Model,
    slot: u64,
    all: Vec<Node>,
    links: Vec<Link>,
    sources: Vec<Source>,
    receivers: Vec<Vec<Receiver>>,
    learning: Option<Learning>,
    /// When packets of each stream were admitted, with coding.
    born: Vec<Vec<u64>>,
    /// Demands of receivers under way: when, stream, generation, node.
    demands: VecDeque<(u64, usize, usize, usize)>,
    random: Stream,
    told: Vec<Told>,
    sampled: Sampled,
}

/// Sums over a sample.
#[derive(Default)]
struct Sampled {
    slots: u64,
    admitted: Vec<u64>,
    carried: Vec<u64>,
    queued: Vec<Vec<f64>>,
    told_bytes: f64,
    messages: u64,
}

/// Simulates a model.
///
/// # Errors
/// The model cannot be simulated.
pub fn run(model: &Model) -> Result<Outcome, FieldError> {
    model.check()?;
    let mut simulation = Simulation::new(model);
    let mut outcome = simulation.empty();
    let every = (model.sample * model.slots).round().max(1.0) as u64;
    let end = (model.seconds * model.slots).round() as u64;
    while simulation.slot < end {
        simulation.step(&mut outcome);
        simulation.slot += 1;
        if simulation.slot.is_multiple_of(every) {
            simulation.sample(&mut outcome);
        }
    }
    simulation.finish(&mut outcome);
    Ok(outcome)
}

impl<'a> Simulation<'a> {
    /// The beginning of this slot.
    fn now(&self) -> Time {
        Time::ZERO + Span::from_secs_f64(self.slot as f64 / self.model.slots)
    }

    fn step(&mut self, outcome: &mut Outcome) {
        self.set_rates();
        self.admit();
        self.tell();
        self.forward();
        self.transmit(outcome);
        self.learn();
        for (node, queued) in self.all.iter().zip(&mut self.sampled.queued) {
            queued.iter_mut().zip(&node.queues).for_each(|(sum, queue)| *sum += queue.count());
        }
        self.sampled.slots += 1;
    }

    fn set_rates(&mut self) {
        let bits = self.model.packet_bits + 8.0 * self.model.generation as f64;
        for link in &mut self.links {
            while let Some((_, rate)) = link.rates.front().filter(|(at, _)| *at <= self.slot) {
                link.period = bits * self.model.slots / (1e6 * rate);
                link.rates.pop_front();
            }
        }
    }

    /// Admits at the rate `priority k / depth`.
    fn admit(&mut self) {
        let now = self.now();
        let due = |demand: &&(u64, usize, usize, usize)| demand.0 <= self.slot;
        while let Some((_, stream, generation, node)) = self.demands.front().filter(due).copied() {
            self.demands.pop_front();
            let coded = Some(Coded { generation, coefficients: Vec::new() });
            let from = self.model.streams[stream].from;
            let packet = Packet { stream, to: 1 << node, born: self.slot, zombie: false, coded };
            self.all[from].push(now, packet);
        }
        for source in &mut self.sources {
            let spec = &self.model.streams[source.stream];
            let node = &mut self.all[spec.from];
            let most = 1e6 * spec.ceiling / self.model.packet_bits;
            let price = node.price(source.stream, source.to);
            let rate = if price > 0.0 { spec.priority * self.model.k / price } else { most };
            let slots = self.model.slots / rate.min(most);
            source.next = source.next.max(self.slot as f64).min(self.slot as f64 + slots);
            while source.next < (self.slot + 1) as f64 {
                let coded = coded(self.model.generation, source.admitted as usize);
                if coded.is_some() {
                    self.born[source.stream].push(self.slot);
                }
                let (stream, to) = (source.stream, source.to);
                node.push(now, Packet { stream, to, born: self.slot, zombie: false, coded });
                if let Some(learning) = &mut self.learning {
                    learning.on_admission(spec.from, stream, to);
                }
                source.admitted += 1;
                self.sampled.admitted[stream] += 1;
                source.next += slots;
            }
        }
    }

    fn tell(&mut self) {
        self.told = self.all.iter().map(Node::tell).collect();
        let some = |depths: &[f64]| depths.iter().filter(|depth| **depth > 0.0).count() as f64;
        for told in &self.told {
            self.sampled.told_bytes += match self.model.signals {
                Signals::Each => {
                    let sizes = told.depths.iter().map(|depths| some(depths));
                    sizes.filter(|entries| *entries > 0.0).map(|e| GROUP + ENTRY * e).sum::<f64>()
                }
                Signals::Totals => {
                    let groups = told.depths.iter().filter(|depths| some(depths) > 0.0).count();
                    ENTRY * (some(&told.totals) + groups as f64)
                }
            };
            self.sampled.messages += 1;
        }
    }

    fn forward(&mut self) {
        let now = self.now();
        for (index, node) in self.all.iter_mut().enumerate() {
            let mut links: Vec<&mut Link> =
                self.links.iter_mut().filter(|link| link.from == index).collect();
            node.forward(now, &self.told, &mut self.random, |way, packet| {
                if let Some(link) = links.iter_mut().find(|link| link.way == way) {
                    link.packets.push_back(packet);
                }
            });
        }
    }

    /// Links deliver the packets that are due: one at a time, when its period has passed.
    fn transmit(&mut self, outcome: &mut Outcome) {
        for index in 0..self.links.len() {
            let link = &mut self.links[index];
            link.wait -= 1.0;
            if link.wait > 0.0 {
                continue;
            }
            let Some(packet) = link.packets.pop_front() else {
                link.wait += 1.0;
                continue;
            };
            link.wait += link.period;
            let (from, way, to) = (link.from, link.way, link.to);
            self.all[from].ways[way].held -= 1;
            if packet.zombie {
                outcome.loads[index].zombies += 1;
                continue;
            }
            self.sampled.carried[index] += 1;
            self.arrive(to, packet);
        }
    }

    fn arrive(&mut self, node: usize, mut packet: Packet) {
        if packet.to >> node & 1 == 1 {
            packet.to &= !(1 << node);
            self.receive(node, &packet);
        }
        // With coding, what was sent for this node alone is still worth having for others.
        if packet.to != 0 || packet.coded.is_some() {
            let now = self.now();
            self.all[node].push(now, packet);
        }
    }

    fn receive(&mut self, node: usize, packet: &Packet) {
        let receivers = &mut self.receivers[packet.stream];
        let Some(receiver) = receivers.iter_mut().find(|receiver| receiver.node == node) else {
            return;
        };
        receiver.packets += 1;
        let Some(coded) = &packet.coded else {
            receiver.arrived += 1;
            receiver.waited += (self.slot - packet.born) as f64;
            return;
        };
        let basis = receiver.generations.entry(coded.generation).or_default();
        if !basis.add(coded.coefficients.clone()) {
            receiver.useless += 1;
            self.demands.push_back((self.slot + REPORT, packet.stream, coded.generation, node));
            return;
        }
        if basis.rank() == self.model.generation {
            let first = coded.generation * self.model.generation;
            let born = &self.born[packet.stream][first..first + self.model.generation];
            receiver.arrived += born.len() as u64;
            receiver.waited += born.iter().map(|born| (self.slot - born) as f64).sum::<f64>();
        }
    }

    fn learn(&mut self) {
        if let Some(learning) =
            self.learning.as_mut().filter(|_| self.slot.is_multiple_of(INTERVAL))
        {
            let mut periods: Vec<Vec<f64>> =
                self.all.iter().map(|node| vec![1.0; node.ways.len()]).collect();
            self.links.iter().for_each(|link| periods[link.from][link.way] = link.period);
            learning.update(self.slot, &mut self.all, &self.told, &periods);
        }
    }
}

/// Coefficients of the `number`th packet of a stream, which consists of itself alone.
fn coded(generation: usize, number: usize) -> Option<Coded> {
    let place = number.checked_rem(generation)?;
    let mut coefficients = vec![0; generation];
    coefficients[place] = 1;
    Some(Coded { generation: number / generation, coefficients })
}
