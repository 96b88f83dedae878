//! The egress of a link: a queue discipline, optionally a device's FIFO below it, and the
//! measurement of the time that packets spend in the discipline.

use std::collections::VecDeque;

use crate::packet::Packet;
use crate::queue::{Backlog, Discipline, DropReason, QueueContext, QueueCounters, QueueDiscipline};
use crate::record::LinkCounters;
use crate::record::histogram::Histogram;
use crate::units::{Span, Time};

/// Calls the discipline's method, statically where possible.
macro_rules! dispatch {
    ($discipline:expr, $queue:ident => $call:expr) => {
        match $discipline {
            Discipline::Fifo($queue) => $call,
            Discipline::Cake($queue) => $call,
            Discipline::Other($queue) => $call,
        }
    };
}

/// Where packets wait for the transmitter.
pub struct Egress {
    discipline: Discipline,
    can_bypass: bool,
    /// The device's own FIFO: takes packets from the discipline whenever it has room.
    device: VecDeque<Packet>,
    device_limit: usize,
    counters: QueueCounters,
    /// Packets in the discipline since `changed_at`.
    waiting: u64,
    changed_at: Time,
    /// Integral of `waiting`, in packet-nanoseconds.
    queue_time: u128,
    sojourn_sum: u64,
    sojourn_count: u64,
    sojourn: Histogram,
}

impl Egress {
    /// An empty queue; up to `device_limit` packets wait below the discipline.
    pub fn new(discipline: Discipline, device_limit: usize) -> Self {
        Egress {
            can_bypass: dispatch!(&discipline, queue => queue.can_bypass()),
            discipline,
            device: VecDeque::new(),
            device_limit,
            counters: QueueCounters::default(),
            waiting: 0,
            changed_at: Time::ZERO,
            queue_time: 0,
            sojourn_sum: 0,
            sojourn_count: 0,
            sojourn: Histogram::default(),
        }
    }

    /// Whether the discipline itself spaces departures at the link's rate.
    pub fn shapes_link(&self) -> bool {
        dispatch!(&self.discipline, queue => queue.shapes_link())
    }

    /// Takes a packet while the transmitter is idle: writes the one to transmit now to `next`, if there
    /// is one.
    #[inline]
    pub fn pass(&mut self, now: Time, packet: &Packet, next: &mut Packet) -> bool {
        if self.can_bypass && self.waiting == 0 && self.device.is_empty() {
            self.count_sojourn(Span::ZERO);
            *next = Packet { enqueued_at: now, ..*packet };
            return true;
        }
        self.enqueue(now, packet);
        self.dequeue(now, next)
    }

    /// Takes a packet while the transmitter is busy.
    #[inline]
    pub fn enqueue(&mut self, now: Time, packet: &Packet) {
        if self.can_bypass && self.waiting == 0 && self.device.len() < self.device_limit {
            return self.store(now, packet);
        }
        let cx = &mut QueueContext { counters: &mut self.counters, observer: None };
        match &mut self.discipline {
            Discipline::Fifo(queue) => {
                queue.take(now, packet, cx);
                let waiting = queue.backlog().packets;
                self.changed_to(now, waiting);
            }
            _ => self.enqueue_elsewhere(now, packet),
        }
        self.fill_device(now);
    }

    #[inline(never)] // most links have no such FIFO
    fn store(&mut self, now: Time, packet: &Packet) {
        self.count_sojourn(Span::ZERO);
        self.device.push_back(Packet { enqueued_at: now, ..*packet });
    }

    /// In a discipline other than a FIFO: kept apart from the path through a FIFO, which is short.
    #[inline(never)]
    fn enqueue_elsewhere(&mut self, now: Time, packet: &Packet) {
        let offered = Packet { enqueued_at: now, ..*packet };
        let cx = &mut QueueContext { counters: &mut self.counters, observer: None };
        let waiting = dispatch!(&mut self.discipline, queue => {
            queue.enqueue(now, offered, cx);
            queue.backlog().packets
        });
        self.changed_to(now, waiting);
    }

    /// Writes the next packet to transmit, if any, to `packet`.
    #[inline]
    pub fn dequeue(&mut self, now: Time, packet: &mut Packet) -> bool {
        if self.device_limit == 0 {
            return self.draw(now, packet);
        }
        self.dequeue_device(now, packet)
    }

