//! Receive offload: `false`, `true`, or how long arrivals are collected.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::error::quoted;
use crate::units::Span;

/// Default time in which segments are collected and merged: a common interrupt-moderation time.
const USUAL: Span = Span::from_micros(50);
/// Upper bound; longer times are typing errors.
const LONGEST: Span = Span::from_millis(10);

/// Whether a receiver merges segments, and for how long it collects them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gro(pub Option<Span>);

const EXPECTED: &str = "expected true, false, or a time up to 10 ms such as \"250 us\"";

impl<'de> Deserialize<'de> for Gro {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Bool(merges) => Ok(Gro(merges.then_some(USUAL))),
            Value::String(text) => match text.parse::<Span>() {
                Ok(span) if span > Span::ZERO && span <= LONGEST => Ok(Gro(Some(span))),
                _ => Err(D::Error::custom(format!("'{}': {EXPECTED}", quoted(&text)))),
            },
            other => {
                let given = other.to_string();
                Err(D::Error::custom(format!("{} given; {EXPECTED}", quoted(&given))))
            }
        }
    }
}

impl Serialize for Gro {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(span) if span != USUAL => serializer.collect_str(&span),
            merges => serializer.serialize_bool(merges.is_some()),
        }
    }
}

impl JsonSchema for Gro {
    fn schema_name() -> Cow<'static, str> {
        "gro".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["boolean", "string"] })
    }
}
