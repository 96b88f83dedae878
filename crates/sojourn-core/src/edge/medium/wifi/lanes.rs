//! What is counted of each channel, also where several channels share one queue.

use crate::edge::Departure;
use crate::packet::{Direction, Ecn, Packet};
use crate::queue::{
    Backlog, DropReason, QueueContext, QueueCounters, QueueDiscipline, QueueObserver,
};
use crate::record::histogram::Histogram;
use crate::record::live::Tap;
use crate::record::{AirCounters, LinkCounters};
use crate::units::Time;

/// A channel's share.
#[derive(Debug, Default)]
pub struct Lane {
    /// What is counted as it happens.
    pub counters: LinkCounters,
    /// What its transmissions took of the air.
    pub air: AirCounters,
    /// Sojourn times in the queue.
    pub sojourn: Histogram,
    /// Who follows its packets.
    pub tap: Option<Tap>,
    /// What waits in the queue since `changed_at`.
    waiting: Backlog,
    /// What has left its sender's host since the last look, if that wants to know.
    pub departed: Vec<Departure>,
    changed_at: Time,
    queue_time: u128,
}

impl Lane {
    /// A channel without packets, whose packets `tap` follows.
    pub fn recorded(tap: Option<Tap>) -> Self {
        Lane { tap, ..Lane::default() }
    }

    /// A packet comes into the queue.
    fn enter(&mut self, now: Time, packet: &Packet) {
        self.integrate(now);
        self.waiting.add(packet);
    }

    /// A packet leaves the queue, however.
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

    /// A packet is given up after its retries.
    pub fn lose(&mut self, now: Time, packet: &Packet) {
        self.depart(packet);
        self.counters.drops_loss += 1;
        self.counters.lost_bytes += u64::from(packet.size);
        if let Some(tap) = &self.tap {
            tap.lose(now, packet, "retry_limit");
        }
    }

    /// A packet leaves its station for good. A sender hears of its own packets, on their first edge.
    pub fn depart(&mut self, packet: &Packet) {
        if packet.hop == 0 && packet.direction == Direction::Forward {
            self.departed.push(Departure { flow: packet.flow, bytes: packet.size });
        }
    }

    fn integrate(&mut self, now: Time) {
        let span = now.since(self.changed_at).as_nanos();
        self.queue_time += u128::from(self.waiting.packets) * u128::from(span);
        self.changed_at = now;
    }

    /// What waits in the queue.
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

/// Tells each lane what the queue has done to its packets.
struct Lanes<'a>(&'a mut [Lane]);

impl QueueObserver for Lanes<'_> {
    fn on_drop(&mut self, now: Time, packet: &Packet, reason: DropReason) {
        let lane = &mut self.0[usize::from(packet.lane)];
        lane.leave(now, packet);
        lane.depart(packet);
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
    }

    fn on_mark(&mut self, now: Time, packet: &Packet) {
        let lane = &mut self.0[usize::from(packet.lane)];
        match packet.ecn {
            Ecn::Ce => lane.counters.ce_marks += 1,
            _ => lane.counters.sce_marks += 1,
        }
        if let Some(tap) = &mut lane.tap {
            tap.on_mark(now, packet);
        }
    }
}

/// A queue discipline that holds packets of one lane or of several.
pub struct Queue {
    discipline: Box<dyn QueueDiscipline>,
    counters: QueueCounters,
}

impl Queue {
    /// Empty.
    pub fn new(discipline: Box<dyn QueueDiscipline>) -> Self {
        Queue { discipline, counters: QueueCounters::default() }
    }

    /// Takes in a packet, whose `lane` is set.
    pub fn enqueue(&mut self, now: Time, mut packet: Packet, lanes: &mut [Lane]) {
        packet.enqueued_at = now;
        lanes[usize::from(packet.lane)].enter(now, &packet);
        let observer = &mut Lanes(lanes);
        let cx = &mut QueueContext { counters: &mut self.counters, observer: Some(observer) };
        self.discipline.enqueue(now, packet, cx);
    }

    /// The next packet to leave.
    pub fn dequeue(&mut self, now: Time, lanes: &mut [Lane]) -> Option<Packet> {
        let observer = &mut Lanes(lanes);
        let cx = &mut QueueContext { counters: &mut self.counters, observer: Some(observer) };
        let packet = self.discipline.dequeue(now, cx)?;
        lanes[usize::from(packet.lane)].sent(now, &packet);
        Some(packet)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.discipline.backlog().packets == 0
    }

    /// When the discipline wants to run its timer, or a queue that holds everything back to be asked
    /// again.
    pub fn next_timer(&self) -> Option<Time> {
        self.discipline.next_timer()
    }

    /// Runs the discipline's timer if it is due.
    pub fn run_timer(&mut self, now: Time, lanes: &mut [Lane]) {
        let mut last = None;
        while let Some(timer) = self.discipline.next_timer().filter(|timer| *timer <= now) {
            if last == Some(timer) {
                return; // left to the next call, as in a link
            }
            last = Some(timer);
            let observer = &mut Lanes(lanes);
            let cx = &mut QueueContext { counters: &mut self.counters, observer: Some(observer) };
            self.discipline.on_timer(timer, cx);
        }
    }
}
