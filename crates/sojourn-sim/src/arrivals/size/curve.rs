//! A distribution of sizes by points of its cumulative distribution, linear between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LARGEST;
use crate::error::FieldError;
use crate::spec::limits::require;

const MOST_POINTS: usize = 100_000;

/// Points of a cumulative distribution: sizes in bytes, and per cent of the transfers that are at
/// most so large. It is linear between points, and begins at 0 B: 0 %, unless its first point is at
/// 0 %.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Pairs of a size in bytes and the per cent up to it; both do not fall, and the last one is at
    /// 100 %.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// Checks the points; the field is relative to the distribution.
    pub(super) fn validate(&self) -> Result<(), FieldError> {
        let count = self.points.len();
        let fits = (1..=MOST_POINTS).contains(&count);
        require(fits, "points", format!("{count} points"), "1 to 100000 points")?;
        let wrong = |message: String| Err(FieldError::new("points", message));
        let mut before = (0.0, 0.0);
        for (index, (bytes, cumulative)) in self.points.iter().copied().enumerate() {
            if !(0.0..=LARGEST as f64).contains(&bytes) {
                return wrong(format!("entry {index}: {bytes} B given; allowed: 0 B to 1 TB"));
            }
            if bytes < before.0 {
                let from = before.0;
                return wrong(format!("entry {index}: size falls from {from} B to {bytes} B"));
            }
            if cumulative < before.1 {
                let from = before.1;
                return wrong(format!(
                    "entry {index}: cumulative falls from {from} to {cumulative}"
                ));
            }
            before = (bytes, cumulative);
        }
        if before.1 != 100.0 {
            return wrong(format!("the last cumulative is {}; allowed: 100 (per cent)", before.1));
        }
        if before.0 <= 0.0 {
            return wrong("no size above 0 B given".to_owned());
        }
        Ok(())
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        mean(&self.points)
    }

    /// The size that a share of the transfers, in [0, 1), does not exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        quantile(&self.points, share)
    }
}

/// Mean of the distribution with these points.
pub(super) fn mean(points: &[(f64, f64)]) -> f64 {
    let before = std::iter::once(&(0.0, 0.0)).chain(points);
    let piece = |((from, before), (to, after)): (&(f64, f64), &(f64, f64))| {
        (after - before) * (from + to) / 200.0
    };
    before.zip(points).map(piece).sum()
}

/// The value that a share, in [0, 1), does not exceed.
pub(super) fn quantile(points: &[(f64, f64)], share: f64) -> f64 {
    let cumulative = share * 100.0;
    let next = points.partition_point(|point| point.1 <= cumulative);
    let next = next.min(points.len() - 1);
    let (to, after) = points[next];
    let (from, before) = if next == 0 { (0.0, 0.0) } else { points[next - 1] };
    if after > before { from + (to - from) * (cumulative - before) / (after - before) } else { to }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Curve {
        Curve { points: points.to_vec() }
    }

    #[test]
    fn it_is_linear_between_points_and_begins_at_nothing() {
        let curve = curve(&[(100.0, 50.0), (300.0, 100.0)]);
        let quantiles = [0.0, 0.25, 0.5, 0.75].map(|share| curve.quantile(share));
        assert_eq!(quantiles, [0.0, 50.0, 100.0, 200.0]);
        assert_eq!(curve.mean(), 0.5 * 50.0 + 0.5 * 200.0);
    }

    #[test]
    fn a_step_is_a_size_of_its_own() {
        let curve = curve(&[(100.0, 0.0), (100.0, 60.0), (200.0, 100.0)]);
        let quantiles = [0.0, 0.3, 0.59, 0.8].map(|share| curve.quantile(share));
        assert_eq!(quantiles, [100.0, 100.0, 100.0, 150.0]);
        assert_eq!(curve.mean(), 0.6 * 100.0 + 0.4 * 150.0);
    }

    #[test]
    fn points_that_are_no_distribution_are_refused() {
        let refused = |points: &[(f64, f64)]| curve(points).validate().unwrap_err().to_string();
        assert_eq!(refused(&[]), "points: 0 points given; allowed: 1 to 100000 points");
        assert_eq!(
            refused(&[(1.0, 50.0), (2.0, 40.0), (3.0, 100.0)]),
            "points: entry 1: cumulative falls from 50 to 40"
        );
        assert_eq!(
            refused(&[(5.0, 50.0), (2.0, 100.0)]),
            "points: entry 1: size falls from 5 B to 2 B"
        );
        assert_eq!(
            refused(&[(5.0, 97.0)]),
            "points: the last cumulative is 97; allowed: 100 (per cent)"
        );
        assert!(refused(&[(0.0, 100.0)]).contains("no size above 0 B"));
        assert!(refused(&[(1e13, 100.0)]).contains("allowed: 0 B to 1 TB"));
    }
}
