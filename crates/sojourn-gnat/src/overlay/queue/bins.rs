//! All queues of a node, and those that are not empty.
//!
//! A node needs this at every packet; it is therefore updated with each change, not searched for.

use std::ops::Deref;

use super::bin::Bin;
use super::depth::Shown;
use crate::overlay::message::{Class, Parcel};
use sojourn_base::units::Time;

/// The queues of all destinations.
#[derive(Debug)]
pub(crate) struct Bins {
    all: Vec<Bin>,
    /// Queues that are not empty, by class, as bits.
    waiting: [u64; 2],
    /// The depths advertised last.
    shown: Vec<[f64; 2]>,
}

impl Deref for Bins {
    type Target = [Bin];

    fn deref(&self) -> &[Bin] {
        &self.all
    }
}

impl Bins {
    /// Empty queues for `members` members that advertise their depths in this way.
    pub(crate) fn new(members: usize, how: Shown) -> Self {
        let all = (0..members).map(|_| Bin::new(how)).collect();
        Bins { all, waiting: [0; 2], shown: vec![[0.0; 2]; members] }
    }

    /// Applies a function to one queue.
    pub(crate) fn change<R>(&mut self, to: usize, how: impl FnOnce(&mut Bin) -> R) -> R {
        let bin = &mut self.all[to];
        let result = how(bin);
        for class in Class::IN_ORDER {
            let (set, bit) = (&mut self.waiting[class as usize], 1 << to);
            *set = if bin.is_empty(class) { *set & !bit } else { *set | bit };
        }
        self.shown[to] = bin.last_shown();
        result
    }

    /// Appends a packet to its queue.
    pub(crate) fn push(&mut self, now: Time, parcel: Parcel) {
        self.change(parcel.to.into(), |bin| bin.push(now, parcel));
    }

    /// The depths of all queues to advertise now.
    pub(crate) fn show(&mut self, now: Time) -> Vec<[f64; 2]> {
        (0..self.all.len()).map(|to| self.change(to, |bin| bin.shown(now))).collect()
    }

    /// Queues with packets or zombies of a class, as bits.
    pub(crate) fn waiting(&self, class: Class) -> u64 {
        self.waiting[class as usize]
    }

    /// The depths that one queue advertised last.
    pub(crate) fn last_shown(&self, to: usize) -> [f64; 2] {
        self.shown[to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::packet::Packet;

    #[test]
    fn what_waits_is_noted() {
        let mut bins = Bins::new(3, Shown::Instantaneous);
        let packet = Packet { size: 1_000, ..Packet::default() };
        bins.push(Time::ZERO, Parcel::new(packet, 2, None));
        bins.push(Time::ZERO, Parcel::new(packet, 1, Some(Time::ZERO)));
        assert_eq!([Class::Normal, Class::Timed].map(|class| bins.waiting(class)), [0b100, 0b010]);
        assert_eq!(bins.last_shown(1), [1_000.0, 1_000.0]);
        bins.change(2, |bin| bin.take(Time::ZERO, Class::Normal, 0, false));
        bins.change(1, |bin| bin.kill(Class::Timed, 0));
        assert_eq!([Class::Normal, Class::Timed].map(|class| bins.waiting(class)), [0, 0b010]);
        assert_eq!(bins.show(Time::ZERO), [[0.0; 2], [1_000.0, 1_000.0], [0.0; 2]]);
    }
}
