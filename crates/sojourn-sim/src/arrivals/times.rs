//! Random times: of thinking, reading, and of a server's work.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::choice;
use crate::error::FieldError;
use crate::reading;
use crate::rng::Stream;
use crate::rng::draw::{exponential, lognormal};
use crate::spec::limits::require;
use crate::units::Span;

const NAMES: &[&str] = &["fixed", "exponential", "lognormal"];
const LARGEST_CV: f64 = 100.0;
const LONGEST: Span = Span::from_secs(1_000_000);

/// A random time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Times {
    /// Always the same.
    Fixed(Mean),
    /// Exponentially distributed.
    Exponential(Mean),
    /// Lognormally distributed.
    Lognormal(Spread),
}

/// Parameter of a distribution that has no other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mean {
    /// Mean.
    pub mean: Span,
}

/// Parameters of a distribution whose spread is a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Mean.
    pub mean: Span,
    /// Coefficient of variation: standard deviation by mean.
    pub cv: f64,
}

impl Times {
    /// Exponential, as a time alone is read.
    pub fn exponential(mean: Span) -> Self {
        Times::Exponential(Mean { mean })
    }

    /// Reads a time, or a table with `kind`.
    pub(super) fn read(value: &Value) -> Result<Self, FieldError> {
        if let Value::String(_) = value {
            return reading::read(value).map(Times::exponential);
        }
        let (name, rest) = choice::split(value, "distribution", NAMES)?;
        match name {
            "fixed" => reading::read(&rest).map(Times::Fixed),
            "lognormal" => reading::read(&rest).map(Times::Lognormal),
            _ => reading::read(&rest).map(Times::Exponential),
        }
    }

    /// Its mean.
    pub fn mean(&self) -> Span {
        match self {
            Times::Fixed(Mean { mean }) | Times::Exponential(Mean { mean }) => *mean,
            Times::Lognormal(Spread { mean, .. }) => *mean,
        }
    }

    /// A time.
    pub fn draw(&self, random: &mut Stream) -> Span {
        match self {
            Times::Fixed(Mean { mean }) => *mean,
            Times::Exponential(Mean { mean }) => mean.mul_f64(exponential(random)),
            Times::Lognormal(Spread { mean, cv }) => mean.mul_f64(lognormal(1.0, *cv, random)),
        }
    }

    /// Checks the parameters; the field is relative to the time.
    pub(super) fn validate(&self) -> Result<(), FieldError> {
        require(self.mean() <= LONGEST, "mean", self.mean(), "at most 1000000 s")?;
        let Times::Lognormal(Spread { cv, .. }) = self else { return Ok(()) };
        require((0.0..=LARGEST_CV).contains(cv), "cv", cv, "0 to 100")
    }
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Times::Fixed(mean) => choice::tagged(serializer, "fixed", mean),
            Times::Exponential(Mean { mean }) => mean.serialize(serializer),
            Times::Lognormal(spread) => choice::tagged(serializer, "lognormal", spread),
        }
    }
}

impl JsonSchema for Times {
    fn schema_name() -> Cow<'static, str> {
        "times".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut plain = Span::json_schema(generator).to_value();
        plain["description"] = json!("The mean of exponentially distributed times.");
        let tables = vec![
            choice::table::<Mean>(generator, "fixed"),
            choice::table::<Mean>(generator, "exponential"),
            choice::table::<Spread>(generator, "lognormal"),
        ];
        choice::schema(plain, tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;

    #[test]
    fn times_are_written_as_they_are_read() {
        for value in [
            json!("1 s"),
            json!({ "kind": "fixed", "mean": "2 ms" }),
            json!({ "kind": "lognormal", "mean": "1 s", "cv": 2.0 }),
        ] {
            let read = Times::read(&value).unwrap();
            assert_eq!(serde_json::to_value(read).unwrap(), value);
        }
        let table = Times::read(&json!({ "kind": "exponential", "mean": "1 s" })).unwrap();
        assert_eq!(serde_json::to_value(table).unwrap(), json!("1 s"));
        let refused = |value| Times::read(&value).unwrap_err().to_string();
        assert!(refused(json!("1")).starts_with("'1': a unit is missing"));
        assert_eq!(refused(json!({ "kind": "fixed" })), "mean: is missing");
        let wide = Times::read(&json!({ "kind": "lognormal", "mean": "1 s", "cv": -1 })).unwrap();
        assert_eq!(wide.validate().unwrap_err().to_string(), "cv: -1 given; allowed: 0 to 100");
    }

    #[test]
    fn means_and_spreads_are_those_given() {
        let mean = Span::from_millis(40);
        for (times, cv) in [
            (Times::Fixed(Mean { mean }), 0.0),
            (Times::exponential(mean), 1.0),
            (Times::Lognormal(Spread { mean, cv: 0.5 }), 0.5),
        ] {
            let mut random = StreamKey::root(3).stream();
            let draws = (0..200_000).map(|_| times.draw(&mut random).as_secs_f64());
            let (sum, squares) =
                draws.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
            let (first, second) = (sum / 200_000.0, squares / 200_000.0);
            assert!((first / 0.04 - 1.0).abs() < 0.01, "{times:?}: {first}");
            let spread = (second - first * first).max(0.0).sqrt() / first;
            assert!((spread - cv).abs() < 0.01, "{times:?}: {spread}");
        }
    }
}
