//! TCP relay: a proxy that terminates one connection and continues its byte stream on another.

use super::{Receiver, Sender};
use crate::counters::FlowCounters;
use crate::endpoint::Endpoint;
use crate::packet::{Header, Packet};
use crate::units::Time;

/// Forwards the bytes that arrive in order on one connection to another, as far as the other's send
/// buffer has room. The rest stays in the first one's receive buffer and closes its window, so that
/// the first sender is no faster than the second.
///
/// It is one end of both connections: it takes segments of the first and ACKs of the second, and
/// sends ACKs on the first and segments on the second. The end of a stream is not sent (connections
/// are not torn down): the caller, which knows it, calls [`Endpoint::close`].
pub struct Relay {
    arriving: Receiver,
    leaving: Sender,
}

impl Relay {
    /// A relay from the connection that `arriving` ends to the one that `leaving` begins. For
    /// backpressure, the one must have a receive buffer of a configured size, the other a send
    /// buffer.
    pub fn new(arriving: Receiver, leaving: Sender) -> Self {
        Relay { arriving: arriving.with_reader(), leaving }
    }

    /// Bytes that wait on the arriving side.
    pub fn waiting(&self) -> u64 {
        self.arriving.readable()
    }

    /// Forwards as many bytes as possible.
    fn hand_on(&mut self, now: Time) {
        let bytes = self.arriving.read(now, self.leaving.room());
        if bytes > 0 {
            self.leaving.write(now, bytes);
        }
    }
}

impl Endpoint for Relay {
    fn on_packet(&mut self, now: Time, packet: &Packet) {
        match packet.header {
            Header::Segment(_) => self.arriving.on_packet(now, packet),
            _ => self.leaving.on_packet(now, packet),
        }
        self.hand_on(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.arriving.poll_transmit(now).or_else(|| self.leaving.poll_transmit(now))
    }

    fn next_timeout(&self) -> Option<Time> {
        let timeouts = [self.arriving.next_timeout(), self.leaving.next_timeout()];
        timeouts.into_iter().flatten().min()
    }

    fn on_timeout(&mut self, now: Time) {
        self.arriving.on_timeout(now);
        if self.leaving.next_timeout().is_some_and(|at| at <= now) {
            self.leaving.on_timeout(now);
        }
    }

    /// The arriving connection's receiver, the leaving one's sender.
    fn report(&mut self, now: Time, counters: &mut FlowCounters) {
        self.arriving.report(now, counters);
        self.leaving.report(now, counters);
    }

    /// Opens the leaving connection.
    fn open(&mut self, now: Time) {
        self.leaving.open(now);
    }

    /// Nothing more arrives; waiting bytes are still forwarded.
    fn close(&mut self, now: Time) {
        self.leaving.close(now);
    }
}
