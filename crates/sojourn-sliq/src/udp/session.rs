//! A connection with its source and its sink, without sockets and clocks.

use std::io;
use std::net::SocketAddr;

use crate::wire::{CreateStream, Datagram, Handshake, decode, encode};
use crate::{Config, Connection, Event, Role, StreamConfig};
use sojourn_base::units::{Span, Time};

use crate::udp::controls::controls;
use crate::udp::error::Error;
use crate::udp::message::{MAX_PAYLOAD, Message};
use crate::udp::report::{End, Report};
use crate::udp::sink::Sink;
use crate::udp::source::{Next, Source};

/// The stream that is used. A peer cannot create others.
const STREAM: u8 = 1;
/// Packets that wait for an earlier one, at most 16 MB of them: enough for 1 Gbit/s over 134 ms. As
/// many may wait for the rest of their group on an adaptive stream.
const WINDOW: u32 = (16 << 20) / MAX_PAYLOAD as u32;
/// Messages that wait in the stream, so that a turn of the loop has enough to send.
const QUEUE: usize = 256;
/// In an adaptive stream messages grow old in the queue.
const ADAPTIVE_QUEUE: usize = 1;
/// Silence of the peer after which it is probed.
const ASK: Span = Span::from_millis(1_000);
/// Who closed waits so long for an answer; who was asked to close answers so long.
const LINGER: Span = Span::from_millis(700);
/// The state of a connection is looked at so often at least.
const LOOK: Span = Span::from_millis(250);

/// Parameters of a connection.
#[derive(Debug)]
pub struct Setup {
    /// Controls, in the order of preference.
    pub cca: Vec<String>,
    /// The stream that a client creates; `None` at a server.
    pub stream: Option<StreamConfig>,
    /// Bytes of a message.
    pub payload: u16,
    /// Source of the data to send.
    pub source: Source,
    /// Destination of received data.
    pub sink: Sink,
    /// Whether to make a digest of what is sent.
    pub digest: bool,
    /// Silence of the peer after which it is given up.
    pub give_up: Span,
    /// Bytes of the largest datagram.
    pub largest: usize,
}

/// A connection over sockets.
#[derive(Debug)]
pub struct Session {
    connection: Connection<Message>,
    source: Source,
    sink: Sink,
    sent: Sink,
    payload: usize,
    adaptive: bool,
    client: bool,
    give_up: Span,
    since: Time,
    asked_at: Time,
    open: bool,
    /// Whether there is nothing left to send, and the stream is ended.
    over: bool,
    told: bool,
    finished: bool,
    ended: bool,
    closing_at: Option<Time>,
    end: Option<End>,
    garbage: u64,
}

impl Session {
    /// A new connection; a client's says hello.
    ///
    /// # Errors
    /// If a control is not known, or the stream is not allowed.
    pub fn new(setup: Setup, now: Time) -> Result<Self, Error> {
        let client = setup.stream.is_some();
        let config = Config {
            role: if client { Role::Client } else { Role::Server },
            client: rand::random(),
            initial_seq: rand::random(),
            controls: controls(&setup.cca, setup.payload, now)?,
            reject_outliers: false,
            window: WINDOW,
            largest: setup.largest,
        };
        let mut connection = Connection::new(config);
        if let Some(stream) = setup.stream {
            let refuse = |(option, allowed)| Error::Option { option, allowed };
            connection.create_stream(now, STREAM, stream).map_err(refuse)?;
            connection.connect(now);
        }
        Ok(Session {
            connection,
            source: setup.source,
            sink: setup.sink,
            sent: Sink::counting(setup.digest),
            payload: setup.payload.into(),
            adaptive: setup.stream.is_some_and(|stream| stream.is_adaptive()),
            client,
            give_up: setup.give_up,
            since: now,
            asked_at: now,
            open: false,
            over: false,
            told: false,
            finished: false,
            ended: false,
            closing_at: None,
            end: None,
            garbage: 0,
        })
    }

    /// A server accepts the client that has confirmed.
    pub fn accept(&mut self, now: Time, confirm: &Handshake) {
        self.connection.accept(now, confirm);
    }

    /// A datagram's bytes arrived from the peer.
    pub fn on_bytes(&mut self, now: Time, bytes: &[u8]) {
        match decode(bytes) {
            Ok(datagram) => self.on_datagram(now, datagram),
            Err(_) => self.garbage += 1,
        }
    }

    /// A datagram arrived from the peer.
    fn on_datagram(&mut self, now: Time, mut datagram: Datagram<Message>) {
        let other = |header: &CreateStream| header.stream != STREAM;
        if matches!(&datagram, Datagram::CreateStream(header) if other(header)) {
            self.garbage += 1;
        } else {
            self.connection.on_datagram(now, &mut datagram);
        }
    }

