//! Ports of the senders of transfers.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Ports of senders; those that the kernel chooses for declared flows are above them.
const PORTS: RangeInclusive<u16> = 1024..=32_767;

/// Ports of senders, in turn.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    taken: BTreeSet<u16>,
    latest: u16,
}

impl Ports {
    /// The next one that is free.
    pub(crate) fn take(&mut self) -> Option<u16> {
        let (first, last) = (*PORTS.start(), *PORTS.end());
        for _ in PORTS {
            let next = if self.latest < last { self.latest + 1 } else { first };
            self.latest = next.max(first);
            if self.taken.insert(self.latest) {
                return Some(self.latest);
            }
        }
        None
    }

    /// It may be taken again.
    pub(crate) fn give_back(&mut self, port: u16) {
        self.taken.remove(&port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_taken_in_turn_and_not_twice() {
        let mut ports = Ports::default();
        let number = PORTS.count();
        let first: Vec<u16> = (0..number).filter_map(|_| ports.take()).collect();
        assert_eq!((first[0], first[number - 1], first.len()), (1024, 32_767, 31_744));
        assert_eq!(ports.take(), None);
        ports.give_back(2000);
        ports.give_back(1500);
        assert_eq!([ports.take(), ports.take(), ports.take()], [Some(1500), Some(2000), None]);
    }
}
