//! A connection, sans-io: datagrams and times go in, datagrams and the next timeout come out.
//!
//! Model: `iron/sliq/src/sliq_connection.cc`. The client says hello, the server answers, the client
//! confirms and creates its streams; data flows once a stream's creation is answered, both ways.
//! Retransmissions of all streams are sent before new data of any; streams of higher priority go
//! first, those of the same priority in turn. When data is outstanding and the peer was silent for
//! twice the timeout (more, the more packets are lost), the connection is in an outage: nothing but
//! probes is sent until a packet of the peer arrives.

mod acks;
mod blocked;
mod closing;
mod event;
mod handshake;
mod measured;
mod output;
mod overview;
mod process;
mod timers;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::capacity::Capacity;
use super::clock::Clock;
use super::control::Control;
use super::lane::{Lane, Shared};
use super::measure::{ErrorRate, OneWayDelay};
use super::payload::Payload;
use super::rtt::Rtt;
use super::stream::{Delivered, Receiver, Sender, StreamConfig};
use super::wire::{Datagram, MAX_DATAGRAM, ReceivedCount, WINDOW};
use acks::Acks;
use blocked::Blocked;
pub use event::Event;
use handshake::{Handshaking, State};
pub use measured::Measured;
pub(crate) use measured::{Levels, RttSum};
use overview::Overview;
use sojourn_base::units::{Span, Time};
use timers::Timers;

/// Role of an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The end that requests the connection.
    Client,
    /// The end that accepts the connection.
    Server,
}

/// Parameters of a connection.
#[derive(Debug)]
pub struct Config {
    /// Role of this end.
    pub role: Role,
    /// Names the client, the same at both ends; a server takes over what the client says.
    pub client: u32,
    /// Number of the first packet of each stream of this end; it must be unpredictable on open
    /// networks.
    pub initial_seq: u32,
    /// Controls with their names, in the order of preference.
    pub controls: Vec<(String, Box<dyn Control>)>,
    /// Whether single large RTTs are left out of the largest one.
    pub reject_outliers: bool,
    /// Packets that this end takes beyond the first one missing, at most [`WINDOW`].
    pub window: u32,
    /// Bytes of the largest datagram that headers are added to, at most [`MAX_DATAGRAM`].
    pub largest: usize,
}

/// A stream of a connection.
#[derive(Debug)]
struct Stream<P> {
    id: u8,
    config: StreamConfig,
    open: bool,
    sender: Sender<P>,
    receiver: Receiver<P>,
    /// ACKs to send once more.
    extra_acks: u8,
    delayed_ack: bool,
    finished: bool,
    ended: bool,
    probed: Option<(Time, u32)>,
}

/// A connection.
#[derive(Debug)]
pub struct Connection<P> {
    role: Role,
    client: u32,
    initial_seq: u32,
    window: u32,
    largest: usize,
    names: Vec<String>,
    state: State,
    handshaking: Handshaking,
    shared: Shared,
    /// By priority, in the order of creation.
    streams: Vec<Stream<P>>,
    overview: Overview,
    /// Where the round of each priority goes on.
    turns: [u8; 8],
    acks: Acks,
    timers: Timers,
    /// Controls have been called since they were last polled for trains and for messages to the
    /// peer.
    trains: bool,
    syncs: bool,
    /// Cache of whether controls permit data.
    blocked: Blocked,
    delays: OneWayDelay,
    received: ReceivedCount,
    received_since: u32,
    measurement_seq: u16,
    measurement_at: Time,
    peer_measurement: Option<u16>,
    largest_order: u64,
    outbox: VecDeque<Datagram<P>>,
    events: VecDeque<Event>,
    rtts: RttSum,
    /// Delivery delays of a stream's packets that the latest datagram acknowledges.
    delivery_delays: Vec<(u8, Span)>,
    /// When data was sent first since something arrived; when an ACK or data arrived last.
    data_sent_at: Option<Time>,
    heard_at: Option<Time>,
    outage: Option<Time>,
    outages: u64,
}

