//! Counters of each channel of a medium, and the queues that feed channels, which may share them.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use super::Channel;
use crate::edge::Departure;
use crate::packet::{Direction, Ecn, Packet};
use crate::queue::store::filled;
use crate::queue::{
    Backlog, DropReason, QueueContext, QueueCounters, QueueDiscipline, QueueObserver,
};
use crate::record::histogram::Histogram;
use crate::record::live::Tap;
use crate::record::{AirCounters, LinkCounters};
use crate::units::Time;

/// Counters of one channel.
#[derive(Debug, Default)]
pub struct Lane {
    /// Counters updated on events.
    pub counters: LinkCounters,
    /// Airtime of its transmissions.
    pub air: AirCounters,
    /// Sojourn times in the queue.
    pub sojourn: Histogram,
    /// Recorder of its packets.
    tap: Option<Tap>,
    /// Bytes per packet that its link counts on top of the IP packet.
    overhead: u32,
    /// Backlog of the queue since `changed_at`.
    waiting: Backlog,
    changed_at: Time,
    queue_time: u128,
}

impl Lane {
    fn of(channel: &Channel<'_>) -> Self {
        let overhead = channel.queue.overhead;
        Lane { tap: channel.tap.clone(), overhead, ..Lane::default() }
    }

    /// A packet enters the queue.
    fn enter(&mut self, now: Time, packet: &Packet) {
        self.integrate(now);
        self.waiting.add(packet);
    }

    /// A packet leaves the queue, sent or dropped.
    fn leave(&mut self, now: Time, packet: &Packet) {
        self.integrate(now);
        self.waiting.remove(packet);
    }

    fn sent(&mut self, now: Time, packet: &Packet) {
        self.leave(now, packet);
        let sojourn = now.since(packet.enqueued_at);
        self.counters.sojourn_sum += sojourn;
        self.counters.sojourn_count += 1;
        self.sojourn.add(sojourn);
        if let Some(tap) = &self.tap {
            tap.dequeued(now, packet);
        }
    }

    fn integrate(&mut self, now: Time) {
        let span = now.since(self.changed_at).as_nanos();
        self.queue_time += u128::from(self.waiting.packets) * u128::from(span);
        self.changed_at = now;
    }

    /// Packets waiting in the queue.
    pub fn waiting(&self) -> Backlog {
        self.waiting
    }

    /// The counters, brought up to `now`.
    pub fn report(&mut self, now: Time) -> LinkCounters {
        self.integrate(now);
        LinkCounters {
            queue_time: self.queue_time as f64 / 1e9,
            queue_packets: self.waiting.packets,
            air: Some(self.air),
            ..self.counters
        }
    }
}

/// Counters of all channels, and the departures of packets from their senders' hosts. A packet's
/// `lane` is its channel.
#[derive(Debug, Default)]
pub struct Lanes {
    lanes: Vec<Lane>,
    departures: VecDeque<Departure>,
}

impl Lanes {
    /// Counters of these channels, without packets.
    pub fn of(channels: &[Channel<'_>]) -> Self {
        Lanes { lanes: channels.iter().map(Lane::of).collect(), departures: VecDeque::new() }
    }

    /// Counters of a number of channels that are not recorded.
    pub fn plain(channels: usize) -> Self {
        Lanes { lanes: (0..channels).map(|_| Lane::default()).collect(), ..Lanes::default() }
    }

    /// A packet reaches the near end of its channel.
    #[inline]
    pub fn offered(&mut self, packet: &Packet) {
        let counters = &mut self.at(packet).counters;
        counters.offered_packets += 1;
        counters.offered_bytes += u64::from(packet.size);
    }

    /// A packet has been sent and is at the far end, where `poll` will find it.
    #[inline]
    pub fn carried(&mut self, packet: &Packet) {
        let lane = self.at(packet);
        lane.counters.sent_packets += 1;
        lane.counters.sent_bytes += u64::from(packet.size + lane.overhead);
        self.depart(packet);
    }

    /// A packet leaves the medium at the far end.
    #[inline]
    pub fn arrived(&mut self, packet: &Packet) {
        let counters = &mut self.at(packet).counters;
        counters.arrived_packets += 1;
        counters.arrived_bytes += u64::from(packet.size);
    }

    /// A packet is dropped after its retries.
    pub fn lose(&mut self, now: Time, packet: &Packet) {
        let lane = self.at(packet);
        lane.counters.drops_loss += 1;
        lane.counters.lost_bytes += u64::from(packet.size);
        if let Some(tap) = &lane.tap {
            tap.lose(now, packet, "retry_limit");
        }
        self.depart(packet);
    }

    /// The next packet that has left its sender's host.
    #[inline]
    pub fn departure(&mut self) -> Option<Departure> {
        self.departures.pop_front()
    }

    /// The warm-up is over: sojourn times are reset.
    pub fn end_warmup(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.sojourn.clear());
    }

