//! The transmit queue to a neighbour: short, so that packets are chosen as late as possible.

use std::collections::VecDeque;

use super::streams::{LANES, Lane};
use crate::overlay::members::bits;
use crate::overlay::message::Cargo;
use sojourn_base::units::Time;
use sojourn_sliq::{Connection, Payload};

/// Bytes below which the transmit queue is refilled, and bytes to which.
const REFILL_BELOW: u64 = 2_000;
const FILL_TO: u64 = 6_000;

/// Packets that wait for the path controller.
#[derive(Debug, Default)]
pub(super) struct TransmitQueue {
    /// By lane, with when it came; and where something is, as bits. Apart, because nodes often look
    /// through all neighbours.
    waiting: Box<[VecDeque<(Time, Cargo)>; LANES]>,
    filled: u8,
    /// Without depths of queues.
    bytes: u64,
}

impl TransmitQueue {
    /// Number of bytes of packets that it accepts now; 0 unless it is nearly empty.
    pub(super) fn room(&self) -> u64 {
        if self.bytes >= REFILL_BELOW { 0 } else { FILL_TO - self.bytes }
    }

    /// Whether it has room for a packet that must go at once.
    pub(super) fn has_space(&self) -> bool {
        self.bytes < FILL_TO
    }

    /// Packets in it.
    pub(super) fn packets(&self) -> u64 {
        let packets = self.waiting.iter().flatten();
        packets.filter(|(_, cargo)| matches!(cargo, Cargo::Parcel(_) | Cargo::Copies(_))).count()
            as u64
    }

    /// Appends a message. Of depths of queues only the latest waits: an older one that was not sent
    /// is obsolete.
    pub(super) fn push(&mut self, now: Time, lane: Lane, cargo: Cargo) {
        if lane == Lane::Depths {
            self.waiting[lane as usize].clear();
        } else {
            self.bytes += cargo.len() as u64;
        }
        self.waiting[lane as usize].push_back((now, cargo));
        self.filled |= 1 << lane as usize;
    }

    /// Passes the next message to each stream that has sent all earlier ones.
    pub(super) fn feed(&mut self, connection: &mut Connection<Cargo>) {
        for index in bits(self.filled.into()) {
            let (lane, waiting) = (Lane::ALL[index], &mut self.waiting[index]);
            while connection.queued(lane.id()) == 0 {
                let Some((since, cargo)) = waiting.pop_front() else { break };
                if lane != Lane::Depths {
                    self.bytes -= cargo.len() as u64;
                }
                connection.write(since, lane.id(), cargo);
            }
            self.filled &= !(u8::from(waiting.is_empty()) << index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::overlay::message::{Depths, Parcel};
    use sojourn_base::packet::Packet;

    fn parcel(size: u32) -> Cargo {
        Cargo::Parcel(Parcel::new(Packet { size, ..Packet::default() }, 1, None))
    }

    #[test]
    fn it_is_filled_when_it_is_nearly_empty_and_not_before() {
        let mut queue = TransmitQueue::default();
        assert_eq!(queue.room(), FILL_TO);
        queue.push(Time::ZERO, Lane::Packets, parcel(1_496));
        assert_eq!(queue.room(), 4_500, "the packet and its number");
        queue.push(Time::ZERO, Lane::Packets, parcel(996));
        assert_eq!((queue.room(), queue.has_space(), queue.packets()), (0, true, 2));
        (0..3).for_each(|_| queue.push(Time::ZERO, Lane::Timed, parcel(1_496)));
        assert!(!queue.has_space());
    }

    #[test]
    fn of_depths_the_last_waits_and_takes_no_room() {
        let mut queue = TransmitQueue::default();
        for number in [1, 2] {
            let depths = Depths::new(number, vec![[1.0; 2]; 3], Arc::default());
            queue.push(Time::ZERO, Lane::Depths, Cargo::Depths(depths.into()));
        }
        assert_eq!((queue.waiting[0].len(), queue.room()), (1, FILL_TO));
    }
}
