//! New connections to a neighbour in the place of old ones.

use super::delays::Delays;
use super::heard::Heard;
use super::telling::Telling;
use super::{FIRST_CAPACITY, Neighbour};
use crate::overlay::message::Cargo;
use sojourn_base::units::{Span, Time};

/// A connection that has no streams after this time never will: an end gives up asking sooner.
const LONGEST_OPENING: Span = Span::from_secs(15);
/// After an outage this long the other end may have another connection.
const LONGEST_OUTAGE: Span = Span::from_secs(60);

impl Neighbour {
    /// Begins a new connection. What the old one held is lost, and counted; the transmit queue stays.
    pub(crate) fn restart(&mut self, now: Time, members: usize) {
        let held = self.path.connection.held();
        let packets = held.filter(|cargo| matches!(cargo, Cargo::Parcel(_) | Cargo::Copies(_)));
        self.lost += packets.count() as u64;
        self.path = self.path.anew(now, (*self.reach).clone());
        self.telling = Telling::new(now, self.reach.depths_share);
        self.heard = Heard::new(members);
        self.delays = Delays::default();
        (self.open, self.works, self.capacity, self.began_at) = (false, false, FIRST_CAPACITY, now);
        self.calls.due = now;
        self.wake();
    }

    /// Whether nothing comes of its connection any more.
    pub(crate) fn is_stuck(&self, now: Time) -> bool {
        let connection = &self.path.connection;
        let never_opens = connection.is_connected() && !self.open;
        let is_silent = |since| now.since(since) > LONGEST_OUTAGE;
        connection.is_closed()
            || never_opens && now.since(self.began_at) > LONGEST_OPENING
            || connection.outage().is_some_and(is_silent)
    }

    /// Packets that were lost with earlier connections.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// By how many seconds its clock is ahead of this node's, if that is known.
    pub(crate) fn clock(&self) -> Option<f64> {
        Some(self.path.connection.clock_difference()? as f64 * 1e-6)
    }
}
