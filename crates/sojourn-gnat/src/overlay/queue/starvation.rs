//! Relief of starvation (ASAP): a small flow's queue, whose gradient is never the largest, gets
//! zombies until its packet is sent.
//!
//! Model: IRON's `asap.cc`.

use sojourn_base::units::{Span, Time};

/// Interval at which queues are checked.
pub(crate) const INTERVAL: Span = Span::from_millis(5);
/// Number and size of packets whose time at the link's rate a packet may wait, and the longest
/// wait.
const PACKETS: f64 = 50.0;
const PACKET_BITS: f64 = 12_000.0;
const LONGEST: Span = Span::from_millis(50);
/// Bytes of zombies per squared millisecond of waiting.
const BYTES_PER_MS2: f64 = 2.0;

/// State of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Starvation {
    served_at: Time,
    added: u64,
}

impl Starvation {
    /// A packet has left.
    pub(super) fn on_packet(&mut self, now: Time) {
        *self = Starvation { served_at: now, added: 0 };
    }

    /// Bytes of zombies to add to a queue whose first packet came at `since`; `lacks` is what its
    /// gradient lacks to be the largest, `capacity` in bit/s that of the node's links.
    pub(super) fn relief(&mut self, now: Time, since: Time, capacity: f64, lacks: f64) -> u64 {
        let held = now.since(self.served_at.max(since));
        let patience = Span::from_secs_f64(PACKETS * PACKET_BITS / capacity.max(1.0)).min(LONGEST);
        if held <= patience || lacks <= 0.0 {
            return 0;
        }
        let ms = held.as_millis_f64();
        let due = (BYTES_PER_MS2 * ms * ms) as u64;
        let more = due.saturating_sub(self.added).min(lacks.ceil() as u64);
        self.added += more;
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relief_grows_with_the_square_of_the_wait_and_stops_where_it_suffices() {
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut starvation = Starvation::default();
        starvation.on_packet(at(100));
        assert_eq!(starvation.relief(at(150), at(100), 10e6, 1e9), 0, "50 ms are bearable");
        assert_eq!(starvation.relief(at(160), at(100), 10e6, 1e9), 7_200);
        assert_eq!(starvation.relief(at(170), at(100), 10e6, 1e9), 9_800 - 7_200);
        assert_eq!(starvation.relief(at(180), at(100), 10e6, 10.0), 10);
        assert_eq!(starvation.relief(at(190), at(100), 10e6, 0.0), 0);
        starvation.on_packet(at(200));
        assert_eq!(starvation.relief(at(260), at(250), 10e6, 1e9), 0, "the packet is new");
    }
}
