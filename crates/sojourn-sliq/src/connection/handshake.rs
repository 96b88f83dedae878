//! Establishment of a connection and of its streams.

use super::overview::{Overview, places};
use super::{Connection, Event, Role, Stream};
use crate::clock::micros;
use crate::payload::Payload;
use crate::stream::{Receiver, Sender, StreamConfig};
use crate::wire::{Cookie, CreateStream, Datagram, Handshake, HandshakeKind, WINDOW};
use sojourn_base::units::{Span, Time};

/// After this an unanswered header is sent again.
pub(super) const RETRY: Span = Span::from_millis(333);
/// Largest number of times it is sent.
const TRIES: u32 = 32;
/// The longest RTT that a handshake may give.
const MAX_RTT: Span = Span::from_millis(1_500);

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    HelloSent,
    Connected,
    Closing(u16),
    Closed,
    Refused,
}

/// Headers that wait for their answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshaking {
    hellos: u32,
    pub closes: u32,
    pub at: Option<Time>,
    /// The stamp of the peer's last hello.
    heard: u32,
    /// What the server wants to be returned.
    cookie: Option<Cookie>,
}

impl<P: Payload> Connection<P> {
    /// A client asks for the connection.
    pub fn connect(&mut self, now: Time) {
        if self.role == Role::Client && self.state == State::Idle {
            self.state = State::HelloSent;
            self.say_hello(now);
        }
    }

    fn say_hello(&mut self, now: Time) {
        self.handshaking.hellos += 1;
        self.handshaking.at = Some(now + RETRY);
        let (kind, echo) = match self.role {
            Role::Client => (HandshakeKind::ClientHello, 0),
            Role::Server => (HandshakeKind::ServerHello, self.handshaking.heard),
        };
        self.send_handshake(now, kind, echo);
    }

    fn send_handshake(&mut self, now: Time, kind: HandshakeKind, echo: u32) {
        let (controls, client) = (self.names.clone(), self.client);
        let stamp = micros(now).max(1);
        let cookie = self.handshaking.cookie;
        let handshake = Handshake { kind, controls, stamp, echo, client, cookie };
        self.outbox.push_back(Datagram::Handshake(handshake));
    }

    /// A client has confirmed to a server that keeps nothing before: its hello was answered without
    /// this connection.
    pub fn accept(&mut self, now: Time, confirm: &Handshake) {
        if self.role == Role::Server && self.state == State::Idle {
            self.client = confirm.client;
            self.on_connected(now, confirm.echo);
        }
    }

    #[cold]
    pub(super) fn on_handshake(&mut self, now: Time, handshake: &Handshake) {
        let ours = handshake.controls == self.names;
        match (handshake.kind, self.role, self.state) {
            (HandshakeKind::ClientHello, Role::Server, State::Idle) if !ours => {
                self.client = handshake.client;
                self.send_handshake(now, HandshakeKind::Reject, handshake.stamp);
            }
            (HandshakeKind::ClientHello, Role::Server, State::Idle | State::HelloSent) => {
                if self.state == State::HelloSent && handshake.client != self.client {
                    return;
                }
                self.client = handshake.client;
                self.handshaking.heard = handshake.stamp;
                self.state = State::HelloSent;
                self.say_hello(now);
            }
            (_, _, _) if handshake.client != self.client => {}
            (HandshakeKind::ServerHello, Role::Client, State::HelloSent | State::Connected) => {
                self.on_server_hello(now, handshake, ours);
            }
            (HandshakeKind::ClientConfirm, Role::Server, State::HelloSent) => {
                self.on_connected(now, handshake.echo);
            }
            (HandshakeKind::Reject, Role::Client, State::HelloSent) => self.refuse(),
            _ => {}
        }
    }

    fn on_server_hello(&mut self, now: Time, handshake: &Handshake, ours: bool) {
        if !ours {
            return self.refuse();
        }
        (self.handshaking.heard, self.handshaking.cookie) = (handshake.stamp, handshake.cookie);
        self.confirm(now);
        if self.state == State::HelloSent {
            self.shared.clock.follow(handshake.stamp, handshake.echo);
            self.on_connected(now, handshake.echo);
            for index in 0..self.streams.len() {
                self.create(now, index);
            }
        }
    }

    fn confirm(&mut self, now: Time) {
        self.send_handshake(now, HandshakeKind::ClientConfirm, self.handshaking.heard);
    }

    fn refuse(&mut self) {
        self.state = State::Refused;
        self.handshaking.at = None;
        self.events.push_back(Event::Refused);
    }

    fn on_connected(&mut self, now: Time, echo: u32) {
        self.state = State::Connected;
        self.handshaking.at = None;
        self.events.push_back(Event::Connected);
        let passed = Span::from_micros(micros(now).wrapping_sub(echo).into());
        let rtt = if echo == 0 { MAX_RTT } else { passed.min(MAX_RTT) };
        self.shared.rtt.on_rtt(now, rtt);
        self.heard_at = Some(now);
        self.heed_controls();
        for lane in &mut self.shared.lanes {
            lane.control.on_connected(now, rtt);
        }
    }

