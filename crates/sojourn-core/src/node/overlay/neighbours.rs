//! All neighbours of a node, and which of them there is something to do with.
//!
//! A node asks at every packet; so it is noted with each change, and not looked for among all.

use std::ops::Deref;

use super::neighbour::Neighbour;
use crate::units::Time;

/// All neighbours.
#[derive(Debug, Default)]
pub struct Neighbours {
    all: Vec<Neighbour>,
    /// Those that work, and those that take packets now, as bits.
    working: u64,
    open: u64,
    /// When there is something to do with each, and when it is to be told of queues.
    due: Times,
    tell: Times,
}

/// Times, and the least of them.
#[derive(Debug)]
struct Times {
    all: Vec<Time>,
    least: Time,
}

impl Default for Times {
    fn default() -> Self {
        Times { all: vec![], least: Time::NEVER }
    }
}

impl Times {
    fn push(&mut self, at: Time) {
        self.all.push(at);
        self.least = self.least.min(at);
    }

    fn set(&mut self, index: usize, at: Time) {
        let before = std::mem::replace(&mut self.all[index], at);
        if at <= self.least {
            self.least = at;
        } else if before == self.least {
            self.least = self.all.iter().copied().fold(Time::NEVER, Time::min);
        }
    }
}

impl Deref for Neighbours {
    type Target = [Neighbour];

    fn deref(&self) -> &[Neighbour] {
        &self.all
    }
}

impl Neighbours {
    /// Adds one.
    pub fn add(&mut self, neighbour: Neighbour) {
        self.due.push(neighbour.next());
        self.tell.push(neighbour.told_next());
        self.all.push(neighbour);
    }

    /// Does something to one.
    pub fn change(&mut self, index: usize, how: impl FnOnce(&mut Neighbour)) {
        let neighbour = &mut self.all[index];
        how(neighbour);
        self.due.set(index, neighbour.next());
        self.tell.set(index, neighbour.told_next());
        let bit = 1 << index;
        let set = |bits: u64, on: bool| if on { bits | bit } else { bits & !bit };
        self.working = set(self.working, neighbour.works());
        self.open = set(self.open, neighbour.room() > 0);
    }

    /// Does something to each.
    pub fn change_all(&mut self, mut how: impl FnMut(usize, &mut Neighbour)) {
        (0..self.all.len()).for_each(|index| self.change(index, |neighbour| how(index, neighbour)));
    }

    /// Those that work, as bits.
    pub fn working(&self) -> u64 {
        self.working
    }

    /// Those that take packets now.
    pub fn open(&self) -> impl Iterator<Item = (usize, &Neighbour)> {
        bits(self.open).map(|index| (index, &self.all[index]))
    }

    /// Those with which there is something to do now, as bits.
    pub fn due(&self, now: Time) -> u64 {
        if self.due.least > now {
            return 0;
        }
        let due = self.due.all.iter().enumerate();
        due.fold(0, |bits, (index, at)| bits | u64::from(*at <= now) << index)
    }

    /// When there is something to do with any.
    pub fn next(&self) -> Option<Time> {
        (!self.all.is_empty()).then_some(self.due.least)
    }

    /// When any is to be told of queues.
    pub fn tell_at(&self) -> Time {
        self.tell.least
    }
}

/// The places of the bits that are set.
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (place < u64::BITS).then_some(place as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn the_least_time_is_known_after_each_change() {
        let at = |ns| Time::ZERO + Span::from_nanos(ns);
        let mut times = Times::default();
        [5, 3, 3].into_iter().for_each(|ns| times.push(at(ns)));
        for (index, ns, least) in [(1, 9, 3), (2, 7, 5), (0, 1, 1), (0, 8, 7)] {
            times.set(index, at(ns));
            assert_eq!(times.least, at(least));
        }
    }

    #[test]
    fn bits_are_those_that_are_set() {
        assert_eq!(bits(0).count(), 0);
        assert_eq!(bits(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
    }
}
