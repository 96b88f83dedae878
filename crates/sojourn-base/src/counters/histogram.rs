//! A log-linear histogram of spans: small, exact to about 1 %, cheap to add to.
//!
//! Each power of two of nanoseconds is cut into 64 equal buckets (as HdrHistogram does), so the
//! relative width of a bucket is at most 1/64; percentiles interpolate inside a bucket.

use crate::units::Span;

const SUB_BITS: u32 = 6;
const SUB_BUCKETS: u64 = 1 << SUB_BITS;
const NOTED: usize = 8;

/// Counts spans by size.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Counts of the buckets from `first` on, in whole octaves, as far as they have been needed.
    counts: Vec<u32>,
    first: usize,
    total: u64,
    /// The latest buckets, not counted yet. With many flows a flow's counts are never in the
    /// nearest cache; fetching several buckets at once takes hardly longer than one.
    noted: [u16; NOTED],
}

#[inline]
fn bucket(ns: u64) -> usize {
    if ns < SUB_BUCKETS {
        return ns as usize;
    }
    let octave = ns.ilog2() - SUB_BITS;
    (u64::from(octave) * SUB_BUCKETS + (ns >> octave)) as usize
}

/// Lower bound of a bucket and its width, in nanoseconds.
fn bounds(bucket: usize) -> (u64, u64) {
    let bucket = bucket as u64;
    if bucket < 2 * SUB_BUCKETS {
        return (bucket, 1);
    }
    let octave = bucket / SUB_BUCKETS - 1;
    ((bucket - octave * SUB_BUCKETS) << octave, 1 << octave)
}

impl Histogram {
    /// Counts one span.
    #[inline]
    pub fn add(&mut self, span: Span) {
        self.noted[self.total as usize % NOTED] = bucket(span.as_nanos()) as u16;
        self.total += 1;
        if self.total.is_multiple_of(NOTED as u64) {
            self.count(NOTED);
        }
    }

    /// Counts the first `entries` of `noted`.
    #[inline(never)]
    fn count(&mut self, entries: usize) {
        for entry in 0..entries {
            let bucket = usize::from(self.noted[entry]);
            match self.counts.get_mut(bucket.wrapping_sub(self.first)) {
                Some(count) => *count += 1,
                None => self.add_beyond(bucket),
            }
        }
    }

    /// Counts one span in a bucket outside the present range.
    #[cold]
    fn add_beyond(&mut self, bucket: usize) {
        let octave = bucket - bucket % SUB_BUCKETS as usize;
        if self.counts.is_empty() {
            self.first = octave;
        }
        if octave < self.first {
            self.counts.splice(..0, std::iter::repeat_n(0, self.first - octave));
            self.first = octave;
        }
        let end = octave + SUB_BUCKETS as usize - self.first;
        self.counts.resize(end.max(self.counts.len()), 0);
        self.counts[bucket - self.first] += 1;
    }

    /// Removes all counts (at the end of the warm-up).
    pub fn clear(&mut self) {
        self.counts.clear();
        self.total = 0;
    }

    /// Number of spans counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The span below which a share `p` of the counted ones lie; `None` when there are none.
    pub fn percentile(&self, p: f64) -> Option<Span> {
        let (low, width, share) = self.place(p)?;
        Some(Span::from_nanos(low + (share * width as f64) as u64))
    }

    /// The middle of the bucket of the smallest span that a share `p` of the counted ones do not
    /// exceed: at most 1/128 of that span away from it. `None` when there are none.
    pub fn middle(&self, p: f64) -> Option<Span> {
        let (low, width, _) = self.place(p)?;
        Some(Span::from_nanos(low + width / 2))
    }

    /// The bucket in which a share `p` of the counted spans is reached: its lower bound, its width,
    /// and the share of its spans that it takes.
    fn place(&self, p: f64) -> Option<(u64, u64, f64)> {
        let rank = p * self.total as f64;
        let mut below = 0.0;
        let mut all = self.clone();
        all.count(self.total as usize % NOTED);
        for (index, &count) in (all.first..).zip(&all.counts) {
            let count = f64::from(count);
            if count > 0.0 && below + count >= rank {
                let (low, width) = bounds(index);
                return Some((low, width, (rank - below) / count));
            }
            below += count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_line() {
        let mut expected = 0;
        for index in 0..2000 {
            let (low, width) = bounds(index);
            assert_eq!(low, expected, "bucket {index}");
            assert_eq!(bucket(low), index);
            assert_eq!(bucket(low + width - 1), index);
            expected = low + width;
        }
    }

    #[test]
    fn order_of_adding_does_not_matter() {
        let spans = [5_000_000, 40, 70_000_000, 5_100_000, 0, 900].map(Span::from_nanos);
        let percentiles = |spans: &mut dyn Iterator<Item = Span>| {
            let mut histogram = Histogram::default();
            spans.for_each(|span| histogram.add(span));
            [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|p| histogram.percentile(p).unwrap())
        };
        let forward = percentiles(&mut spans.into_iter());
        assert_eq!(forward, percentiles(&mut spans.into_iter().rev()));
        assert!(forward.is_sorted() && forward[5] >= spans[2]);
    }

    #[test]
    fn percentiles_are_within_two_percent() {
        let mut histogram = Histogram::default();
        (1..=10_000u64).for_each(|us| histogram.add(Span::from_micros(us)));
        for p in [0.5, 0.95, 0.99] {
            let got = histogram.percentile(p).unwrap().as_nanos() as f64;
            assert!((got / (p * 1e7) - 1.0).abs() < 0.02, "{p}: {got}");
        }
    }
}
