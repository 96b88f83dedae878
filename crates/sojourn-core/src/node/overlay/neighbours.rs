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
    /// When there is something to do with each.
    due: Vec<Time>,
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
        self.all.push(neighbour);
    }

    /// Does something to one.
    pub fn change(&mut self, index: usize, how: impl FnOnce(&mut Neighbour)) {
        let neighbour = &mut self.all[index];
        how(neighbour);
        self.due[index] = neighbour.next();
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
        let due = self.due.iter().enumerate();
        due.fold(0, |bits, (index, at)| bits | u64::from(*at <= now) << index)
    }

    /// When there is something to do with any.
    pub fn next(&self) -> Option<Time> {
        self.due.iter().copied().min()
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

    #[test]
    fn bits_are_those_that_are_set() {
        assert_eq!(bits(0).count(), 0);
        assert_eq!(bits(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
    }
}
