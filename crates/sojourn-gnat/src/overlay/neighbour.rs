//! The way to a neighbour: a path controller (SLIQ) with a short transmit queue before it, and what
//! the neighbour has told of its queues.
//!
//! Streams and their retransmissions are those of IRON's `sliq_cat.cc`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::SIGNALLING;
use super::bin::Class;
use super::cargo::{Cargo, Depths};
use super::delays::{Delay, Delays};
use super::neighbours::bits;
use sojourn_base::packet::{FiveTuple, Header, Opaque, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_net::node::{NodeContext, Port};
use sojourn_sliq::wire::{Datagram, UNDERLAY};
use sojourn_sliq::{
    Config, Connection, Control, Copa, Cubic, Mailbox, Payload, Reliability, Role, Spare,
    StreamConfig,
};

/// Depths of queues; latency-sensitive packets; advertisements; other packets.
const STREAMS: [u8; 4] = [1, 3, 5, 7];
const PRIORITIES: [u8; 4] = [2, 3, 4, 5];
/// Retransmissions of packets and advertisements.
const RETRANSMISSIONS: u8 = 5;
/// Below so many bytes the transmit queue is filled up to the other number.
const REFILL_BELOW: u64 = 2_000;
const FILL_TO: u64 = 6_000;
/// Longest interval of messages about queues.
const DEPTHS_INTERVAL: Span = Span::from_millis(100);
/// Capacity before anything is measured, in bit/s.
const FIRST_CAPACITY: f64 = 1e6;

/// A neighbour.
#[derive(Debug)]
pub struct Neighbour {
    /// Its place in the list of members.
    pub member: usize,
    port: Port,
    /// Apart, like what waits: nodes often look through all neighbours.
    connection: Box<Connection<Cargo>>,
    /// What goes out, or has arrived.
    datagram: Box<Datagram<Cargo>>,
    boxes: [Mailbox<Cargo>; 2],
    spare: Spare<Cargo>,
    tuple: FiveTuple,
    /// Names random draws of its packets.
    flow: u32,
    index: u32,
    /// By stream, with when it came; and where something is, as bits.
    waiting: Box<[VecDeque<(Time, Cargo)>; 4]>,
    filled: u8,
    waiting_bytes: u64,
    open: bool,
    works: bool,
    /// The depths it told last; which message that was.
    depths: Vec<[f64; 2]>,
    groups: Arc<Vec<Vec<f64>>>,
    heard: Option<u32>,
    told: u32,
    /// Share of the capacity that messages about queues may take.
    depths_share: f64,
    tell_at: Time,
    capacity: f64,
    delays: Delays,
    due: Time,
    /// Whether there is something to do now, whenever it is due.
    awake: bool,
    /// When the connection had nothing more to send.
    asked_at: Time,
}

/// How a neighbour is reached.
#[derive(Debug)]
pub struct Reach {
    /// The way out.
    pub port: Port,
    /// Datagrams to it and from it.
    pub boxes: [Mailbox<Cargo>; 2],
    /// What queues see.
    pub tuple: FiveTuple,
    /// Which of the controls, `cubic` and `copa`, its path controller has.
    pub controls: Vec<String>,
    /// Whether this end asks for the connection.
    pub client: bool,
    /// Share of the capacity that messages about queues may take.
    pub depths_share: f64,
}

/// Whether a datagram tells of queues or links.
fn tells(datagram: &Datagram<Cargo>) -> bool {
    let Datagram::Message(message) = datagram else { return false };
    matches!(message.data, Some((_, Cargo::Depths(_) | Cargo::LinkState(_))))
}

/// The stream that a datagram brings a message of; of others it brings none.
fn stream_of(datagram: &Datagram<Cargo>) -> Option<u8> {
    let Datagram::Message(message) = datagram else { return None };
    message.data.as_ref().map(|(data, _)| data.stream)
}

/// The class of packets of a stream whose delays count: messages about queues are as other packets.
fn class_of(stream: u8) -> Option<Class> {
    match stream {
        1 | 7 => Some(Class::Normal),
        3 => Some(Class::Timed),
        _ => None,
    }
}

fn control(now: Time, name: &str) -> (String, Box<dyn Control>) {
    let control: Box<dyn Control> = match name {
        "copa" => Box::new(Copa::default()),
        _ => Box::new(Cubic::new(now)),
    };
    (name.to_owned(), control)
}

impl Neighbour {
    /// A neighbour that has not been heard; there are so many members.
    pub fn new(now: Time, member: usize, members: usize, reach: Reach) -> Self {
        let Reach { port, boxes, tuple, controls, client, depths_share } = reach;
        let role = if client { Role::Client } else { Role::Server };
        let controls = controls.iter().map(|name| control(now, name)).collect();
        let config = Config { role, client: 1, initial_seq: 0, controls, reject_outliers: false };
        let mut connection = Connection::new(config);
        connection.connect(now);
        if client {
            for (id, priority) in STREAMS.into_iter().zip(PRIORITIES) {
                let retransmissions = RETRANSMISSIONS;
                let reliability = match id {
                    1 => Reliability::BestEffort,
                    _ => Reliability::SemiReliable { retransmissions },
                };
                let config = StreamConfig { priority, reliability, ordered: false };
                // These properties are allowed.
                let _ = connection.create_stream(now, id, config);
            }
        }
        Neighbour {
            member,
            port,
            connection: Box::new(connection),
            datagram: Box::default(),
            boxes,
            spare: Spare::default(),
            tuple,
            flow: u32::MAX - port.edge as u32,
            index: 0,
            waiting: Default::default(),
            filled: 0,
            waiting_bytes: 0,
            open: false,
            works: false,
            depths: vec![[0.0; 2]; members],
            groups: Arc::default(),
            heard: None,
            told: 0,
            depths_share,
            tell_at: now,
            capacity: FIRST_CAPACITY,
            delays: Delays::default(),
            due: now,
            awake: false,
            asked_at: Time::NEVER,
        }
    }

    /// Whether packets can be sent, and something comes back.
    pub fn works(&self) -> bool {
        self.works
    }

    fn note_whether_it_works(&mut self) {
        self.works = self.open && self.connection.outage().is_none();
    }

    /// How many bytes of packets it takes now; 0 unless its transmit queue is nearly empty.
    pub fn room(&self) -> u64 {
        if !self.works() || self.waiting_bytes >= REFILL_BELOW {
            return 0;
        }
        FILL_TO - self.waiting_bytes
    }

    /// Whether its transmit queue has room for a packet that must go at once.
    pub fn has_space(&self) -> bool {
        self.works() && self.waiting_bytes < FILL_TO
    }

    /// Depths of its queue for a member.
    pub fn depths(&self, to: usize) -> [f64; 2] {
        self.depths[to]
    }

    /// Depth of its queue for a member in a group.
    pub fn group_depth(&self, group: usize, to: usize) -> f64 {
        self.groups.get(group).map_or(0.0, |depths| depths[to])
    }

    /// The estimate of the capacity in bit/s.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// How long a packet takes to it from when it comes into the transmit queue, as advertised.
    pub fn delay(&self) -> Option<Delay> {
        self.delays.used()
    }

    /// Whether that has changed.
    pub fn has_new_delay(&self) -> bool {
        self.delays.has_news()
    }

    /// It is advertised anew.
    pub fn adopt_delay(&mut self) {
        self.delays.adopt();
    }

    /// Packets in the transmit queue.
    pub fn packets(&self) -> u64 {
        let packets = self.waiting.iter().flatten();
        packets.filter(|(_, cargo)| matches!(cargo, Cargo::Parcel(_) | Cargo::Copies(_))).count()
            as u64
    }

    /// Puts a packet or what is left of one into the transmit queue.
    pub fn push(&mut self, now: Time, class: Class, cargo: Cargo) {
        let stream = if class == Class::Timed { 1 } else { 3 };
        self.waiting_bytes += cargo.len() as u64;
        self.enqueue(now, stream, cargo);
        // Behind what could not be sent at this instant it only waits.
        if self.asked_at != now || self.connection.queued(STREAMS[stream]) == 0 {
            self.wake();
        }
    }

    /// Puts an advertisement into the transmit queue.
    pub fn advertise(&mut self, now: Time, cargo: Cargo) {
        self.waiting_bytes += cargo.len() as u64;
        self.enqueue(now, 2, cargo);
    }

    fn enqueue(&mut self, now: Time, stream: usize, cargo: Cargo) {
        self.waiting[stream].push_back((now, cargo));
        self.filled |= 1 << stream;
    }

    /// A datagram of it has arrived; the stream that it brought something on, if any.
    pub fn on_datagram(&mut self, now: Time, handle: u32) -> Option<u8> {
        let mut stream = None;
        if self.boxes[1].get(handle, &mut self.datagram, &mut self.spare) {
            stream = stream_of(&self.datagram);
            self.connection.on_datagram(now, &mut self.datagram);
            for (stream, takes) in self.connection.delivery_delays() {
                self.delays.on_packet(now, class_of(*stream), *takes);
            }
        }
        self.awake = true;
        while let Some(event) = self.connection.poll_event() {
            if let sojourn_sliq::Event::StreamOpen(7) = event {
                self.open = true;
            }
        }
        self.note_whether_it_works();
        stream
    }

    /// The next that a stream brought for this node to handle.
    pub fn read(&mut self, stream: u8) -> Option<Cargo> {
        while let Some(delivered) = self.connection.read(stream) {
            match delivered.payload {
                Cargo::Depths(depths) => self.on_depths(&depths),
                Cargo::Nothing | Cargo::Zombie(_) => {}
                cargo => return Some(cargo),
            }
        }
        None
    }

    fn on_depths(&mut self, depths: &Depths) {
        if self.heard.is_none_or(|heard| depths.number > heard) {
            self.heard = Some(depths.number);
            self.depths.clone_from(&depths.bytes);
            self.groups.clone_from(&depths.groups);
        }
    }

    /// Whether it is to be told of queues now.
    pub fn wants_depths(&self, now: Time) -> bool {
        self.open && now >= self.tell_at
    }

    /// When it is to be told of queues.
    pub fn told_next(&self) -> Time {
        if self.open { self.tell_at } else { Time::NEVER }
    }

    /// When there is something to do, unless it is awake.
    pub fn next(&self) -> Time {
        if self.open { self.tell_at.min(self.due) } else { self.due }
    }

    /// Tells it of queues. The next message has to wait until it is paid for by the capacity.
    pub fn tell(&mut self, now: Time, bytes: Vec<[f64; 2]>, groups: Arc<Vec<Vec<f64>>>) {
        self.measure();
        self.told += 1;
        let cargo = Cargo::Depths(Depths::new(self.told, bytes, groups).into());
        let bits = 8.0 * (cargo.len() as f64 + f64::from(UNDERLAY) + 16.0 + 14.0);
        let next = Span::from_secs_f64(bits / (self.depths_share * self.capacity));
        self.tell_at = now + next.min(DEPTHS_INTERVAL);
        // A message that was not sent is worth nothing beside this one.
        self.waiting[0].clear();
        self.enqueue(now, 0, cargo);
        self.awake = true;
    }

    fn measure(&mut self) {
        if let Some(capacity) = self.connection.capacity().filter(|capacity| *capacity > 0.0) {
            self.capacity = capacity;
        }
    }

    fn feed(&mut self) {
        for index in bits(self.filled.into()) {
            let (stream, waiting) = (STREAMS[index], &mut self.waiting[index]);
            while self.connection.queued(stream) == 0 {
                let Some((since, cargo)) = waiting.pop_front() else { break };
                if index > 0 {
                    self.waiting_bytes -= cargo.len() as u64;
                }
                self.connection.write(since, stream, cargo);
            }
            self.filled &= !(u8::from(waiting.is_empty()) << index);
        }
    }

    /// Sends what can be sent now.
    pub fn transmit(&mut self, now: Time, cx: &mut NodeContext<'_>) {
        if !std::mem::take(&mut self.awake) && self.due > now {
            return;
        }
        // It looks at what is due, and does nothing before.
        self.connection.on_timeout(now);
        self.note_whether_it_works();
        loop {
            if self.open {
                self.feed();
            }
            if !self.connection.poll_transmit(now, &mut self.datagram) {
                break;
            }
            let signals = tells(&self.datagram);
            let packet = self.packet();
            let packet = cx.create(packet);
            if signals {
                cx.count(SIGNALLING, packet.size.into());
            }
            cx.send(self.port, packet);
        }
        self.asked_at = now;
        let next = self.connection.next_timeout(now).unwrap_or(Time::NEVER);
        // A timeout that is due and sends nothing must not come up again at this instant.
        self.due = next.max(now + Span::from_nanos(1));
    }

    fn packet(&mut self) -> Packet {
        let size = self.datagram.size() as u32 + UNDERLAY;
        let payload = match &*self.datagram {
            Datagram::Message(message) => {
                message.data.as_ref().map_or(0, |(_, cargo)| cargo.len() as u16)
            }
            _ => 0,
        };
        let handle = self.boxes[0].put(&mut self.datagram, &mut self.spare);
        let header = Header::Opaque(Opaque { payload, handle });
        self.index = self.index.wrapping_add(1);
        let (flow, index, tuple) = (self.flow, self.index, self.tuple);
        Packet { flow, index, tuple, size, header, ..Packet::default() }
    }

    /// Something to send has come: it is to be called now.
    pub fn wake(&mut self) {
        self.awake = true;
    }

    /// Whether it is to be called now, whenever it is due.
    pub fn is_awake(&self) -> bool {
        self.awake
    }
}
