//! A queue discipline by itself: its input and output are compared with laws that hold for every
//! discipline.

use std::collections::HashMap;

use super::Subject;
use crate::error::FieldError;
use crate::packet::{Direction, Ecn, FiveTuple, Packet};
use crate::queue::{
    DropReason, QueueContext, QueueCounters, QueueDiscipline, QueueFacts, QueueInit, QueueObserver,
};
use crate::rng::StreamKey;
use crate::spec::Queue;
use crate::units::{Rate, Span, Time};

/// Next step of the test.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A packet arrives.
    Arrival {
        /// Its flow.
        flow: u32,
        /// Its size in bytes.
        size: u32,
        /// Its codepoint.
        ecn: Ecn,
        /// Whether it goes in the opposite direction.
        back: bool,
    },
    /// The link has room for one.
    Departure,
    /// Time passes.
    Pause {
        /// Duration in microseconds.
        micros: u64,
    },
}

/// Number of violations of each law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breaches {
    /// Steps after which the packets that arrived are not those that left, were dropped or wait.
    pub balance: u64,
    /// Packets that left after a later one of their flow.
    pub order: u64,
    /// Packets that left with a codepoint that is not allowed, or were changed otherwise.
    pub marks: u64,
    /// Counters that differ from the observed events.
    pub counts: u64,
    /// Packets that never came out.
    pub stuck: u64,
}

/// Sums over packets on one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Tally {
    fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.size);
    }
}

/// Observes each drop and mark as it happens.
#[derive(Default)]
struct Watcher {
    dropped: Tally,
    drops: [u64; DropReason::COUNT],
    ce_marks: u64,
    sce_marks: u64,
    wrong_marks: u64,
}

impl QueueObserver for Watcher {
    fn on_drop(&mut self, _now: Time, packet: &Packet, reason: DropReason) {
        self.dropped.add(packet);
        self.drops[reason as usize] += 1;
    }

    fn on_mark(&mut self, _now: Time, packet: &Packet) {
        match packet.ecn {
            Ecn::Ce => self.ce_marks += 1,
            Ecn::Ect1 => self.sce_marks += 1,
            _ => self.wrong_marks += 1,
        }
    }
}

/// A discipline at a link of 10 Mbit/s, with its input and output.
pub struct Bench {
    queue: Box<dyn QueueDiscipline>,
    now: Time,
    /// The discipline's own counters.
    pub counters: QueueCounters,
    watcher: Watcher,
    /// Packets that arrived.
    pub offered: Tally,
    sent: Tally,
    arrivals: HashMap<u32, Packet>,
    last_sent: HashMap<(u32, Direction), u32>,
    breaches: Breaches,
}

/// Time that a packet takes on the link.
pub fn slot() -> Span {
    Rate::from_bps(10_000_000).span_of(1514)
}

impl Bench {
    /// A bench of the discipline of `subject`.
    ///
    /// # Errors
    /// If a parameter is refused.
    pub fn new(subject: &Subject, seed: u64) -> Result<Self, FieldError> {
        let rate = Rate::from_bps(10_000_000);
        let mut init = QueueInit::new(Some(rate), StreamKey::root(seed));
        (init.base_rtt, init.ecn) = (Span::from_millis(40), true);
        let queue = (subject.entry::<Queue>().make)(&subject.params, &init, &subject.catalogue)?;
        Ok(Bench {
            queue: queue.boxed(),
            now: Time::ZERO,
            counters: QueueCounters::default(),
            watcher: Watcher::default(),
            offered: Tally::default(),
            sent: Tally::default(),
            arrivals: HashMap::new(),
            last_sent: HashMap::new(),
            breaches: Breaches::default(),
        })
    }

    /// Violations so far; packets may overtake in a discipline that declares it.
    pub fn breaches(&self, declared: &QueueFacts) -> Breaches {
        let order = if declared.reorders { 0 } else { self.breaches.order };
        let marks = self.breaches.marks + self.watcher.wrong_marks;
        Breaches { order, marks, ..self.breaches }
    }

