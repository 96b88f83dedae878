//! Packets inside a router of the kernel: by what they are recognised when they come out.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::wire::set_identification;

/// The numbers of packets inside a router. One of IPv4 has its number as its identification, which a
/// router does not change. Those of IPv6 have none; they are recognised by all that a router leaves as
/// it is, and of equal ones the first that went in is the first that comes out.
#[derive(Default)]
pub(super) struct Recognised {
    numbers: HashMap<u64, VecDeque<u16>>,
    fingerprints: HashMap<u16, u64>,
}

impl Recognised {
    /// A packet of these bytes goes in; another that had this number has been lost.
    pub(super) fn enter(&mut self, bytes: &mut [u8], number: u16) {
        self.forget(number);
        match fingerprint(bytes) {
            Some(fingerprint) => {
                self.numbers.entry(fingerprint).or_default().push_back(number);
                self.fingerprints.insert(number, fingerprint);
            }
            None => set_identification(bytes, number),
        }
    }

    /// A packet of these bytes comes out: it has the first of these numbers that `is_inside`.
    pub(super) fn leave(&mut self, bytes: &[u8], mut is_inside: impl FnMut(u16) -> bool) {
        let Some(fingerprint) = fingerprint(bytes) else {
            if let [_, _, _, _, high, low, ..] = bytes {
                is_inside(u16::from_be_bytes([*high, *low]));
            }
            return;
        };
        while let Some(number) = self.first(fingerprint) {
            self.forget(number);
            if is_inside(number) {
                return;
            }
        }
    }

    fn first(&self, fingerprint: u64) -> Option<u16> {
        self.numbers.get(&fingerprint)?.front().copied()
    }

    fn forget(&mut self, number: u16) {
        let Some(fingerprint) = self.fingerprints.remove(&number) else { return };
        let Some(numbers) = self.numbers.get_mut(&fingerprint) else { return };
        numbers.retain(|other| *other != number);
        if numbers.is_empty() {
            self.numbers.remove(&fingerprint);
        }
    }
}

/// A hash of the bytes of a packet of IPv6 that a router does not change: all but the traffic class and
/// the hop limit.
fn fingerprint(bytes: &[u8]) -> Option<u64> {
    let (head, rest) = bytes.split_at_checked(8).filter(|(head, _)| head[0] >> 4 == 6)?;
    let mut hasher = DefaultHasher::new();
    (head[1] & 15, &head[2..7], rest).hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn six(payload: u8) -> Vec<u8> {
        let mut bytes = vec![0x60, 0x21, 1, 2, 0, 1, 17, 64];
        bytes.resize(41, payload);
        bytes
    }

    /// The numbers that a packet may have, up to the first of those inside.
    fn asked(recognised: &mut Recognised, bytes: &[u8], inside: &[u16]) -> Vec<u16> {
        let mut asked = Vec::new();
        recognised.leave(bytes, |number| {
            asked.push(number);
            inside.contains(&number)
        });
        asked
    }

    #[test]
    fn a_packet_of_ipv4_carries_its_number() {
        let (mut recognised, mut bytes) = (Recognised::default(), vec![0x45; 20]);
        recognised.enter(&mut bytes, 0x1234);
        assert_eq!(bytes[4..6], [0x12, 0x34]);
        assert_eq!(asked(&mut recognised, &bytes, &[]), [0x1234]);
    }

    #[test]
    fn packets_of_ipv6_are_recognised_by_what_stays() {
        let mut recognised = Recognised::default();
        for (number, payload) in [(1, 7), (2, 7), (3, 8), (4, 7), (5, 7)] {
            recognised.enter(&mut six(payload), number);
        }
        let mut marked = six(7);
        (marked[0], marked[1], marked[7]) = (0x6b, 0xb1, 63);
        assert_eq!(asked(&mut recognised, &marked, &[2, 4]), [1, 2], "the first was dropped");
        recognised.enter(&mut six(9), 4);
        assert_eq!(asked(&mut recognised, &marked, &[5]), [5], "number 4 is another's now");
        assert_eq!(asked(&mut recognised, &six(8), &[3]), [3]);
        assert_eq!(asked(&mut recognised, &six(8), &[3]), [] as [u16; 0]);
        assert_eq!(asked(&mut recognised, &six(9), &[4]), [4]);
        assert!(recognised.numbers.is_empty() && recognised.fingerprints.is_empty());
    }
}