    #[inline(never)]
    fn dequeue_device(&mut self, now: Time, packet: &mut Packet) -> bool {
        let taken = match self.device.pop_front() {
            Some(first) => {
                *packet = first;
                true
            }
            None => self.draw(now, packet),
        };
        self.fill_device(now);
        taken
    }

    #[inline]
    fn fill_device(&mut self, now: Time) {
        if self.device_limit > 0 {
            self.draw_to_device(now);
        }
    }

    #[inline(never)]
    fn draw_to_device(&mut self, now: Time) {
        let mut packet = Packet::default();
        while self.device.len() < self.device_limit && self.draw(now, &mut packet) {
            self.device.push_back(packet);
        }
    }

    /// Moves a packet out of the discipline, at once to where it goes: one that is kept while something
    /// else is done is copied twice. Also called when nothing waits: some control laws observe that the
    /// queue is empty.
    #[inline(always)] // once per packet
    fn draw(&mut self, now: Time, packet: &mut Packet) -> bool {
        let drawn = match &mut self.discipline {
            Discipline::Fifo(queue) => {
                let drawn = queue.give(packet);
                let waiting = queue.backlog().packets;
                self.changed_to(now, waiting);
                drawn
            }
            _ => self.draw_elsewhere(now, packet),
        };
        if drawn {
            self.count_sojourn(now.since(packet.enqueued_at));
        }
        drawn
    }

    #[inline(never)]
    fn draw_elsewhere(&mut self, now: Time, packet: &mut Packet) -> bool {
        let cx = &mut QueueContext { counters: &mut self.counters, observer: None };
        let (drawn, waiting) = dispatch!(&mut self.discipline, queue => {
            (queue.dequeue_into(now, packet, cx), queue.backlog().packets)
        });
        self.changed_to(now, waiting);
        drawn
    }

    /// When the discipline's timer is due next, if at all.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        match &self.discipline {
            Discipline::Fifo(_) => None,
            Discipline::Cake(queue) => queue.next_timer(),
            Discipline::Other(queue) => queue.next_timer(),
        }
    }

    /// Runs the discipline's timer.
    pub fn on_timer(&mut self, now: Time) {
        let cx = &mut QueueContext { counters: &mut self.counters, observer: None };
        dispatch!(&mut self.discipline, queue => queue.on_timer(now, cx));
        self.changed(now);
        self.fill_device(now);
    }

    /// The discipline's backlog may have changed.
    fn changed(&mut self, now: Time) {
        self.changed_to(now, self.backlog().packets);
    }

    /// The discipline's backlog is now of `waiting` packets: brings the integral up to `now`.
    #[inline(always)] // twice per packet
    fn changed_to(&mut self, now: Time, waiting: u64) {
        let span = now.since(self.changed_at).as_nanos();
        self.queue_time += u128::from(self.waiting) * u128::from(span);
        self.changed_at = now;
        self.waiting = waiting;
    }

    #[inline]
    fn count_sojourn(&mut self, sojourn: Span) {
        self.sojourn_sum += sojourn.as_nanos();
        self.sojourn_count += 1;
        self.sojourn.add(sojourn);
    }

    /// Packets waiting in the discipline.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        dispatch!(&self.discipline, queue => queue.backlog())
    }

    /// Packets waiting in the discipline and in the device.
    pub fn held(&self) -> Backlog {
        let mut held = self.backlog();
        self.device.iter().for_each(|packet| held.add(packet));
        held
    }

    /// Adds this part of the link's counters, integrals brought up to `now`.
    pub fn report(&mut self, now: Time, counters: &mut LinkCounters) {
        self.changed(now);
        counters.sojourn_sum = Span::from_nanos(self.sojourn_sum);
        counters.sojourn_count = self.sojourn_count;
        counters.queue_time = self.queue_time as f64 / 1e9;
        counters.drops_overflow = self.counters.drops[DropReason::Overflow as usize];
        counters.drops_aqm = self.counters.drops[DropReason::Aqm as usize];
        counters.drops_policed = self.counters.drops[DropReason::Policed as usize];
        counters.dropped_bytes = self.counters.dropped_bytes;
        counters.ce_marks = self.counters.ce_marks;
        counters.sce_marks = self.counters.sce_marks;
        counters.queue_packets = self.waiting;
    }

    /// Sojourn times in the discipline since the end of the warm-up.
    pub fn sojourn_histogram(&self) -> &Histogram {
        &self.sojourn
    }

    /// The warm-up is over: distributions are reset.
    pub fn end_warmup(&mut self) {
        self.sojourn.clear();
    }
}
