//! Cake's DRR++: selects the next queue, with fairness between flows and between their hosts.

use rand::Rng;

use super::classify::{Class, Classifier, QUEUES};
use super::rotation::{List, Rotation};
use crate::packet::Packet;
use crate::queue::cobalt::law::Cobalt;
use crate::queue::store::Chain;
use crate::rng::Stream;
use crate::units::{Rate, Time};

/// State of a queue's flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Set {
    /// Belongs to no flow.
    #[default]
    None,
    /// Within its first quantum since it was empty.
    Sparse,
    /// Empty and out of quantum: waits in the bulk rotation but is not counted as bulk.
    SparseWait,
    /// Backlogged beyond its quantum.
    Bulk,
    /// Empty, while its control law has not returned to its initial state.
    Decaying,
}

/// One of Cake's queues.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Queue {
    /// Its packets.
    pub waiting: Chain,
    /// Their bytes.
    pub backlog: u64,
    /// Bytes it may still send in this round.
    pub deficit: i32,
    /// Its control law.
    pub law: Cobalt,
    source: u16,
    destination: u16,
    set: Set,
}

/// Numbers of flows, and the largest COBALT count and BLUE probability of any.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Backlogged beyond a quantum.
    pub bulk: u32,
    /// Within their first quantum.
    pub sparse: u32,
    /// Empty, with a law that is not at rest.
    pub decaying: u32,
    /// COBALT's count.
    pub most_count: u32,
    /// BLUE's probability.
    pub most_blue: f64,
}

/// The queues and their rotations.
#[derive(Debug)]
pub(super) struct Scheduler {
    /// All queues, by number.
    pub queues: Box<[Queue]>,
    rotation: Rotation,
    classifier: Option<Classifier>,
    quantum: u32,
    bulk_flows: u32,
    /// Queues in the rotations of sparse and bulk ones.
    active: u32,
}

impl Scheduler {
    /// For a shaper's rate; without a classifier all packets have one queue.
    pub(super) fn new(rate: Option<Rate>, classifier: Option<Classifier>) -> Self {
        let count = if classifier.is_none() { 1 } else { QUEUES };
        Scheduler {
            queues: vec![Queue::default(); usize::from(count)].into(),
            rotation: Rotation::new(count),
            classifier,
            // Small enough at low rates that a flow's turn takes no more than about 3 ms.
            quantum: rate.map_or(1514, |rate| (rate.as_bps() / 8 / 4096).clamp(300, 1514) as u32),
            bulk_flows: 0,
            active: 0,
        }
    }

    /// Number of flows that are backlogged beyond a quantum.
    pub(super) fn bulk_flows(&self) -> u32 {
        self.bulk_flows
    }

