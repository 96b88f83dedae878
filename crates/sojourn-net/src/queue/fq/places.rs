//! Places of FQ's flows, by number.

use std::collections::{HashMap, VecDeque};

/// Numbers below this are declared flows', of which there are as many as the file says; above are
/// those of connections that come and go.
const DECLARED: u64 = 2 << 24;
/// None of a flow's.
const NOWHERE: u32 = u32::MAX;

/// Places, of which those of connections that are over are used again, as Linux's garbage collector
/// does.
#[derive(Debug, Default)]
pub(super) struct Places {
    declared: Vec<u32>,
    passing: HashMap<u64, u32>,
    /// Connections, the one that was looked at last behind.
    order: VecDeque<(u64, u32)>,
}

impl Places {
    /// Where the flow of this number is.
    #[inline]
    pub(super) fn known(&self, number: u64) -> Option<usize> {
        let place = match number < DECLARED {
            true => self.declared.get(number as usize).copied().unwrap_or(NOWHERE),
            false => self.passing.get(&number).copied().unwrap_or(NOWHERE),
        };
        (place != NOWHERE).then_some(place as usize)
    }

    /// A place for a flow that has none: a new one at the end, where there are `count`, or that of a
    /// connection that `is_over`.
    pub(super) fn add(
        &mut self,
        number: u64,
        count: usize,
        is_over: impl Fn(usize) -> bool,
    ) -> usize {
        if number < DECLARED {
            let index = number as usize;
            if self.declared.len() <= index {
                self.declared.resize(index + 1, NOWHERE);
            }
            self.declared[index] = count as u32;
            return count;
        }
        let mut place = count as u32;
        if let Some((oldest, its)) = self.order.pop_front() {
            if is_over(its as usize) {
                self.passing.remove(&oldest);
                place = its;
            } else {
                self.order.push_back((oldest, its));
            }
        }
        self.passing.insert(number, place);
        self.order.push_back((number, place));
        place as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_connections_that_are_over_are_used_again() {
        let mut places = Places::default();
        let count = (0..1_000u64).fold(0, |count, connection| {
            let place = places.add(DECLARED + connection, count, |place| place % 2 == 0);
            count.max(place + 1)
        });
        assert!(count < 1_000, "{count}");
        assert_eq!(places.known(DECLARED + 5_000), None);
        assert!(places.known(DECLARED + 999).is_some());
        let place = places.add(7, count, |_| true);
        assert_eq!((place, places.known(7)), (count, Some(count)));
    }
}
