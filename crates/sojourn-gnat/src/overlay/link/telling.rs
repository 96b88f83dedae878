//! When a neighbour is to be told of queues: as often as a share of the capacity pays for it.

use sojourn_base::units::{Span, Time};
use sojourn_sliq::wire::UNDERLAY;

/// Longest interval of messages about queues.
const LONGEST: Span = Span::from_millis(100);
/// What a message has around it, in bytes: the path controller's header of data, and Ethernet's.
const DATA_HEADER: f64 = 16.0;
const ETHERNET: f64 = 14.0;

/// The timer of messages about queues.
#[derive(Debug)]
pub struct Telling {
    number: u32,
    /// Share of the capacity that they may take.
    share: f64,
    due: Time,
}

impl Telling {
    /// The first is due now.
    pub fn new(now: Time, share: f64) -> Self {
        Telling { number: 0, share, due: now }
    }

    /// When the next is due.
    pub fn due(&self) -> Time {
        self.due
    }

    /// The number of the next.
    pub fn number(&mut self) -> u32 {
        self.number += 1;
        self.number
    }

    /// One of so many bytes goes. The next has to wait until it is paid for by the capacity, in bit/s.
    pub fn pay(&mut self, now: Time, bytes: usize, capacity: f64) {
        let bits = 8.0 * (bytes as f64 + f64::from(UNDERLAY) + DATA_HEADER + ETHERNET);
        let next = Span::from_secs_f64(bits / (self.share * capacity));
        self.due = now + next.min(LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_take_their_share_and_are_never_rarer_than_ten_a_second() {
        let mut telling = Telling::new(Time::ZERO, 0.01);
        let bytes = 1_250.0 - f64::from(UNDERLAY) - DATA_HEADER - ETHERNET;
        telling.pay(Time::ZERO, bytes as usize, 100e6);
        assert_eq!(telling.due(), Time::ZERO + Span::from_millis(10), "10,000 bits of 1 Mbit/s");
        telling.pay(Time::ZERO, bytes as usize, 1e6);
        assert_eq!(telling.due(), Time::ZERO + LONGEST);
        assert_eq!([telling.number(), telling.number()], [1, 2]);
    }
}
