//! Where the packets of a frame come from: the driver, or at once a queue.

use std::collections::VecDeque;

use sojourn_base::packet::Packet;
use sojourn_base::units::Time;
use sojourn_net::edge::medium::lanes::{Lanes, Queue};

/// Source of packets for one receiver.
pub(crate) struct Supply<'a> {
    /// The time.
    pub now: Time,
    /// Packets that the driver holds for it, and how many it holds for all.
    pub staged: &'a mut VecDeque<Packet>,
    pub held: &'a mut usize,
    /// Its queue, and the counters of channels.
    pub queue: &'a mut Queue,
    pub lanes: &'a mut Lanes,
    /// Whether frames take packets from the queue at once, without a driver in between.
    pub direct: bool,
}

impl Supply<'_> {
    /// Moves the next packet, if there is one, to `packet`.
    pub(crate) fn next(&mut self, packet: &mut Packet) -> bool {
        if let Some(first) = self.staged.pop_front() {
            *packet = first;
            *self.held -= 1;
            return true;
        }
        self.direct && self.queue.dequeue_into(self.now, packet, self.lanes)
    }

    /// Puts back one that does not fit.
    pub(crate) fn back(&mut self, packet: Packet) {
        self.staged.push_front(packet);
        *self.held += 1;
    }
}
