//! Set of the packets that have arrived.

/// Packets up to `next`, and runs of packets above it.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    next: u64,
    /// First and last of each run, ascending, apart from each other and from `next`.
    runs: Vec<(u64, u64)>,
}

impl Blocks {
    /// Nothing from `next` on.
    pub(super) fn new(next: u64) -> Self {
        Blocks { next, runs: Vec::new() }
    }

    /// The first packet that has not arrived.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Whether a packet is missing below one that has arrived.
    pub(super) fn has_gap(&self) -> bool {
        !self.runs.is_empty()
    }

    /// One past the last packet that has arrived.
    pub(super) fn end(&self) -> u64 {
        self.runs.last().map_or(self.next, |(_, last)| last + 1)
    }

    fn position(&self, seq: u64) -> usize {
        self.runs.partition_point(|(_, last)| *last < seq)
    }

    /// The run that a packet above `next` is in.
    pub(super) fn run(&self, seq: u64) -> Option<(u64, u64)> {
        self.runs.get(self.position(seq)).copied().filter(|(first, _)| *first <= seq)
    }

    /// Whether a packet has arrived.
    pub(super) fn contains(&self, seq: u64) -> bool {
        seq < self.next || self.run(seq).is_some()
    }

    /// A packet arrived; whether it is new.
    pub(super) fn insert(&mut self, seq: u64) -> bool {
        if self.contains(seq) {
            return false;
        }
        if seq == self.next {
            self.next += 1;
            self.merge_first();
            return true;
        }
        self.insert_above(seq);
        true
    }

    #[inline(never)]
    fn insert_above(&mut self, seq: u64) {
        let at = self.position(seq);
        let after = self.runs.get(at).is_some_and(|(first, _)| *first == seq + 1);
        let before = at > 0 && self.runs[at - 1].1 + 1 == seq;
        match (before, after) {
            (true, true) => {
                self.runs[at - 1].1 = self.runs[at].1;
                self.runs.remove(at);
            }
            (true, false) => self.runs[at - 1].1 = seq,
            (false, true) => self.runs[at].0 = seq,
            (false, false) => self.runs.insert(at, (seq, seq)),
        }
    }

    /// Nothing before `next` is waited for any more.
    pub(super) fn move_forward(&mut self, next: u64) {
        if next <= self.next {
            return;
        }
        self.next = next;
        self.runs.retain_mut(|(first, last)| {
            *first = (*first).max(next);
            *last >= next
        });
        self.merge_first();
    }

    fn merge_first(&mut self) {
        if self.runs.first().is_some_and(|(first, _)| *first <= self.next) {
            self.next = self.runs.remove(0).1 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_are_the_set_of_what_arrived(steps in prop::collection::vec((0u64..60, 0u8..20), 0..80)) {
            let mut blocks = Blocks::new(0);
            let mut set = BTreeSet::new();
            for (seq, what) in steps {
                if what == 0 {
                    blocks.move_forward(seq);
                    set.extend(0..seq);
                } else {
                    prop_assert_eq!(blocks.insert(seq), set.insert(seq));
                }
                for seq in 0..64 {
                    prop_assert_eq!(blocks.contains(seq), set.contains(&seq));
                }
                let missing = (0..).find(|seq| !set.contains(seq));
                prop_assert_eq!(Some(blocks.next()), missing);
                prop_assert!(blocks.runs.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
            }
        }
    }
}
