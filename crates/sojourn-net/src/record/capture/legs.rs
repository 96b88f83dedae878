//! The connections that the packets of a flow belong to.

use super::Conversation;
use super::tcp::Connection;
use crate::packet::{Packet, Route};

/// The connections of a flow: one; or, of a flow that proxies carry on between nodes, that of its
/// sender's host and that of its receiver's, whose segments are not the same.
#[derive(Debug)]
pub(super) struct Legs {
    ends: Conversation,
    /// By whether a proxy sends the segments.
    legs: [Option<Connection>; 2],
}

/// Whether a proxy has sent a packet: it leaves those of hosts beside it, which need no route.
fn from_proxy(packet: &Packet) -> usize {
    usize::from(packet.route == Route::default())
}

impl Legs {
    pub(super) fn new(ends: Conversation) -> Self {
        Legs { ends, legs: [None, None] }
    }

    /// The flow's ends.
    pub(super) fn ends(&self) -> &Conversation {
        &self.ends
    }

    /// The connection of a segment.
    pub(super) fn of_segment(&mut self, packet: &Packet) -> &mut Connection {
        self.leg(from_proxy(packet))
    }

    /// The connection of an acknowledgment: a host answers a proxy, and a proxy a host, if there is one.
    pub(super) fn of_ack(&mut self, packet: &Packet) -> &mut Connection {
        let own = from_proxy(packet);
        let answers = if self.legs[1 - own].is_some() { 1 - own } else { own };
        self.leg(answers)
    }

    fn leg(&mut self, leg: usize) -> &mut Connection {
        let ends = self.ends;
        self.legs[leg].get_or_insert_with(|| Connection::new(ends))
    }
}
