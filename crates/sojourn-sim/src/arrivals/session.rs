//! Sessions: sequences of transfers.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::{Times, choice};
use crate::error::{FieldError, quoted};
use crate::reading;
use crate::rng::Stream;
use crate::rng::draw::exponential;
use crate::spec::limits::require;

const MOST: u32 = 1_000_000;

/// A sequence of transfers, each of which arrives a reading time after the last one ended; all have
/// the variant of the first one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionSpec {
    /// Number of transfers: the same in every session, or a table of the kind `geometric`.
    pub transfers: TransfersSpec,
    /// Time from the end of a transfer to the arrival of the next one of the session.
    pub reading: Times,
}

/// Number of transfers of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TransfersSpec {
    /// As many in every session.
    Fixed(u32),
    /// Geometrically distributed: at least one.
    Geometric(Geometric),
}

/// A geometric distribution from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Geometric {
    /// Mean, at least 1.
    pub mean: f64,
}

impl SessionSpec {
    /// Reads a table.
    pub(super) fn read(value: &Value) -> Result<Self, FieldError> {
        let Value::Object(table) = value else {
            let expected = "expected a table such as { transfers = 5, reading = \"1 s\" }";
            let given = value.to_string();
            return Err(FieldError::new("", format!("{} given; {expected}", quoted(&given))));
        };
        let mut table = table.clone();
        let transfers = choice::taken(&mut table, "transfers", TransfersSpec::read)?;
        let reading = choice::taken(&mut table, "reading", Times::read)?;
        if let Some(key) = table.keys().next() {
            let known = ["transfers", "reading"];
            return Err(FieldError::unknown_name(key, "key", key, &known));
        }
        let missing = |key| FieldError::new(key, "is missing");
        Ok(SessionSpec {
            transfers: transfers.ok_or_else(|| missing("transfers"))?,
            reading: reading.ok_or_else(|| missing("reading"))?,
        })
    }

    /// Checks the parameters; the field is relative to the session.
    pub(super) fn validate(&self) -> Result<(), FieldError> {
        match &self.transfers {
            TransfersSpec::Fixed(number) => {
                let fits = (1..=MOST).contains(number);
                require(fits, "transfers", number, "1 to 1000000")?;
            }
            TransfersSpec::Geometric(Geometric { mean }) => {
                let fits = (1.0..=f64::from(MOST)).contains(mean);
                require(fits, "transfers.mean", mean, "1 to 1000000")?;
            }
        }
        self.reading.validate().map_err(|error| error.within("reading"))
    }
}

impl TransfersSpec {
    fn read(value: &Value) -> Result<Self, FieldError> {
        if value.is_number() {
            return reading::read(value).map(TransfersSpec::Fixed);
        }
        let (_, rest) = choice::split(value, "distribution", &["geometric"])?;
        reading::read(&rest).map(TransfersSpec::Geometric)
    }

    /// Mean number.
    pub fn mean(&self) -> f64 {
        match self {
            TransfersSpec::Fixed(number) => f64::from(*number),
            TransfersSpec::Geometric(Geometric { mean }) => *mean,
        }
    }

    /// A number, at least 1.
    pub fn draw(&self, random: &mut Stream) -> u64 {
        match self {
            TransfersSpec::Fixed(number) => u64::from(*number),
            TransfersSpec::Geometric(Geometric { mean }) => {
                // Whole parts of an exponential variable are geometric.
                1 + (exponential(random) / -libm::log1p(-1.0 / mean)) as u64
            }
        }
    }
}

impl Serialize for TransfersSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            TransfersSpec::Fixed(number) => number.serialize(serializer),
            TransfersSpec::Geometric(params) => choice::tagged(serializer, "geometric", params),
        }
    }
}

impl JsonSchema for TransfersSpec {
    fn schema_name() -> Cow<'static, str> {
        "number_of_transfers".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let plain = json!({ "type": "integer", "minimum": 1, "maximum": MOST });
        choice::schema(plain, vec![choice::table::<Geometric>(generator, "geometric")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::StreamKey;

    #[test]
    fn sessions_are_written_as_they_are_read() {
        for value in [
            json!({ "transfers": 5, "reading": "1 s" }),
            json!({ "transfers": { "kind": "geometric", "mean": 2.5 }, "reading": "0 s" }),
        ] {
            let read = SessionSpec::read(&value).unwrap();
            assert_eq!(read.validate(), Ok(()));
            assert_eq!(serde_json::to_value(read).unwrap(), value);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let told = |value: Value| match SessionSpec::read(&value) {
            Ok(session) => session.validate().unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(told(json!({ "transfers": 5 })), "reading: is missing");
        assert_eq!(
            told(json!({ "transfers": 0, "reading": "1 s" })),
            "transfers: 0 given; allowed: 1 to 1000000"
        );
        let geometric = json!({ "kind": "geometric", "mean": 0.5 });
        assert_eq!(
            told(json!({ "transfers": geometric, "reading": "1 s" })),
            "transfers.mean: 0.5 given; allowed: 1 to 1000000"
        );
        let more = told(json!({ "transfers": 1, "reading": "1 s", "read": "1 s" }));
        assert!(more.starts_with("read: unknown key 'read'; did you mean 'reading'?"), "{more}");
        assert!(told(json!(5)).starts_with("5 given; expected a table"));
    }

    #[test]
    fn numbers_are_geometric_with_their_mean() {
        let transfers = TransfersSpec::Geometric(Geometric { mean: 4.0 });
        let mut random = StreamKey::root(2).stream();
        let drawn: Vec<u64> = (0..100_000).map(|_| transfers.draw(&mut random)).collect();
        let mean = drawn.iter().sum::<u64>() as f64 / 1e5;
        assert!((mean - 4.0).abs() < 0.05, "{mean}");
        let ones = drawn.iter().filter(|number| **number == 1).count() as f64 / 1e5;
        assert!((ones - 0.25).abs() < 0.005, "{ones}");
        let always = TransfersSpec::Geometric(Geometric { mean: 1.0 });
        assert_eq!(always.draw(&mut random), 1);
    }
}
