//! Which counters have been seen: the latest 2,048, after RFC 6479.

/// How many counters before the latest may still come.
pub(super) const SIZE: u64 = 2_048;
/// One word more than that, so that a word is cleared as a whole before it is used again.
const WORDS: u64 = SIZE / 64 + 1;

/// Counters seen.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Above all that were seen.
    top: u64,
    /// A bit for each counter, in a circle of words.
    words: [u64; WORDS as usize],
}

impl Window {
    /// None seen.
    pub(super) fn new() -> Self {
        Window { top: 0, words: [0; WORDS as usize] }
    }

    /// Whether this one is new, as far as is known.
    pub(super) fn takes(&self, counter: u64) -> bool {
        counter >= self.top
            || self.top - counter <= SIZE && self.words[place(counter / 64)] & bit(counter) == 0
    }

    /// Notes that this one, which it takes, was seen; whether it is the newest.
    pub(super) fn note(&mut self, counter: u64) -> bool {
        let newest = counter >= self.top;
        if newest {
            // The word of the counter before `top` is in use; those after it are not.
            let used = self.top.div_ceil(64);
            for word in (used..=counter / 64).rev().take(WORDS as usize) {
                self.words[place(word)] = 0;
            }
            self.top = counter + 1;
        }
        self.words[place(counter / 64)] |= bit(counter);
        newest
    }
}

fn place(word: u64) -> usize {
    (word % WORDS) as usize
}

fn bit(counter: u64) -> u64 {
    1 << (counter % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    fn seen(window: &mut Window, counter: u64) -> bool {
        let takes = window.takes(counter);
        if takes {
            window.note(counter);
        }
        takes
    }

    #[test]
    fn a_counter_may_be_2047_late_and_no_more() {
        for latest in [2_047, 5_000, 1 << 40] {
            let mut window = Window::new();
            assert!(seen(&mut window, latest));
            assert!(seen(&mut window, latest - 2_047), "{latest}");
            assert!(!seen(&mut window, latest - 2_047), "a second time");
            if latest > SIZE {
                assert!(!seen(&mut window, latest - 2_048), "{latest}");
                assert!(!seen(&mut window, latest - 2_049), "{latest}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_takes_what_a_set_of_all_would(steps in prop::collection::vec(0u64..3_000, 1..400)) {
            let (mut window, mut all, mut latest) = (Window::new(), BTreeSet::new(), 0u64);
            for step in steps {
                // Forward by up to 999, or back by up to 2,000.
                let counter = (latest + step).saturating_sub(2_000);
                let late = latest.saturating_sub(counter) >= SIZE;
                prop_assert_eq!(seen(&mut window, counter), !late && all.insert(counter));
                latest = latest.max(counter);
            }
        }
    }
}
