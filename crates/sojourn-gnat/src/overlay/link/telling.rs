//! Timer of messages about queues to a neighbour: as often as a share of the capacity permits.

use sojourn_base::packet::headers::ETHERNET;
use sojourn_base::units::{Span, Time};
use sojourn_sliq::wire::{DATA_LEN, UNDERLAY};

/// Longest interval of messages about queues.
const LONGEST: Span = Span::from_millis(100);
/// Bytes of headers around a message: the path controller's header of data, UDP's, IP's,
/// Ethernet's.
const AROUND: f64 = (DATA_LEN as u32 + UNDERLAY + ETHERNET) as f64;

/// The timer of messages about queues.
#[derive(Debug)]
pub(super) struct Telling {
    number: u32,
    /// Share of the capacity that they may take.
    share: f64,
    due: Time,
}

impl Telling {
    /// The first is due now.
    pub(super) fn new(now: Time, share: f64) -> Self {
        Telling { number: 0, share, due: now }
    }

    /// When the next is due.
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// The number of the next.
    pub(super) fn number(&mut self) -> u32 {
        self.number = self.number.wrapping_add(1);
        self.number
    }

    /// A message of `bytes` is sent. The next waits until the share of `capacity`, in bit/s, has
    /// covered it.
    pub(super) fn pay(&mut self, now: Time, bytes: usize, capacity: f64) {
        let bits = 8.0 * (bytes as f64 + AROUND);
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
        let bytes = 1_250.0 - AROUND;
        telling.pay(Time::ZERO, bytes as usize, 100e6);
        assert_eq!(telling.due(), Time::ZERO + Span::from_millis(10), "10,000 bits of 1 Mbit/s");
        telling.pay(Time::ZERO, bytes as usize, 1e6);
        assert_eq!(telling.due(), Time::ZERO + LONGEST);
        assert_eq!([telling.number(), telling.number()], [1, 2]);
    }
}
