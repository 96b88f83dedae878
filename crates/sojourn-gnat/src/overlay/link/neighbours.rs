//! All neighbours of a node, and those for which work is due.
//!
//! A node needs this at every packet; it is therefore updated with each change, not searched for.

use std::cell::Cell;
use std::ops::Deref;

use super::Neighbour;
use crate::overlay::members::bits;
use crate::overlay::message::Cargo;
use sojourn_base::units::Time;

/// All neighbours.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    all: Vec<Neighbour>,
    /// Neighbours that work, and those that accept packets now, as bits.
    working: u64,
    open: u64,
    /// Neighbours with work to do now, whatever their due times.
    awake: u64,
    /// Due time of each neighbour, and of the next message about queues to it.
    due: Times,
    tell: Times,
}

/// Times, and the least of them, which is computed on demand.
#[derive(Debug)]
struct Times {
    all: Vec<Time>,
    /// None is before this.
    bound: Cell<Time>,
    /// Whether one is at it.
    exact: Cell<bool>,
}

impl Default for Times {
    fn default() -> Self {
        Times { all: vec![], bound: Cell::new(Time::NEVER), exact: Cell::new(true) }
    }
}

impl Times {
    fn push(&mut self, at: Time) {
        self.all.push(at);
        self.lower(at);
    }

    fn lower(&self, at: Time) {
        if at <= self.bound.get() {
            self.bound.set(at);
            self.exact.set(true);
        }
    }

    fn set(&mut self, index: usize, at: Time) {
        let before = std::mem::replace(&mut self.all[index], at);
        if before != at && before == self.bound.get() {
            self.exact.set(false);
        }
        self.lower(at);
    }

    fn least(&self) -> Time {
        if !self.exact.replace(true) {
            self.bound.set(self.all.iter().copied().fold(Time::NEVER, Time::min));
        }
        self.bound.get()
    }

    /// Whether any has come.
    fn any(&self, now: Time) -> bool {
        self.bound.get() <= now && self.least() <= now
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
    pub(crate) fn add(&mut self, neighbour: Neighbour) {
        self.due.push(neighbour.next());
        self.tell.push(neighbour.told_next());
        self.all.push(neighbour);
    }

    /// Applies a function to one neighbour.
    pub(crate) fn change(&mut self, index: usize, how: impl FnOnce(&mut Neighbour)) {
        let neighbour = &mut self.all[index];
        how(neighbour);
        self.due.set(index, neighbour.next());
        self.tell.set(index, neighbour.told_next());
        let bit = 1 << index;
        let set = |bits: u64, on: bool| if on { bits | bit } else { bits & !bit };
        self.working = set(self.working, neighbour.works());
        self.open = set(self.open, neighbour.room() > 0);
        self.awake = set(self.awake, neighbour.is_awake());
    }

    /// The next that one has brought on a stream.
    pub(crate) fn read(&mut self, index: usize, stream: u8) -> Option<Cargo> {
        self.all[index].read(stream)
    }

    /// Applies a function to each neighbour.
    pub(crate) fn change_all(&mut self, mut how: impl FnMut(usize, &mut Neighbour)) {
        (0..self.all.len()).for_each(|index| self.change(index, |neighbour| how(index, neighbour)));
    }

    /// Neighbours that work, as bits.
    pub(crate) fn working(&self) -> u64 {
        self.working
    }

    /// Neighbours that accept packets now.
    pub(crate) fn open(&self) -> impl Iterator<Item = (usize, &Neighbour)> {
        bits(self.open).map(|index| (index, &self.all[index]))
    }

    /// Neighbours with work due now, as bits.
    pub(crate) fn due(&self, now: Time) -> u64 {
        if !self.due.any(now) {
            return self.awake;
        }
        let due = self.due.all.iter().enumerate();
        due.fold(self.awake, |bits, (index, at)| bits | u64::from(*at <= now) << index)
    }

    /// Earliest due time of any neighbour.
    pub(crate) fn next(&self) -> Option<Time> {
        (!self.all.is_empty()).then(|| self.due.least())
    }

    /// Whether a message about queues is due to any.
    pub(crate) fn tells(&self, now: Time) -> bool {
        self.tell.any(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::units::Span;

    #[test]
    fn the_least_time_is_known_after_each_change() {
        let at = |ns| Time::ZERO + Span::from_nanos(ns);
        let mut times = Times::default();
        [5, 3, 3].into_iter().for_each(|ns| times.push(at(ns)));
        for (index, ns, least) in [(1, 9, 3), (2, 7, 5), (0, 1, 1), (0, 8, 7)] {
            times.set(index, at(ns));
            assert!(times.any(at(least)) && !times.any(at(least - 1)));
            assert_eq!(times.least(), at(least));
        }
    }
}
