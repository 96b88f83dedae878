//! Rings of packets.
//!
//! The number of slots is a power of two, so that places need no comparison, and an item is written where
//! it will be: each packet passes through several rings, and copies of it are much of a link's cost.

/// Least number of slots.
const LEAST: usize = 4;

/// A queue of items in a ring of slots, which grows as needed.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// None, or a power of two. Free ones keep what was in them.
    slots: Vec<T>,
    /// Items that were taken out and put in so far; they wrap.
    taken: usize,
    put: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring { slots: Vec::new(), taken: 0, put: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.put.wrapping_sub(self.taken)
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// The slot of the item after `at` others; there must be slots.
    #[inline]
    fn slot(&self, at: usize) -> usize {
        self.taken.wrapping_add(at) & (self.slots.len() - 1)
    }

    /// Appends an item, and returns its slot, which is to be filled: it has anything in it.
    #[inline(always)] // once per packet and ring
    pub(crate) fn append(&mut self) -> &mut T {
        if self.len() == self.slots.len() {
            self.resize(2 * self.slots.len());
        }
        let slot = self.put & (self.slots.len() - 1);
        self.put = self.put.wrapping_add(1);
        &mut self.slots[slot]
    }

    /// The first item.
    #[inline(always)] // once per packet and ring
    pub(crate) fn first(&self) -> Option<&T> {
        (self.put != self.taken).then(|| &self.slots[self.slot(0)])
    }

    /// The last item.
    pub(crate) fn last(&self) -> Option<&T> {
        self.iter_from(self.len().saturating_sub(1)).next()
    }

    /// Removes the first item; there must be one.
    #[inline(always)] // once per packet and ring
    pub(crate) fn remove_first(&mut self) {
        debug_assert!(self.len() > 0, "an item is looked at before it is removed");
        self.taken = self.taken.wrapping_add(1);
    }

    /// The items from the one after `at` others.
    pub(crate) fn iter_from(&self, at: usize) -> impl Iterator<Item = &T> {
        (at..self.len()).map(|at| &self.slots[self.slot(at)])
    }

    /// Number of items before the first for which `before` is false, in a ring sorted by that.
    pub(crate) fn partition_point(&self, before: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match before(&self.slots[self.slot(middle)]) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Puts an item behind `at` others.
    pub(crate) fn insert(&mut self, at: usize, item: T) {
        *self.append() = item;
        for later in (at + 1..self.len()).rev() {
            let (slot, before) = (self.slot(later), self.slot(later - 1));
            self.slots.swap(slot, before);
        }
    }

    /// Removes the item behind `at` others; there must be one.
    pub(crate) fn remove(&mut self, at: usize) -> T {
        let removed = self.slots[self.slot(at)];
        for later in at + 1..self.len() {
            let (slot, before) = (self.slot(later), self.slot(later - 1));
            self.slots[before] = self.slots[slot];
        }
        self.put = self.put.wrapping_sub(1);
        removed
    }

    /// Has slots for `items` and not many more.
    #[cold]
    #[inline(never)]
    pub(crate) fn resize(&mut self, items: usize) {
        let mut slots = vec![T::default(); items.max(LEAST).next_power_of_two()];
        slots.iter_mut().zip(self.iter_from(0)).for_each(|(slot, item)| *slot = *item);
        (self.taken, self.put) = (0, self.len());
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Whatever is done to it, it has what a list has.
        #[test]
        fn is_a_list(steps in prop::collection::vec((0u8..6, 0usize..40), 1..300)) {
            let (mut ring, mut list) = (Ring::default(), VecDeque::new());
            // Counts wrap.
            (ring.taken, ring.put) = (usize::MAX - 7, usize::MAX - 7);
            for (number, (step, at)) in (0..).zip(steps) {
                match (step, list.is_empty()) {
                    (0 | 1, _) => {
                        *ring.append() = number;
                        list.push_back(number);
                    }
                    (2, _) => {
                        let at = at % (list.len() + 1);
                        ring.insert(at, number);
                        list.insert(at, number);
                    }
                    (3, false) => {
                        ring.remove_first();
                        list.pop_front();
                    }
                    (4, false) => {
                        let at = at % list.len();
                        prop_assert_eq!(Some(ring.remove(at)), list.remove(at));
                    }
                    _ => ring.resize(list.len()),
                }
                prop_assert_eq!(ring.first(), list.front());
                let from = at % (list.len() + 1);
                prop_assert!(ring.iter_from(from).eq(list.range(from..)));
            }
        }
    }

    #[test]
    fn items_are_found_by_their_order() {
        let mut ring = Ring::default();
        (0..6).for_each(|item| *ring.append() = item);
        (0..3).for_each(|_| ring.remove_first());
        (6..9).for_each(|item| *ring.append() = item);
        assert_eq!(
            [0, 3, 5, 6, 9].map(|sought| ring.partition_point(|item| *item < sought)),
            [0, 0, 2, 3, 6]
        );
    }
}
