//! The streams of a path controller: their contents, priorities and numbers of retransmissions.
//!
//! Streams and their retransmissions are those of IRON's `sliq_cat.cc`.

use crate::overlay::message::Class;
use sojourn_base::units::Time;
use sojourn_sliq::{Connection, Payload, Reliability, StreamConfig};

/// Retransmissions of packets and advertisements.
const RETRANSMISSIONS: u8 = 5;
/// Streams' numbers at the path controller, and their priorities there.
const IDS: [u8; 4] = [1, 3, 5, 7];
const PRIORITIES: [u8; 4] = [2, 3, 4, 5];

/// Purpose of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Depths of queues.
    Depths = 0,
    /// Latency-sensitive packets.
    Timed = 1,
    /// Advertisements of links.
    LinkStates = 2,
    /// Other packets.
    Packets = 3,
}

/// Number of lanes.
pub(super) const LANES: usize = 4;

impl Lane {
    /// All, the most urgent first.
    pub(super) const ALL: [Lane; LANES] =
        [Lane::Depths, Lane::Timed, Lane::LinkStates, Lane::Packets];
    /// The one that is opened last: with it all are open.
    pub(super) const LAST: Lane = Lane::Packets;

    /// The lane of packets of a class.
    pub(super) fn of(class: Class) -> Self {
        match class {
            Class::Timed => Lane::Timed,
            Class::Normal => Lane::Packets,
        }
    }

    /// The stream's number at the path controller.
    pub(super) fn id(self) -> u8 {
        IDS[self as usize]
    }

    /// The class of packets whose delays on a stream count: messages about queues are as other packets.
    pub(super) fn class_of(stream: u8) -> Option<Class> {
        match Lane::ALL.into_iter().find(|lane| lane.id() == stream)? {
            Lane::Depths | Lane::Packets => Some(Class::Normal),
            Lane::Timed => Some(Class::Timed),
            Lane::LinkStates => None,
        }
    }

    /// Opens all.
    pub(super) fn open_all<P: Payload>(now: Time, connection: &mut Connection<P>) {
        for lane in Lane::ALL {
            let reliability = match lane {
                Lane::Depths => Reliability::BestEffort,
                _ => Reliability::SemiReliable { retransmissions: RETRANSMISSIONS },
            };
            let priority = PRIORITIES[lane as usize];
            let config = StreamConfig { priority, reliability, ordered: false };
            // These properties are allowed.
            let _ = connection.create_stream(now, lane.id(), config);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_count_by_what_the_stream_carries() {
        let classes = Lane::ALL.map(|lane| Lane::class_of(lane.id()));
        assert_eq!(classes, [Some(Class::Normal), Some(Class::Timed), None, Some(Class::Normal)]);
        assert_eq!(Lane::class_of(2), None, "no stream of ours");
    }
}