    /// Does one step.
    pub fn step(&mut self, step: Step) {
        match step {
            Step::Arrival { flow, size, ecn, back } => self.arrive(flow, size, ecn, back),
            Step::Departure => drop(self.depart()),
            Step::Pause { micros } => self.pause(Span::from_micros(micros)),
        }
        let waiting = self.queue.backlog();
        let packets = self.sent.packets + self.watcher.dropped.packets + waiting.packets;
        let bytes = self.sent.bytes + self.watcher.dropped.bytes + waiting.bytes;
        self.breaches.balance += u64::from(self.offered != Tally { packets, bytes });
    }

    fn arrive(&mut self, flow: u32, size: u32, ecn: Ecn, back: bool) {
        let direction = if back { Direction::Backward } else { Direction::Forward };
        let index = self.offered.packets as u32;
        let (source, destination) = (flow as u16 % 3, 10 + flow as u16 % 2);
        let packet = Packet {
            flow,
            way: direction.into(),
            ecn,
            tuple: FiveTuple { source, destination, ports: flow },
            size,
            index,
            enqueued_at: self.now,
            ..Packet::default()
        };
        self.offered.add(&packet);
        self.arrivals.insert(index, packet);
        let mut cx =
            QueueContext { counters: &mut self.counters, observer: Some(&mut self.watcher) };
        self.queue.enqueue(self.now, packet, &mut cx);
    }

    fn depart(&mut self) -> Option<Packet> {
        let mut cx =
            QueueContext { counters: &mut self.counters, observer: Some(&mut self.watcher) };
        let packet = self.queue.dequeue(self.now, &mut cx)?;
        self.sent.add(&packet);
        let may_become: &[Ecn] = match self.arrivals.remove(&packet.index) {
            Some(arrived) if (arrived.size, arrived.flow) == (packet.size, packet.flow) => {
                match arrived.ecn {
                    Ecn::NotEct => &[Ecn::NotEct],
                    Ecn::Ect0 => &[Ecn::Ect0, Ecn::Ect1, Ecn::Ce],
                    Ecn::Ect1 => &[Ecn::Ect1, Ecn::Ce],
                    Ecn::Ce => &[Ecn::Ce],
                }
            }
            _ => &[], // it never came, or is another now
        };
        self.breaches.marks += u64::from(!may_become.contains(&packet.ecn));
        let key = (packet.flow, packet.direction());
        let previous = self.last_sent.insert(key, packet.index);
        self.breaches.order += u64::from(previous.is_some_and(|p| p >= packet.index));
        Some(packet)
    }

    /// Advances time, and runs the discipline's timers.
    fn pause(&mut self, span: Span) {
        let end = self.now + span;
        while let Some(timer) = self.queue.next_timer().filter(|timer| *timer <= end) {
            let mut cx =
                QueueContext { counters: &mut self.counters, observer: Some(&mut self.watcher) };
            self.now = timer.max(self.now);
            self.queue.on_timer(self.now, &mut cx);
            if self.queue.next_timer().is_some_and(|next| next <= timer) {
                break;
            }
        }
        self.now = end;
    }

    /// Empties the queue; a shaper gets the time it needs.
    pub fn drain(&mut self) {
        for _ in 0..100_000 {
            if self.queue.backlog().packets == 0 {
                break;
            }
            if self.depart().is_none() {
                self.pause(Span::from_millis(2));
            }
        }
        let gone = self.sent.packets + self.watcher.dropped.packets;
        self.breaches.stuck += self.offered.packets.abs_diff(gone);
        let (counted, seen) = (&self.counters, &self.watcher);
        let same = [
            counted.drops == seen.drops,
            counted.dropped_bytes == seen.dropped.bytes,
            counted.ce_marks == seen.ce_marks,
            counted.sce_marks == seen.sce_marks,
        ];
        self.breaches.counts += same.iter().filter(|same| !**same).count() as u64;
    }

    /// Text of all packets' fates, for comparison.
    pub fn fate(&self) -> String {
        format!("{:?} {:?} {:?} {:?}", self.offered, self.sent, self.counters, self.last_sent.len())
    }
}
