//! A windowed maximum in constant space: Kathleen Nichols' algorithm, Linux `lib/win_minmax.c`.
//!
//! It keeps the best sample and two runners-up from later parts of the window, so that a good
//! approximation of the maximum is available when the best one expires. A windowed minimum is a
//! maximum of [`std::cmp::Reverse`] values.

/// The windowed maximum of values of type `V`. Time is any counter that never goes back
/// (nanoseconds, rounds), in the unit of the window.
#[derive(Clone, Copy, Debug)]
pub struct MaxFilter<V> {
    best: [(u64, V); 3],
}

impl<V: Copy + Ord> MaxFilter<V> {
    /// A filter whose only sample is `value` at `time`.
    pub fn new(time: u64, value: V) -> Self {
        MaxFilter { best: [(time, value); 3] }
    }

    /// The maximum over the window, as of the last update.
    #[inline]
    pub fn get(&self) -> V {
        self.best[0].1
    }

    /// Adds the sample `value` at `time` and drops samples older than `window`; returns the
    /// maximum.
    #[inline]
    pub fn update(&mut self, window: u64, time: u64, value: V) -> V {
        let sample = (time, value);
        if value >= self.best[0].1 || time - self.best[2].0 > window {
            self.best = [sample; 3];
            return value;
        }
        if value >= self.best[1].1 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if value >= self.best[2].1 {
            self.best[2] = sample;
        }
        self.expire(window, sample);
        self.get()
    }

    /// Moves the runners-up forward as the window passes over them.
    fn expire(&mut self, window: u64, sample: (u64, V)) {
        let age = sample.0 - self.best[0].0;
        if age > window {
            self.best = [self.best[1], self.best[2], sample];
            if sample.0 - self.best[0].0 > window {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && age > window / 4 {
            // A quarter of the window went by without a better second: take this one.
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].0 == self.best[1].0 && age > window / 2 {
            self.best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

    #[test]
    fn never_older_than_the_window_nor_below_the_newest() {
        let window = 10;
        let values: Vec<u64> = (0..500).map(|i| (i * 7919) % 101).collect();
        let mut filter = MaxFilter::new(0, 0);
        for (time, &value) in values.iter().enumerate() {
            let max = filter.update(window, time as u64, value);
            let from = time.saturating_sub(window as usize);
            let true_max = *values[from..=time].iter().max().unwrap();
            assert!(max >= value && max <= true_max, "at {time}: {max} of {true_max}");
        }
    }

    #[test]
    fn remembers_a_peak_for_exactly_its_window() {
        let mut filter = MaxFilter::new(0, 9);
        for time in 1..=10 {
            assert_eq!(filter.update(10, time, 1), 9, "at {time}");
        }
        assert_eq!(filter.update(10, 11, 1), 1);
    }

    #[test]
    fn reversed_values_make_a_minimum() {
        let mut filter = MaxFilter::new(0, Reverse(5));
        filter.update(10, 1, Reverse(7));
        filter.update(10, 2, Reverse(3));
        assert_eq!(filter.get().0, 3);
    }
}
