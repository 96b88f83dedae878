//! Which of a sender's numbered packets never arrived, in runs of consecutive numbers.
//!
//! A number that is missing when a later one arrives is lost unless it arrives after all: runs stay
//! open until there are many later ones, and an arrival within one shortens or splits it. A loss
//! that no later arrival reveals, at the very end, is not seen.

use std::collections::VecDeque;
use std::ops::Range;

/// Runs that stay open: the latest ones.
const OPEN: usize = 1024;

/// Runs of consecutive packets that never arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossRuns {
    /// Packets sent up to the latest that arrived.
    pub expected: u64,
    /// Number of runs.
    pub runs: u64,
    /// Packets lost in all of them.
    pub packets: u64,
    /// Packets of the longest run.
    pub longest: u64,
}

impl LossRuns {
    fn add(&mut self, run: &Range<u32>) {
        let length = u64::from(run.end - run.start);
        self.runs += 1;
        self.packets += length;
        self.longest = self.longest.max(length);
    }
}

/// Follows the numbers of the packets that arrive.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    /// One above the largest number that has arrived.
    next: u32,
    /// Runs that begin below this number are not counted.
    from: u32,
    /// Runs that may still be shortened, in ascending order.
    open: VecDeque<Range<u32>>,
    closed: LossRuns,
}

impl Losses {
    /// A packet arrives; whether it does so for the first time. One that comes after its run was
    /// closed counts as lost, and as one that had arrived.
    #[inline]
    pub(super) fn arrives(&mut self, number: u32) -> bool {
        if number < self.next {
            return self.fill(number);
        }
        if number > self.next {
            self.lose(self.next..number);
        }
        self.next = number + 1;
        true
    }

    fn lose(&mut self, run: Range<u32>) {
        self.open.push_back(run);
        if self.open.len() > OPEN
            && let Some(oldest) = self.open.pop_front()
            && oldest.start >= self.from
        {
            self.closed.add(&oldest);
        }
    }

    /// Takes a number out of the run that it is in; whether there is one.
    fn fill(&mut self, number: u32) -> bool {
        let at = self.open.partition_point(|run| run.end <= number);
        let Some(run) = self.open.get(at).filter(|run| run.contains(&number)) else {
            return false;
        };
        let (before, after) = (run.start..number, number + 1..run.end);
        match (before.is_empty(), after.is_empty()) {
            (true, true) => {
                self.open.remove(at);
            }
            (true, false) => self.open[at] = after,
            (false, true) => self.open[at] = before,
            (false, false) => {
                self.open[at] = before;
                self.open.insert(at + 1, after);
            }
        }
        true
    }

    /// Whether nothing has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.next == 0
    }

    /// The runs so far.
    pub(super) fn runs(&self) -> LossRuns {
        let mut all = LossRuns { expected: u64::from(self.next - self.from), ..self.closed };
        self.open.iter().filter(|run| run.start >= self.from).for_each(|run| all.add(run));
        all
    }

    /// From now on only packets are counted that were sent later than the latest that has arrived.
    pub(super) fn end_warmup(&mut self) {
        self.from = self.next;
        self.closed = LossRuns::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;

    fn after(numbers: &[u32]) -> (Losses, Vec<bool>) {
        let mut losses = Losses::default();
        let first = numbers.iter().map(|number| losses.arrives(*number)).collect();
        (losses, first)
    }

    fn runs(expected: u64, [runs, packets, longest]: [u64; 3]) -> LossRuns {
        LossRuns { expected, runs, packets, longest }
    }

    #[test]
    fn missing_numbers_are_runs() {
        // 0, 3 and 4, 7 to 9 are missing; what comes after 11 nobody knows.
        assert_eq!(after(&[1, 2, 5, 6, 10, 11]).0.runs(), runs(12, [3, 6, 3]));
        assert_eq!(after(&[]).0.runs(), LossRuns::default());
    }

    #[test]
    fn a_late_arrival_shortens_splits_or_ends_its_run() {
        let lost = |late: &[u32]| after(&[&[0, 6][..], late].concat()).0.runs();
        assert_eq!(lost(&[]), runs(7, [1, 5, 5]));
        assert_eq!(lost(&[1]), runs(7, [1, 4, 4]));
        assert_eq!(lost(&[5]), runs(7, [1, 4, 4]));
        assert_eq!(lost(&[3]), runs(7, [2, 4, 2]));
        assert_eq!(lost(&[3, 4, 2, 5, 1]), runs(7, [0; 3]));
        assert_eq!(after(&[0, 3, 1, 1, 3]).1, [true, true, true, false, false]);
    }

    #[test]
    fn what_the_warm_up_reveals_is_not_counted() {
        let (mut losses, _) = after(&[0, 3]);
        losses.end_warmup();
        assert_eq!(losses.runs(), LossRuns::default());
        assert!(losses.arrives(1), "late, not again");
        losses.arrives(6);
        assert_eq!(losses.runs(), runs(3, [1, 2, 2]));
    }

    #[test]
    fn old_runs_are_closed_and_counted() {
        let odd: Vec<u32> = (0..5000).map(|n| 2 * n + 1).collect();
        let (mut losses, _) = after(&odd);
        assert_eq!(losses.open.len(), OPEN);
        assert!(!losses.arrives(0), "its run is closed");
        assert_eq!(losses.runs(), runs(10_000, [5000, 5000, 1]));
    }

    /// In whatever order packets arrive, what is missing in the end is counted.
    #[test]
    fn runs_are_those_of_the_set_that_arrived() {
        for seed in 0..200 {
            let random = StreamKey::root(seed);
            let numbers: Vec<u32> = (0..40).map(|n| (random.uniform_at(n) * 60.0) as u32).collect();
            let (losses, first) = after(&numbers);
            let last = *numbers.iter().max().unwrap();
            let lost: Vec<u32> = (0..last).filter(|number| !numbers.contains(number)).collect();
            let lengths: Vec<u64> =
                lost.chunk_by(|a, b| a + 1 == *b).map(|run| run.len() as u64).collect();
            let longest = lengths.iter().copied().max().unwrap_or(0);
            let told = [lengths.len() as u64, lost.len() as u64, longest];
            assert_eq!(losses.runs(), runs(u64::from(last) + 1, told));
            for (place, first) in first.into_iter().enumerate() {
                assert_eq!(first, !numbers[..place].contains(&numbers[place]), "{numbers:?}");
            }
        }
    }
}
