//! The connection to a neighbour: a path controller with a short transmit queue before it, the
//! delay of packets, and the depths that the neighbour has reported.

mod delays;
mod heard;
mod mailboxes;
mod neighbours;
mod path;
mod restart;
mod streams;
mod telling;
mod transmit;

pub use mailboxes::Mailboxes;
pub(crate) use neighbours::Neighbours;
pub(super) use path::Reach;

use std::sync::Arc;

use crate::overlay::message::{Cargo, Class, Delay, Depths};
use delays::Delays;
use heard::Heard;
use path::Path;
use sojourn_base::units::{Span, Time};
use sojourn_net::node::NodeContext;
use sojourn_sliq::{Event, Payload};
use streams::Lane;
use telling::Telling;
use transmit::TransmitQueue;

/// Index, among a node's counters, of the bytes of packets that signal queues and links.
pub(super) const SIGNALLING: usize = 0;
/// Capacity before anything is measured, in bit/s.
const FIRST_CAPACITY: f64 = 1e6;

/// When a neighbour is to be called.
#[derive(Debug)]
struct Calls {
    due: Time,
    /// Whether there is something to do now, whenever it is due.
    awake: bool,
    /// When the connection had nothing more to send.
    asked_at: Time,
}

/// A neighbour.
#[derive(Debug)]
pub(crate) struct Neighbour {
    /// Its place in the list of members.
    pub member: usize,
    /// Boxed, as it is used only when the connection begins.
    reach: Box<Reach>,
    path: Path,
    transmit: TransmitQueue,
    heard: Heard,
    telling: Telling,
    delays: Delays,
    calls: Calls,
    open: bool,
    works: bool,
    capacity: f64,
    /// When the connection was begun.
    began_at: Time,
    /// Packets that earlier connections held.
    lost: u64,
}

impl Neighbour {
    /// A neighbour before its first packet, in an overlay of `members` members.
    pub(super) fn new(now: Time, member: usize, members: usize, reach: Reach) -> Self {
        Neighbour {
            member,
            telling: Telling::new(now, reach.depths_share),
            path: Path::new(now, reach.clone()),
            reach: Box::new(reach),
            transmit: TransmitQueue::default(),
            heard: Heard::new(members),
            delays: Delays::default(),
            calls: Calls { due: now, awake: false, asked_at: Time::NEVER },
            open: false,
            works: false,
            capacity: FIRST_CAPACITY,
            began_at: now,
            lost: 0,
        }
    }

    /// Whether packets can be sent, and answers arrive.
    pub(super) fn works(&self) -> bool {
        self.works
    }

    fn note_whether_it_works(&mut self) {
        self.works = self.open && self.path.connection.outage().is_none();
    }

    /// Number of bytes of packets that it accepts now; 0 unless its transmit queue is nearly empty.
    pub(super) fn room(&self) -> u64 {
        if self.works { self.transmit.room() } else { 0 }
    }

    /// Whether its transmit queue has room for a packet that must go at once.
    pub(super) fn has_space(&self) -> bool {
        self.works && self.transmit.has_space()
    }

    /// Depths of its queue for a member.
    pub(super) fn depths(&self, to: usize) -> [f64; 2] {
        self.heard.depths(to)
    }

    /// Depth of its queue for a member in a group.
    pub(super) fn group_depth(&self, group: usize, to: usize) -> f64 {
        self.heard.group_depth(group, to)
    }

    /// The estimate of the capacity in bit/s.
    pub(super) fn capacity(&self) -> f64 {
        self.capacity
    }

    /// Smoothed RTT of the connection, once it is known.
    pub(super) fn rtt(&self) -> Option<Span> {
        Some(self.path.connection.levels().srtt).filter(|rtt| *rtt > Span::ZERO)
    }

    /// Delay of a packet to it from its entry into the transmit queue, as advertised.
    pub(super) fn delay(&self) -> Option<Delay> {
        self.delays.used()
    }

    /// Whether that has changed.
    pub(super) fn has_new_delay(&self) -> bool {
        self.delays.has_news()
    }

    /// It is advertised anew.
    pub(super) fn adopt_delay(&mut self) {
        self.delays.adopt();
    }