    /// Creates a stream of this end; it opens once the peer has answered.
    ///
    /// # Errors
    /// A property is not allowed: names it, and the allowed values.
    pub fn create_stream(
        &mut self,
        now: Time,
        id: u8,
        config: StreamConfig,
    ) -> Result<(), (&'static str, &'static str)> {
        config.check()?;
        if !(1..=crate::stream::MAX_STREAM).contains(&id) {
            return Err(("stream", "1 to 32"));
        }
        if self.stream(id).is_some() {
            return Err(("stream", "one that does not exist yet"));
        }
        self.add_stream(id, config, WINDOW, self.initial_seq);
        if self.state == State::Connected
            && let Some(index) = self.position(id)
        {
            self.create(now, index);
        }
        Ok(())
    }

    fn add_stream(&mut self, id: u8, config: StreamConfig, peer_window: u32, peer_seq: u32) {
        let slot = self.streams.len();
        let lanes = self.shared.lanes.len();
        self.shared.with_delta |= config.is_adaptive();
        let mut sender = Sender::new(id, slot, config, self.initial_seq.into(), lanes);
        sender.limit_to(peer_window);
        let stream = Stream {
            id,
            config,
            open: false,
            sender,
            receiver: Receiver::new(id, config, self.window, peer_seq.into()),
            extra_acks: 0,
            delayed_ack: false,
            finished: false,
            ended: false,
            probed: None,
        };
        let at = self.streams.partition_point(|s| s.config.priority <= config.priority);
        self.streams.insert(at, stream);
        self.overview = Overview::of(&self.streams);
    }

    fn create(&mut self, now: Time, index: usize) {
        let (window, initial) = (self.window, self.initial_seq);
        let Some(stream) = self.streams.get_mut(index).filter(|stream| !stream.open) else {
            return;
        };
        let tries = stream.probed.map_or(0, |(_, tries)| tries) + 1;
        stream.probed = Some((now + RETRY, tries));
        let header = stream.config.header(stream.id, window, initial, false);
        // To a server that keeps nothing before, the confirmation is all of the connection.
        if tries > 1 && self.handshaking.cookie.is_some() {
            self.confirm(now);
        }
        self.outbox.push_back(Datagram::CreateStream(header));
    }

    #[cold]
    pub(super) fn on_create(&mut self, header: &CreateStream) {
        if self.state != State::Connected {
            return;
        }
        let window = self.window;
        if header.answer {
            let Some(stream) = self.stream_mut(header.stream).filter(|stream| !stream.open) else {
                return;
            };
            stream.open = true;
            stream.probed = None;
            let (id, config) = (stream.id, stream.config);
            stream.receiver = Receiver::new(id, config, window, header.initial_seq.into());
            stream.sender.limit_to(header.window);
            self.overview = Overview::of(&self.streams);
            self.events.push_back(Event::StreamOpen(header.stream));
            return;
        }
        let Some(config) = StreamConfig::from_header(header) else { return };
        if self.stream(header.stream).is_none() {
            self.add_stream(header.stream, config, header.window, header.initial_seq);
            if let Some(stream) = self.stream_mut(header.stream) {
                stream.open = true;
            }
            self.overview = Overview::of(&self.streams);
            self.events.push_back(Event::StreamOpen(header.stream));
        }
        let answer = config.header(header.stream, window, self.initial_seq, true);
        self.outbox.push_back(Datagram::CreateStream(answer));
    }

    /// When an unanswered header is due again; never if there is none.
    pub(super) fn handshake_timeout(&self) -> Time {
        let mut next = self.handshaking.at.unwrap_or(Time::NEVER);
        for at in places(self.overview.closed()) {
            next = self.streams[at].probed.map_or(next, |(at, _)| next.min(at));
        }
        next
    }

    pub(super) fn on_handshake_timeout(&mut self, now: Time) {
        if now >= self.handshake_timeout() {
            self.ask_again(now);
        }
    }

    #[cold]
    fn ask_again(&mut self, now: Time) {
        if self.handshaking.at.is_some_and(|at| now >= at) {
            match self.state {
                State::HelloSent if self.handshaking.hellos >= TRIES => self.refuse(),
                State::HelloSent => self.say_hello(now),
                State::Closing(_) if self.handshaking.closes >= TRIES => {
                    self.state = State::Closed;
                    self.handshaking.at = None;
                    self.events.push_back(Event::Closed(0));
                }
                State::Closing(reason) => self.say_close(now, reason),
                _ => self.handshaking.at = None,
            }
        }
        for index in places(self.overview.closed()) {
            let due = self.streams[index].probed.filter(|(at, _)| now >= *at);
            match due {
                Some((_, tries)) if tries < TRIES && self.state == State::Connected => {
                    self.create(now, index);
                }
                Some(_) => self.streams[index].probed = None,
                None => {}
            }
        }
    }
}
