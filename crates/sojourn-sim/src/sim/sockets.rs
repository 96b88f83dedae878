//! Sockets, as whoever opens connections while a run goes on sees them.

use crate::endpoint::Endpoint;
use crate::net::{Network, Step};
use crate::traffic::Action;
use crate::units::Time;

/// Sockets of a host.
pub(super) trait Sockets {
    /// The endpoint at a socket.
    fn end(&mut self, socket: usize) -> &mut dyn Endpoint;

    /// The application of a sender's socket acts.
    fn act(&mut self, now: Time, sender: usize, action: Action);

    /// Sends all packets that the endpoint has to send.
    ///
    /// # Errors
    /// If an invariant is broken; ends the run.
    fn pump(&mut self, net: &mut Network, socket: usize) -> Step;

    /// Gives the two sockets of a connection, the sender's first, to these ends.
    fn seat(&mut self, first: usize, ends: [Box<dyn Endpoint>; 2]);

    /// Takes the ends of a connection that is over from their sockets. Events that are left behind
    /// are ignored.
    fn clear(&mut self, first: usize);

    /// Counts an action of `timer`'s component without time advancing.
    ///
    /// # Errors
    /// If there are too many.
    fn count_step(&self, net: &mut Network, timer: u32) -> Step;
}