    #[inline]
    fn at(&mut self, packet: &Packet) -> &mut Lane {
        &mut self.lanes[usize::from(packet.lane)]
    }

    /// A packet leaves its station for good. A sender is notified of its own packets, on their
    /// first edge.
    #[inline]
    fn depart(&mut self, packet: &Packet) {
        if packet.hop == 0 && packet.direction() == Direction::Forward {
            // The two sockets of a flow are neighbours.
            let (flow, socket) = (packet.flow, packet.socket ^ 1);
            self.departures.push_back(Departure { flow, socket, bytes: packet.size });
        }
    }
}

impl Index<usize> for Lanes {
    type Output = Lane;

    fn index(&self, channel: usize) -> &Lane {
        &self.lanes[channel]
    }
}

impl IndexMut<usize> for Lanes {
    fn index_mut(&mut self, channel: usize) -> &mut Lane {
        &mut self.lanes[channel]
    }
}

/// The queue's drops and marks are counted in the packet's lane.
impl QueueObserver for Lanes {
    fn on_drop(&mut self, now: Time, packet: &Packet, reason: DropReason) {
        let lane = self.at(packet);
        lane.leave(now, packet);
        let drops = match reason {
            DropReason::Overflow => &mut lane.counters.drops_overflow,
            DropReason::Policed => &mut lane.counters.drops_policed,
            _ => &mut lane.counters.drops_aqm,
        };
        *drops += 1;
        lane.counters.dropped_bytes += u64::from(packet.size);
        if let Some(tap) = &mut lane.tap {
            tap.on_drop(now, packet, reason);
        }
        self.depart(packet);
    }

    fn on_mark(&mut self, now: Time, packet: &Packet) {
        let lane = self.at(packet);
        match packet.ecn {
            Ecn::Ce => lane.counters.ce_marks += 1,
            _ => lane.counters.sce_marks += 1,
        }
        if let Some(tap) = &mut lane.tap {
            tap.on_mark(now, packet);
        }
    }
}

/// A queue discipline that holds the packets of one lane or of several.
pub struct Queue {
    discipline: Box<dyn QueueDiscipline>,
    counters: QueueCounters,
}

impl Queue {
    /// An empty queue.
    pub fn new(discipline: Box<dyn QueueDiscipline>) -> Self {
        Queue { discipline, counters: QueueCounters::default() }
    }

    /// Adds a packet, whose `lane` is set, after running the timer of an empty queue, which nothing
    /// else runs.
    pub fn enqueue(&mut self, now: Time, mut packet: Packet, lanes: &mut Lanes) {
        self.run_timer(now, lanes);
        packet.enqueued_at = now;
        lanes.at(&packet).enter(now, &packet);
        let cx = &mut QueueContext { counters: &mut self.counters, observer: Some(lanes) };
        self.discipline.enqueue(now, packet, cx);
    }

    /// The next packet to leave.
    pub fn dequeue(&mut self, now: Time, lanes: &mut Lanes) -> Option<Packet> {
        filled(|packet| self.dequeue_into(now, packet, lanes))
    }

    /// The same, written to `packet`; whether there was one.
    pub fn dequeue_into(&mut self, now: Time, packet: &mut Packet, lanes: &mut Lanes) -> bool {
        let cx = &mut QueueContext { counters: &mut self.counters, observer: Some(lanes) };
        let leaves = self.discipline.dequeue_into(now, packet, cx);
        if leaves {
            lanes.at(packet).sent(now, packet);
        }
        leaves
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.discipline.backlog().packets == 0
    }

    /// When the discipline's timer is due, or when a queue that holds everything back must be
    /// polled again.
    pub fn next_timer(&self) -> Option<Time> {
        self.discipline.next_timer()
    }

    /// Runs the discipline's timer if it is due.
    pub fn run_timer(&mut self, now: Time, lanes: &mut Lanes) {
        let mut last = None;
        while let Some(timer) = self.discipline.next_timer().filter(|timer| *timer <= now) {
            if last == Some(timer) {
                return; // left to the next call, as in a link
            }
            last = Some(timer);
            let cx = &mut QueueContext { counters: &mut self.counters, observer: Some(lanes) };
            self.discipline.on_timer(timer, cx);
        }
    }
}