    /// Packets in the transmit queue.
    pub(super) fn packets(&self) -> u64 {
        self.transmit.packets()
    }

    /// Puts a packet or what is left of one into the transmit queue.
    pub(super) fn push(&mut self, now: Time, class: Class, cargo: Cargo) {
        let lane = Lane::of(class);
        self.transmit.push(now, lane, cargo);
        // If earlier data could not be sent at this instant, it only waits.
        if self.calls.asked_at != now || self.path.connection.queued(lane.id()) == 0 {
            self.wake();
        }
    }

    /// Puts an advertisement into the transmit queue.
    pub(super) fn advertise(&mut self, now: Time, cargo: Cargo) {
        self.transmit.push(now, Lane::LinkStates, cargo);
    }

    /// A datagram of it has arrived; the stream that it brought something on, if any.
    pub(super) fn on_datagram(&mut self, now: Time, handle: u32) -> Option<u8> {
        let mut stream = None;
        if let Some(brought) = self.path.take(now, handle) {
            stream = brought;
            for (stream, takes) in self.path.connection.delivery_delays() {
                self.delays.on_packet(now, Lane::class_of(*stream), *takes);
            }
        }
        self.calls.awake = true;
        while let Some(event) = self.path.connection.poll_event() {
            self.open |= event == Event::StreamOpen(Lane::LAST.id());
        }
        self.note_whether_it_works();
        stream
    }

    /// The next that a stream brought for this node to handle.
    pub(super) fn read(&mut self, stream: u8) -> Option<Cargo> {
        while let Some(delivered) = self.path.connection.read(stream) {
            match delivered.payload {
                Cargo::Depths(depths) => self.heard.hear(&depths),
                Cargo::Nothing | Cargo::Zombie(_) => {}
                cargo => return Some(cargo),
            }
        }
        None
    }

    /// Whether a message about queues to it is due.
    pub(super) fn wants_depths(&self, now: Time) -> bool {
        self.open && now >= self.telling.due()
    }

    /// When the next message about queues to it is due.
    pub(super) fn told_next(&self) -> Time {
        if self.open { self.telling.due() } else { Time::NEVER }
    }

    /// When work is due, unless it is awake.
    pub(super) fn next(&self) -> Time {
        if self.open { self.telling.due().min(self.calls.due) } else { self.calls.due }
    }

    /// Sends it the depths of queues.
    pub(super) fn tell(&mut self, now: Time, bytes: Vec<[f64; 2]>, groups: Arc<Vec<Vec<f64>>>) {
        self.measure();
        let cargo = Cargo::Depths(Depths::new(self.telling.number(), bytes, groups).into());
        self.telling.pay(now, cargo.len(), self.capacity);
        self.transmit.push(now, Lane::Depths, cargo);
        self.calls.awake = true;
    }

    fn measure(&mut self) {
        let measured = self.path.connection.capacity();
        if let Some(capacity) = measured.filter(|capacity| *capacity > 0.0) {
            self.capacity = capacity;
        }
    }

    /// Sends what can be sent now.
    pub(super) fn transmit(&mut self, now: Time, cx: &mut NodeContext<'_>) {
        if !std::mem::take(&mut self.calls.awake) && self.calls.due > now {
            return;
        }
        // This checks what is due, and does nothing before.
        self.path.connection.on_timeout(now);
        self.note_whether_it_works();
        loop {
            if self.open {
                self.transmit.feed(&mut self.path.connection);
            }
            if !self.path.send(now, SIGNALLING, cx) {
                break;
            }
        }
        self.calls.asked_at = now;
        let next = self.path.connection.next_timeout(now).unwrap_or(Time::NEVER);
        // A timeout that is due and sends nothing must not recur at this instant.
        self.calls.due = next.max(now + Span::from_nanos(1));
    }

    /// Something to send has come: it is to be called now.
    pub(super) fn wake(&mut self) {
        self.calls.awake = true;
    }

    /// Whether it is to be called now, whenever it is due.
    pub(super) fn is_awake(&self) -> bool {
        self.calls.awake
    }
}
