//! Sizes of transfers: how they are distributed.
//!
//! A draw is rounded up to whole bytes; a transfer has at least 1 B and at most 1 TB.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::choice;
use crate::error::FieldError;
use crate::quantity::Bytes;
use crate::reading;
use crate::registry::NoParams;
use crate::rng::StreamKey;
use crate::rng::draw::{bounded_pareto, exponential, lognormal, uniform};
use crate::spec::limits::require;

mod curve;
mod published;

pub use curve::Curve;
pub use published::Published;

/// Largest transfer in bytes.
pub(super) const LARGEST: u64 = 1_000_000_000_000;
const LARGEST_CV: f64 = 100.0;
const LARGEST_SHAPE: f64 = 100.0;

const TABLES: &[&str] = &["fixed", "exponential", "pareto", "lognormal", "empirical"];

/// A distribution of sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// All are equal.
    Fixed(FixedSize),
    /// Exponential.
    Exponential(MeanSize),
    /// Pareto between two bounds.
    Pareto(Pareto),
    /// Lognormal.
    Lognormal(LognormalSize),
    /// By points.
    Empirical(Curve),
    /// A published one.
    Published(Published),
}

/// All sizes are equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedSize {
    /// The size.
    pub size: Bytes,
}

/// Exponentially distributed sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeanSize {
    /// Mean.
    pub mean: Bytes,
}

/// Pareto-distributed sizes between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// Tail index: the smaller, the heavier the tail.
    pub shape: f64,
    /// Smallest size.
    pub min: Bytes,
    /// Largest size.
    pub max: Bytes,
}

/// Lognormally distributed sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalSize {
    /// Mean.
    pub mean: Bytes,
    /// Coefficient of variation: standard deviation by mean.
    pub cv: f64,
}

impl Sizes {
    /// Reads a size, a published name, or a table with `kind`.
    pub(super) fn read(value: &Value) -> Result<Self, FieldError> {
        if let Value::String(text) = value
            && text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        {
            return reading::read(value).map(|size| Sizes::Fixed(FixedSize { size }));
        }
        let names: Vec<&'static str> = TABLES.iter().chain(Published::NAMES).copied().collect();
        let (name, rest) = choice::split(value, "distribution of sizes", &names)?;
        match name {
            "fixed" => reading::read(&rest).map(Sizes::Fixed),
            "exponential" => reading::read(&rest).map(Sizes::Exponential),
            "pareto" => reading::read(&rest).map(Sizes::Pareto),
            "lognormal" => reading::read(&rest).map(Sizes::Lognormal),
            "empirical" => reading::read(&rest).map(Sizes::Empirical),
            published => {
                reading::read::<NoParams>(&rest)?;
                let published: Result<Published, String> = published.parse();
                published.map(Sizes::Published).map_err(|why| FieldError::new("", why))
            }
        }
    }

    /// Mean in bytes, before sizes are rounded.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(FixedSize { size }) => size.0 as f64,
            Sizes::Exponential(MeanSize { mean }) => mean.0 as f64,
            Sizes::Lognormal(LognormalSize { mean, .. }) => mean.0 as f64,
            Sizes::Pareto(pareto) => pareto.mean(),
            Sizes::Empirical(curve) => curve.mean(),
            Sizes::Published(published) => curve::mean(published.points()),
        }
    }

    /// The n-th size of the draws of this name.
    pub fn draw(&self, key: StreamKey, n: u64) -> u64 {
        let mut random = key.index(n).stream();
        let size = match self {
            Sizes::Fixed(FixedSize { size }) => return size.0,
            Sizes::Exponential(MeanSize { mean }) => mean.0 as f64 * exponential(&mut random),
            Sizes::Pareto(Pareto { shape, min, max }) => {
                bounded_pareto(min.0 as f64, max.0 as f64, *shape, &mut random)
            }
            Sizes::Lognormal(LognormalSize { mean, cv }) => {
                mean.0 as f64 * lognormal(1.0, *cv, &mut random)
            }
            Sizes::Empirical(curve) => curve.quantile(uniform(&mut random)),
            Sizes::Published(published) => {
                curve::quantile(published.points(), uniform(&mut random))
            }
        };
        (size.ceil() as u64).clamp(1, LARGEST)
    }

    /// Mean number of segments of at most `mss` bytes that a transfer takes.
    pub(super) fn mean_segments(&self, mss: u32) -> f64 {
        // Beyond its mean share, a transfer's last segment has less than one: a mean of few draws
        // is exact enough.
        const DRAWS: u64 = 4_096;
        let beyond = |size: u64| size.div_ceil(mss.into()) as f64 - size as f64 / f64::from(mss);
        let sum: f64 = (0..DRAWS).map(|n| beyond(self.draw(StreamKey::root(0), n))).sum();
        self.mean() / f64::from(mss) + sum / DRAWS as f64
    }

    /// Checks the parameters; the field is relative to the sizes.
    pub(super) fn validate(&self) -> Result<(), FieldError> {
        let within = |field: &str, size: Bytes| {
            require((1..=LARGEST).contains(&size.0), field, size, "1 B to 1 TB")
        };
        match self {
            Sizes::Fixed(FixedSize { size }) => within("", *size),
            Sizes::Exponential(MeanSize { mean }) => within("mean", *mean),
            Sizes::Lognormal(LognormalSize { mean, cv }) => {
                within("mean", *mean)?;
                require((0.0..=LARGEST_CV).contains(cv), "cv", cv, "0 to 100")
            }
            Sizes::Pareto(Pareto { shape, min, max }) => {
                within("min", *min)?;
                within("max", *max)?;
                require(min < max, "min", min, &format!("less than max, {max}"))?;
                let fits = *shape > 0.0 && *shape <= LARGEST_SHAPE;
                require(fits, "shape", shape, "above 0, at most 100")
            }
            Sizes::Empirical(curve) => curve.validate(),
            Sizes::Published(_) => Ok(()),
        }
    }
}

impl Pareto {
    fn mean(&self) -> f64 {
        let (least, most, shape) = (self.min.0 as f64, self.max.0 as f64, self.shape);
        let wide = libm::log(most / least);
        // The integral of x^-shape, a logarithm at shape 1.
        let integral = match shape == 1.0 {
            true => wide,
            false => -libm::expm1((1.0 - shape) * wide) / (shape - 1.0),
        };
        shape * least * integral / -libm::expm1(-shape * wide)
    }
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Sizes::Fixed(FixedSize { size }) => size.serialize(serializer),
            Sizes::Exponential(params) => choice::tagged(serializer, "exponential", params),
            Sizes::Pareto(params) => choice::tagged(serializer, "pareto", params),
            Sizes::Lognormal(params) => choice::tagged(serializer, "lognormal", params),
            Sizes::Empirical(curve) => choice::tagged(serializer, "empirical", curve),
            Sizes::Published(published) => published.serialize(serializer),
        }
    }
}

impl JsonSchema for Sizes {
    fn schema_name() -> Cow<'static, str> {
        "sizes".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let plain = json!({ "anyOf": [
            Bytes::json_schema(generator).to_value(),
            choice::names(Published::NAMES),
        ] });
        choice::schema(
            plain,
            vec![
                choice::table::<FixedSize>(generator, "fixed"),
                choice::table::<MeanSize>(generator, "exponential"),
                choice::table::<Pareto>(generator, "pareto"),
                choice::table::<LognormalSize>(generator, "lognormal"),
                choice::table::<Curve>(generator, "empirical"),
            ],
        )
    }
}

#[cfg(test)]
mod tests;
