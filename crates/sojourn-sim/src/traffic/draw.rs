//! Random times and sizes of traffic models.

use super::LARGEST_WRITE;
use crate::quantity::Bytes;
use crate::registry::named;
use crate::rng::Stream;
use crate::rng::draw::exponential;
use crate::units::Span;

named! {
    /// Distribution of a time or a size about its mean.
    Spread, "distribution" {
        /// Always the mean.
        Fixed = "fixed",
        /// Exponentially distributed.
        Exponential = "exponential",
    }
}

impl Spread {
    /// A time of this mean.
    pub fn span(self, mean: Span, rng: &mut Stream) -> Span {
        match self {
            Spread::Fixed => mean,
            Spread::Exponential => mean.mul_f64(exponential(rng)),
        }
    }

    /// The size of a write of this mean, at least 1 B and at most [`LARGEST_WRITE`].
    pub fn size(self, mean: Bytes, rng: &mut Stream) -> u64 {
        match self {
            Spread::Fixed => mean.0,
            Spread::Exponential => {
                let size = (mean.0 as f64 * exponential(rng)).round() as u64;
                size.clamp(1, LARGEST_WRITE)
            }
        }
    }
}
