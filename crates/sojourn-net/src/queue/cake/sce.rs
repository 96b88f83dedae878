//! Cake's SCE marking: the probability of a mark as a function of sojourn time.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::written::as_string;
use crate::error::quoted;
use crate::units::Span;

/// Which description of the SCE ramp to follow where they contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RampText {
    /// The code of July 2019 (chromi/sce at 56915a82).
    Code,
    /// The text of draft-heist-tsvwg-sce-one-and-two-flow-tests-00.
    Draft,
}

/// SCE marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Sce {
    /// None.
    Off,
    /// `sce-thresh N`; 1 is plain `sce`.
    Threshold(u16),
    /// `sce-single`, for a queue shared with flows that do not respond to SCE.
    Single,
}

impl FromStr for Sce {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let threshold = |text: &str| text.strip_prefix("sce-thresh ")?.trim().parse().ok();
        match text {
            "off" => Ok(Sce::Off),
            "sce" => Ok(Sce::Threshold(1)),
            "sce-single" => Ok(Sce::Single),
            _ => match threshold(text) {
                Some(n @ 1..=1024) => Ok(Sce::Threshold(n)),
                _ => Err(format!(
                    "'{}': allowed: \"off\", \"sce\", \"sce-single\", \"sce-thresh N\" with N in 1 \
                     to 1024",
                    quoted(text)
                )),
            },
        }
    }
}

impl fmt::Display for Sce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sce::Off => f.write_str("off"),
            Sce::Threshold(1) => f.write_str("sce"),
            Sce::Threshold(n) => write!(f, "sce-thresh {n}"),
            Sce::Single => f.write_str("sce-single"),
        }
    }
}

as_string!(Sce);

/// Probability 1, as a fraction of 2^32.
const CERTAIN: u64 = u32::MAX as u64;

/// A marking probability that rises linearly in one or two pieces. Slopes are per nanosecond, in
/// fractions of 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ramp {
    start: u64,
    low_slope: u64,
    target: u64,
    high_slope: u64,
    knee: u64,
}

impl Ramp {
    /// The ramp of a queue with this target; `None` when SCE is off.
    pub(super) fn new(sce: Sce, text: RampText, target: Span) -> Option<Self> {
        let target = target.as_nanos();
        match text {
            RampText::Code => Self::of_code(sce, target),
            RampText::Draft => Self::of_draft(sce, target),
        }
    }

    /// The ramp as `cake_set_rate` computes it, in its integers.
    fn of_code(sce: Sce, target: u64) -> Option<Self> {
        let knee = match sce {
            Sce::Off => return None,
            Sce::Single => 0,
            Sce::Threshold(divisor) => CERTAIN / u64::from(divisor),
        };
        let low_slope = knee / (target / 2);
        Some(Ramp {
            start: target / 2,
            low_slope,
            target,
            high_slope: (CERTAIN - knee) / target,
            knee,
        })
    }

    /// One slope, from zero to certainty over half a target, that starts between half a target and
    /// a whole one.
    fn of_draft(sce: Sce, target: u64) -> Option<Self> {
        let half = target / 2;
        let start = match sce {
            Sce::Off => return None,
            Sce::Single => target,
            Sce::Threshold(n) => half + half * u64::from(n - 1) / u64::from(n + 6),
        };
        let slope = CERTAIN / half;
        Some(Ramp { start, low_slope: slope, target: start, high_slope: slope, knee: 0 })
    }

    /// Probability of a mark as a fraction of 2^32; higher values are certain. `over_target` is
    /// COBALT's verdict on the packet.
    #[inline]
    pub(super) fn probability(&self, sojourn: Span, over_target: bool) -> u64 {
        let sojourn = sojourn.as_nanos();
        if over_target {
            sojourn.saturating_sub(self.target) * self.high_slope + self.knee
        } else {
            sojourn.saturating_sub(self.start) * self.low_slope
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Span = Span::from_millis(5);

    /// Probability at `share` targets of sojourn, over target from one target on.
    fn at(ramp: &Ramp, share: f64) -> f64 {
        let p = ramp.probability(TARGET.mul_f64(share), share > 1.0);
        (p as f64 / CERTAIN as f64).min(1.0)
    }

    fn check(sce: Sce, text: RampText, expected: impl Fn(f64) -> f64) {
        let ramp = Ramp::new(sce, text, TARGET).unwrap();
        for step in 0..=60 {
            let share = f64::from(step) / 20.0;
            let (got, expected) = (at(&ramp, share), expected(share).clamp(0.0, 1.0));
            // The code's slopes are whole numbers: its error is below one per nanosecond.
            let tolerance = if text == RampText::Code { 0.003 } else { 0.0015 };
            assert!((got - expected).abs() < tolerance, "{sce:?} at {share}: {got}, {expected}");
        }
    }

    #[test]
    fn code_default_is_certain_at_target() {
        check(Sce::Threshold(1), RampText::Code, |x| 2.0 * (x - 0.5));
    }

    #[test]
    fn code_single_starts_at_target_and_is_certain_at_two() {
        check(Sce::Single, RampText::Code, |x| x - 1.0);
    }

    #[test]
    fn code_threshold_has_its_knee_at_target() {
        check(Sce::Threshold(8), RampText::Code, |x| {
            if x <= 1.0 { (x - 0.5) / 4.0 } else { 0.125 + 0.875 * (x - 1.0) }
        });
    }

    #[test]
    fn draft_ramps_have_one_slope_and_start_later() {
        check(Sce::Threshold(1), RampText::Draft, |x| 2.0 * (x - 0.5));
        check(Sce::Threshold(8), RampText::Draft, |x| 2.0 * (x - 0.75));
        check(Sce::Single, RampText::Draft, |x| 2.0 * (x - 1.0));
    }

    #[test]
    fn at_low_rates_the_lower_piece_runs_on_until_four_packet_times() {
        let ramp = Ramp::new(Sce::Threshold(8), RampText::Code, TARGET).unwrap();
        let twice = TARGET * 2;
        let low = ramp.probability(twice, false) as f64 / CERTAIN as f64;
        assert!((low - 0.375).abs() < 0.003, "{low}");
        assert!(ramp.probability(twice, true) as f64 > 0.99 * CERTAIN as f64);
        assert_eq!(Ramp::new(Sce::Off, RampText::Code, TARGET), None);
    }
}