    /// Whether there are queues to serve besides those that are decaying.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.active > 0
    }

    /// Its state.
    pub(super) fn state(&self) -> State {
        let queues = || {
            let lists = [List::New, List::Old, List::Decaying];
            let numbers = lists.into_iter().flat_map(|list| self.rotation.queues(list));
            numbers.map(|number| &self.queues[usize::from(number)])
        };
        let of = |set| queues().filter(|queue| queue.set == set).count() as u32;
        State {
            bulk: self.bulk_flows,
            sparse: of(Set::Sparse),
            decaying: of(Set::Decaying),
            most_count: queues().map(|queue| queue.law.count()).max().unwrap_or(0),
            most_blue: queues().map(|queue| queue.law.blue_probability()).fold(0.0, f64::max),
        }
    }

    /// Index of the packet's queue.
    #[inline]
    pub(super) fn classify(&mut self, packet: &Packet) -> usize {
        let Some(classifier) = &mut self.classifier else { return 0 };
        let queues = &self.queues;
        let class = classifier.classify(packet, |q| queues[usize::from(q)].set != Set::None);
        self.remember_hosts(class);
        usize::from(class.queue)
    }

    /// Stores the hosts of a queue's new flow; if it takes over a bulk queue by collision, the
    /// hosts' counts follow.
    fn remember_hosts(&mut self, Class { queue, hosts }: Class) {
        let Some((source, destination)) = hosts else { return };
        let index = usize::from(queue);
        let is_bulk = self.queues[index].set == Set::Bulk;
        if is_bulk {
            self.count_hosts(index, false);
        }
        self.queues[index].source = source;
        self.queues[index].destination = destination;
        if is_bulk {
            self.count_hosts(index, true);
        }
    }

    fn count_hosts(&mut self, index: usize, more: bool) {
        let Some(classifier) = &mut self.classifier else { return };
        let Queue { source, destination, .. } = self.queues[index];
        if classifier.fair_to_sources() {
            classifier.sources.count(source, more);
        }
        if classifier.fair_to_destinations() {
            classifier.destinations.count(destination, more);
        }
    }

    fn enter_bulk(&mut self, index: usize) {
        self.queues[index].set = Set::Bulk;
        self.bulk_flows += 1;
        self.count_hosts(index, true);
    }

    /// The quantum of a queue in 2^-16 bytes: divided among the bulk flows of its busiest host.
    #[inline]
    fn share(&self, index: usize) -> u32 {
        let Queue { source, destination, .. } = self.queues[index];
        let mut load = 1;
        if let Some(classifier) = &self.classifier {
            if classifier.fair_to_sources() {
                load = load.max(classifier.sources.bulk_flows(source));
            }
            if classifier.fair_to_destinations() {
                load = load.max(classifier.destinations.bulk_flows(destination));
            }
        }
        self.quantum * (65_535 / u32::from(load))
    }

    /// A packet arrived at the queue: an empty queue joins the sparse ones, or the bulk ones if its
    /// deficit is spent.
    #[inline]
    pub(super) fn wake(&mut self, index: usize) {
        match self.queues[index].set {
            Set::None | Set::Decaying => {
                self.active += 1;
                self.rotation.move_to_tail(index as u16, List::New);
                self.queues[index].set = Set::Sparse;
                self.queues[index].deficit = (self.share(index) >> 16) as i32;
            }
            Set::SparseWait => self.enter_bulk(index),
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// The next queue to serve. Decaying queues get the first visit of each departure.
    #[inline]
    pub(super) fn next(&self, first_visit: bool) -> Option<usize> {
        let first = |list| self.rotation.first(list);
        let decaying = if first_visit { first(List::Decaying) } else { None };
        decaying
            .or_else(|| first(List::New))
            .or_else(|| first(List::Old))
            .or_else(|| first(List::Decaying))
            .map(usize::from)
    }

    /// Gives a queue without deficit its next quantum and moves it to the end of the bulk rotation.
    #[inline]
    pub(super) fn refill(&mut self, index: usize, random: &mut Stream) {
        if self.queues[index].set == Set::Sparse {
            if self.queues[index].waiting.is_empty() {
                self.queues[index].set = Set::SparseWait;
            } else {
                self.enter_bulk(index);
            }
        }
        // Dither, so that the quotients' fractions add up in the mean.
        let dither = random.next_u32() >> 16;
        self.queues[index].deficit += ((self.share(index) + dither) >> 16) as i32;
        self.rotation.move_to_tail(index as u16, List::Old);
    }

    /// An empty queue leaves the rotations, or decays until its law is in its initial state.
    pub(super) fn retire(&mut self, index: usize, now: Time) {
        if self.queues[index].set == Set::Bulk {
            self.bulk_flows -= 1;
            self.count_hosts(index, false);
        }
        self.active -= u32::from(self.queues[index].set != Set::Decaying);
        if self.queues[index].law.at_rest(now) {
            self.queues[index].set = Set::None;
            self.rotation.remove(index as u16);
        } else {
            self.queues[index].set = Set::Decaying;
            self.rotation.move_to_tail(index as u16, List::Decaying);
        }
    }

    /// The queue with the most bytes.
    pub(super) fn longest(&self) -> usize {
        let by_backlog = |&i: &usize| (self.queues[i].backlog, std::cmp::Reverse(i));
        (0..self.queues.len()).max_by_key(by_backlog).unwrap_or(0)
    }
}
