//! Poisson: writes at independent, exponentially distributed intervals.
//!
//! `rate` counts payload; the mean interval is `size` / `rate`. With sizes `fixed` and a link of
//! constant rate over UDP, the link's queue is an M/D/1; with `exponential` it is an M/M/1 except
//! for the headers, which are constant (28 B and the link's overhead), for the rounding to whole
//! bytes (at least 1 B) and for the cut at 65000 B. Set the flow's `mss` to the largest write, so
//! that each is one datagram.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::draw::Spread;
use super::{Registered, Workload, Write, check_writes};
use crate::error::FieldError;
use crate::quantity::Bytes;
use crate::rng::Stream;
use crate::rng::draw::exponential;
use crate::units::Rate;

/// Parameters of a Poisson source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Mean payload rate.
    pub rate: Rate,
    /// Mean payload of one write.
    pub size: Bytes,
    /// Distribution of sizes.
    pub sizes: Spread,
}

impl Default for Params {
    fn default() -> Self {
        Params { rate: Rate::from_bps(1_000_000), size: Bytes(1000), sizes: Spread::Fixed }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        check_writes(self.rate, self.size)
    }
}

/// Writes at exponentially distributed intervals.
#[derive(Debug)]
pub struct Poisson {
    params: Params,
}

impl Registered for Poisson {
    type Params = Params;

    fn new(params: Params) -> Self {
        Poisson { params }
    }
}

impl Workload for Poisson {
    fn next(&mut self, rng: &mut Stream) -> Option<Write> {
        let Params { rate, size, sizes } = self.params;
        let after = rate.span_of(size.0).mul_f64(exponential(rng));
        Some(Write { after, bytes: sizes.size(size, rng) })
    }
}

#[cfg(test)]
mod tests {
    use crate::traffic::Action;
    use crate::traffic::testing::{actions, written};
    use crate::units::Span;

    const KIND: &str =
        "{ kind = 'poisson', rate = '8 Mbit/s', size = '1000 B', sizes = 'exponential' }";

    #[test]
    fn rate_and_moments_of_size() {
        let seconds = 200;
        let seen = actions(KIND, Span::from_secs(seconds));
        let rate = written(&seen) as f64 / seconds as f64;
        assert!((rate / 1e6 - 1.0).abs() < 0.01, "{rate}");
        let squares = seen.iter().map(|(_, action)| match action {
            Action::Write(bytes) => (*bytes as f64).powi(2),
            _ => 0.0,
        });
        let second_moment = squares.sum::<f64>() / seen.len() as f64;
        assert!((second_moment / 2e6 - 1.0).abs() < 0.02, "{second_moment}");
    }

    #[test]
    fn arrivals_per_interval_have_variance_equal_to_mean() {
        let mut counts = vec![0.0; 20_000];
        for (at, _) in actions(KIND, Span::from_secs(200)) {
            counts[(at.as_millis() / 10) as usize] += 1.0;
        }
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / n;
        assert!((variance / mean - 1.0).abs() < 0.05, "mean {mean}, variance {variance}");
    }
}
