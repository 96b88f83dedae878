//! Quantities in scenario files: deserialised from text, serialised to it, and their JSON schema.

use std::fmt;
use std::str::FromStr;

use ::serde::de::Visitor;

use super::text::{
    BYTES_EXPECTED, DECIBELS_EXPECTED, LIMIT_EXPECTED, PACKET_LIMIT_EXPECTED, PACKETS_EXPECTED,
    PER_SECOND_EXPECTED, PERCENT_EXPECTED, RATE_EXPECTED, SPAN_EXPECTED,
};
use super::{Bytes, Decibels, Limit, PacketLimit, Packets, PerSecond, Percent};
use crate::error::quoted;
use crate::units::{Rate, Span};

/// Reads a quantity from a string; refuses bare numbers with a message that shows the form.
pub(crate) struct QuantityVisitor<T>(pub &'static str, pub std::marker::PhantomData<T>);

impl<T: FromStr<Err = String>> Visitor<'_> for QuantityVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: ::serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(|why: String| E::custom(format!("'{}': {why}", quoted(text))))
    }
}

/// Implements reading, writing and the schema of a type that is written as text, from the expected
/// form, its name in the catalogue, and a regular expression for the JSON schema.
macro_rules! quantity {
    ($type:ty, $expected:expr, $name:literal, $pattern:literal) => {
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::quantity::QuantityVisitor::<$type>(
                    $expected,
                    std::marker::PhantomData,
                ))
            }
        }

        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "format": $name,
                    "pattern": $pattern,
                    "description": $expected,
                })
            }
        }
    };
}
pub(crate) use quantity;

quantity!(Span, SPAN_EXPECTED, "time", r"^\s*[0-9.eE+_-]+\s*(min|s|ms|us|µs|ns)\s*$");
quantity!(Rate, RATE_EXPECTED, "rate", r"^\s*[0-9.eE+_-]+\s*(Gbit/s|Mbit/s|kbit/s|bit/s)\s*$");
quantity!(Percent, PERCENT_EXPECTED, "share", r"^\s*[0-9.eE+_-]+\s*%\s*$");
quantity!(Decibels, DECIBELS_EXPECTED, "ratio", r"^\s*[0-9.eE+_-]+\s*dB\s*$");
quantity!(Bytes, BYTES_EXPECTED, "size", r"^\s*[0-9.eE+_-]+\s*(GB|MB|kB|B)\s*$");
quantity!(Packets, PACKETS_EXPECTED, "packets", r"^\s*[0-9.eE+_-]+\s*packets?\s*$");
quantity!(PerSecond, PER_SECOND_EXPECTED, "frequency", r"^\s*[0-9.eE+_-]+\s*/s\s*$");
quantity!(
    Limit,
    LIMIT_EXPECTED,
    "queue size",
    r"^\s*[0-9.eE+_-]+\s*(packets?|GB|MB|kB|B|bdp|BDP)\s*$"
);
quantity!(
    PacketLimit,
    PACKET_LIMIT_EXPECTED,
    "packets or bdp",
    r"^\s*[0-9.eE+_-]+\s*(packets?|bdp|BDP)\s*$"
);