    /// Whether both ends have agreed on the connection.
    pub fn is_connected(&self) -> bool {
        self.connection.is_connected()
    }

    /// How it ended, once there is nothing left to do.
    pub fn end(&self, now: Time) -> Option<End> {
        let lingers = self.closing_at.is_some_and(|at| now < at + LINGER);
        self.end.filter(|_| !lingers)
    }

    /// Does the work that is due: timeouts, received data, data to send.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn work(&mut self, now: Time) -> io::Result<()> {
        if self.connection.next_timeout(now).is_some_and(|at| at <= now) {
            self.connection.on_timeout(now);
        }
        while let Some(delivered) = self.connection.read(STREAM) {
            self.sink.take(now, delivered.payload.as_ref())?;
        }
        while let Some(event) = self.connection.poll_event() {
            self.on_event(now, event)?;
        }
        self.feed(now)?;
        self.finish();
        self.watch(now);
        Ok(())
    }

    fn on_event(&mut self, now: Time, event: Event) -> io::Result<()> {
        match event {
            Event::StreamOpen(STREAM) => self.open = true,
            Event::StreamFinished(STREAM) => self.finished = true,
            Event::StreamEnded(STREAM) => {
                self.ended = true;
                self.sink.flush()?;
            }
            Event::Outage => eprintln!("sojourn-sliq: the peer is silent"),
            Event::OutageOver => eprintln!("sojourn-sliq: the peer is heard again"),
            Event::Refused => self.end = Some(End::Refused),
            Event::Closed(reason) => {
                let all = self.finished && self.ended || !self.client && self.ended && reason == 0;
                self.end = Some(if all { End::Finished } else { End::Closed(reason) });
                self.sink.flush()?;
                self.closing_at = (!self.client).then_some(now);
            }
            _ => {}
        }
        if self.client && self.finished && self.ended && self.closing_at.is_none() {
            self.closing_at = Some(now);
            self.end = Some(End::Finished);
            self.connection.close(now, 0);
        }
        Ok(())
    }

    /// Writes messages to the stream.
    fn feed(&mut self, now: Time) -> io::Result<()> {
        let queue = if self.adaptive { ADAPTIVE_QUEUE } else { QUEUE };
        while self.open && !self.over && self.connection.queued(STREAM) < queue {
            match self.source.next(now, self.payload)? {
                Next::Message(message) => {
                    self.sent.take(now, message.as_ref())?;
                    self.connection.write(now, STREAM, message);
                }
                Next::Later => break,
                Next::Over => self.over = true,
            }
        }
        Ok(())
    }

    /// Ends the stream when all has arrived: with an adaptive stream's end the receiver gives up what
    /// is missing.
    fn finish(&mut self) {
        let nothing_waits = || self.connection.queued(STREAM) == 0;
        if self.over && !self.told && nothing_waits() && self.connection.measured().in_flight == 0 {
            self.told = true;
            self.connection.finish(STREAM);
        }
    }

    /// Asks a silent peer for an answer; gives up one that gives none.
    fn watch(&mut self, now: Time) {
        if !self.connection.is_connected() || self.end.is_some() {
            return;
        }
        let heard = self.connection.heard_at().unwrap_or(self.since);
        if now.since(heard) >= self.give_up {
            self.end = Some(End::Silent);
        } else if now.since(heard) >= ASK && now.since(self.asked_at) >= ASK {
            self.asked_at = now;
            self.connection.probe(now);
        }
    }

    /// Appends the next datagram to send; whether there is one.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn poll(&mut self, now: Time, out: &mut Vec<u8>) -> io::Result<bool> {
        if self.connection.queued(STREAM) == 0 {
            self.feed(now)?;
        }
        let mut datagram = Datagram::default();
        if !self.connection.poll_transmit(now, &mut datagram) {
            return Ok(false);
        }
        encode(&datagram, out);
        Ok(true)
    }

    /// Once it has ended: what it received appears under its name if that is all, else it is gone.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn keep(&mut self) -> io::Result<()> {
        if self.end == Some(End::Finished) { self.sink.keep() } else { Ok(()) }
    }

    /// Latest time of the next call of `work`.
    pub fn next(&self, now: Time) -> Time {
        let look = now + LOOK;
        let offers = self.open && !self.over;
        let next = if offers {
            self.connection.next_offer(now)
        } else {
            self.connection.next_timeout(now)
        };
        next.map_or(look, |at| at.min(look))
    }

    /// Report of the connection.
    pub fn report(&self, peer: SocketAddr) -> Report<'_> {
        Report {
            end: self.end.unwrap_or(End::Silent),
            peer,
            sink: &self.sink,
            sent: &self.sent,
            measured: self.connection.measured(),
            garbage: self.garbage,
            adaptive: self.adaptive,
        }
    }
}
