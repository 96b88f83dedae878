//! When controls permit data that waits.

use super::Connection;
use super::handshake::State;
use crate::control::TOLERANCE;
use crate::payload::Payload;
use sojourn_base::units::Time;

/// Records that no control permits data. This holds until streams or controls change, or pacing
/// permits a packet, and need not be determined again for each datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocked {
    pub until: Time,
    /// When pacing permits a packet.
    pub next: Option<Time>,
}

impl Default for Blocked {
    /// Nothing.
    fn default() -> Self {
        Blocked { until: Time::ZERO, next: None }
    }
}

impl<P: Payload> Connection<P> {
    /// [`Connection::next_timeout`] while the application offers a message again and again because
    /// the stream takes no more: each offer sends what waits and is due within the tolerance of the
    /// timers, so that a packet goes as early as that, and alone.
    pub fn next_offer(&self, now: Time) -> Option<Time> {
        let next = self.next_timeout(now);
        if self.state != State::Connected {
            return next;
        }
        let early = self.pacing_timer(now).map(|at| Time::ZERO + at.since(Time::ZERO + TOLERANCE));
        early.into_iter().chain(next).min()
    }

    /// When pacing permits a packet that nothing else holds back.
    pub(super) fn pacing_timer(&self, now: Time) -> Option<Time> {
        let open = self.overview.open;
        let (again, new) = (self.overview.again & open != 0, self.overview.new & open != 0);
        if !(again || new) || self.outage.is_some() {
            return None;
        }
        if now < self.blocked.until { self.blocked.next } else { self.shared.next_send(now, again) }
    }
}