impl<P: Payload> Connection<P> {
    /// A connection that does not exist yet; a client's begins with [`Connection::connect`].
    pub fn new(config: Config) -> Self {
        let (names, lanes): (Vec<_>, Vec<_>) =
            config.controls.into_iter().map(|(name, control)| (name, Lane::new(control))).unzip();
        let capacity = Capacity::new(lanes.iter().map(|lane: &Lane| lane.control.window()));
        let shared = Shared {
            lanes,
            rtt: Rtt::new(config.reject_outliers),
            per: ErrorRate::default(),
            capacity,
            clock: Clock::default(),
            data_sent: 0,
            order: 0,
            delta: 0,
            max_delay: None,
            send_rate: 0.0,
            with_delta: false,
        };
        Connection {
            role: config.role,
            client: config.client,
            initial_seq: config.initial_seq,
            window: config.window.min(WINDOW),
            largest: config.largest.min(MAX_DATAGRAM),
            names,
            state: State::Idle,
            handshaking: Handshaking::default(),
            shared,
            streams: Vec::new(),
            overview: Overview::default(),
            turns: [0; 8],
            acks: Acks::default(),
            timers: Timers::default(),
            trains: false,
            syncs: false,
            blocked: Blocked::default(),
            delays: OneWayDelay::default(),
            received: ReceivedCount::default(),
            received_since: 0,
            measurement_seq: 0,
            measurement_at: Time::ZERO,
            peer_measurement: None,
            largest_order: 0,
            outbox: VecDeque::new(),
            events: VecDeque::new(),
            rtts: RttSum::default(),
            delivery_delays: Vec::new(),
            data_sent_at: None,
            heard_at: None,
            outage: None,
            outages: 0,
        }
    }

    /// The next event for the application.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Controls have been called: they may have messages for the peer.
    fn heed_controls(&mut self) {
        (self.trains, self.syncs) = (true, true);
        self.blocked = Blocked::default();
        self.timers.control = None;
    }

    fn stream_mut(&mut self, id: u8) -> Option<&mut Stream<P>> {
        self.position(id).map(|at| &mut self.streams[at])
    }

    fn stream(&self, id: u8) -> Option<&Stream<P>> {
        self.position(id).map(|at| &self.streams[at])
    }

    fn position(&self, id: u8) -> Option<usize> {
        self.overview.position(id)
    }

    /// Applies a function to the sending side of a stream, and updates the overview of what it has
    /// to send.
    fn with_sender<R>(
        &mut self,
        at: usize,
        how: impl FnOnce(&mut Sender<P>, &mut Shared) -> R,
    ) -> R {
        let sender = &mut self.streams[at].sender;
        let result = how(sender, &mut self.shared);
        self.overview.note_sender(at, sender);
        self.blocked = Blocked::default();
        if self.shared.with_delta {
            self.note_groups();
        }
        result
    }

    /// Records when the earliest group is to be ended; only connections with groups have any.
    #[inline(never)]
    fn note_groups(&mut self) {
        let ends = self.streams.iter().filter_map(|stream| stream.sender.group_end());
        self.overview.group_end = ends.min().unwrap_or(Time::NEVER);
    }

    /// Writes a message to a stream; it is kept until it is sent. Whether there is such a stream.
    pub fn write(&mut self, now: Time, id: u8, payload: P) -> bool {
        let at = self.position(id);
        at.map(|at| self.with_sender(at, |sender, _| sender.write(now, payload))).is_some()
    }

    /// Messages written to a stream and not sent yet.
    pub fn queued(&self, id: u8) -> usize {
        self.stream(id).map_or(0, |stream| stream.sender.queued())
    }

    /// Discards messages that were written and not sent.
    #[inline(never)]
    pub fn forget_queue(&mut self, id: u8) {
        if let Some(at) = self.position(id) {
            self.with_sender(at, |sender, _| sender.forget_queue());
        }
    }

    /// Ends a stream of this end once all that was written has been sent.
    #[inline(never)] // once per stream
    pub fn finish(&mut self, id: u8) {
        if let Some(at) = self.position(id) {
            self.with_sender(at, |sender, _| sender.finish());
        }
    }

    /// The next message that arrived on a stream.
    pub fn read(&mut self, id: u8) -> Option<Delivered<P>> {
        self.stream_mut(id)?.receiver.read()
    }

    /// Whether both ends have agreed on the connection, and neither has closed it.
    pub fn is_connected(&self) -> bool {
        self.state == State::Connected
    }

    /// Whether the connection is closed, or never came about.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed | State::Refused)
    }

    /// Whether the peer is silent, since when.
    pub fn outage(&self) -> Option<Time> {
        self.outage
    }

    /// When the last packet of the peer arrived.
    pub fn heard_at(&self) -> Option<Time> {
        self.heard_at
    }
}
