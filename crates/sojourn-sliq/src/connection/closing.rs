//! Closing of a connection.

use super::handshake::{RETRY, State};
use super::{Connection, Event};
use crate::payload::Payload;
use crate::wire::{Close, Datagram};
use sojourn_base::units::Time;

impl<P: Payload> Connection<P> {
    /// Closes the connection; 0 is the reason of a normal end.
    pub fn close(&mut self, now: Time, reason: u16) {
        match self.state {
            State::Connected => {
                self.state = State::Closing(reason);
                self.say_close(now, reason);
            }
            State::Idle | State::HelloSent => {
                self.state = State::Closed;
                self.handshaking.at = None;
            }
            _ => {}
        }
    }

    pub(super) fn say_close(&mut self, now: Time, reason: u16) {
        self.handshaking.closes += 1;
        self.handshaking.at = Some(now + RETRY);
        self.outbox.push_back(Datagram::Close(Close { answer: false, reason }));
    }

    #[cold]
    pub(super) fn on_close(&mut self, close: Close) {
        let reason = close.reason;
        match self.state {
            State::Connected | State::Closing(_) => {
                self.state = State::Closed;
                self.handshaking.at = None;
                self.events.push_back(Event::Closed(reason));
                if !close.answer {
                    self.outbox.push_back(Datagram::Close(Close { answer: true, reason }));
                }
            }
            State::Closed if !close.answer => {
                self.outbox.push_back(Datagram::Close(Close { answer: true, reason }));
            }
            _ => {}
        }
    }
}
