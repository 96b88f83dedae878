//! The DiffServ codepoint, and the byte in which a packet carries it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Direction;
use crate::error::quoted;

/// The codepoints that have names (RFC 2474, 2597, 3246, 5865 and 8622).
const NAMES: [(&str, u8); 23] = [
    ("cs0", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("va", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];

const EXPECTED: &str = "expected a DiffServ codepoint: cs0 to cs7, af11 to af43, ef, va or le, or a \
                        number from 0 to 63";

/// A DiffServ codepoint, the upper six bits of IP's traffic class (RFC 2474); 0, the default, is
/// best effort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dscp(u8);

impl Dscp {
    /// Best effort.
    pub const BEST_EFFORT: Dscp = Dscp(0);

    /// The codepoint of a traffic class: what remains without the two bits of the ECN field.
    #[inline]
    pub const fn of_class(class: u8) -> Self {
        Dscp(class >> 2)
    }

    /// Its number, from 0 to 63.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl FromStr for Dscp {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim()));
        let number = || text.trim().parse::<u8>().ok().filter(|number| *number < 64);
        match named.map(|(_, number)| *number).or_else(number) {
            Some(number) => Ok(Dscp(number)),
            None => Err(format!("'{}': {EXPECTED}", quoted(text))),
        }
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => text.parse::<Dscp>().map_err(D::Error::custom),
            other => other.to_string().parse::<Dscp>().map_err(D::Error::custom),
        }
    }
}

impl Serialize for Dscp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Dscp {
    fn schema_name() -> Cow<'static, str> {
        "dscp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

/// A packet's direction and codepoint. They share a byte: a packet has no other to spare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way(u8);

const BACKWARD: u8 = 1 << 7;

impl Way {
    /// Of a packet of this direction with this codepoint.
    #[inline]
    pub const fn new(direction: Direction, dscp: Dscp) -> Self {
        match direction {
            Direction::Forward => Way(dscp.0),
            Direction::Backward => Way(dscp.0 | BACKWARD),
        }
    }

    /// Direction within the flow.
    #[inline]
    pub const fn direction(self) -> Direction {
        if self.0 & BACKWARD == 0 { Direction::Forward } else { Direction::Backward }
    }

    /// Codepoint.
    #[inline]
    pub const fn dscp(self) -> Dscp {
        Dscp(self.0 & !BACKWARD)
    }

    /// The same codepoint in this direction.
    #[must_use]
    pub const fn with_direction(self, direction: Direction) -> Self {
        Way::new(direction, self.dscp())
    }

    /// The same direction with this codepoint.
    #[must_use]
    pub const fn with_dscp(self, dscp: Dscp) -> Self {
        Way::new(self.direction(), dscp)
    }
}

impl From<Direction> for Way {
    fn from(direction: Direction) -> Self {
        Way::new(direction, Dscp::BEST_EFFORT)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn codepoints_read_as_people_write_them() {
        for (written, number) in [(json!("EF"), 46), (json!("af41"), 34), (json!(1), 1)] {
            let dscp: Dscp = serde_json::from_value(written).unwrap();
            assert_eq!(dscp.number(), number);
            assert_eq!(dscp.to_string().parse(), Ok(dscp), "canonical text reads back");
        }
        assert_eq!((Dscp(46).to_string(), Dscp(3).to_string()), ("ef".into(), "3".into()));
        for wrong in [json!("af44"), json!(64), json!(-1), json!(true)] {
            let why = serde_json::from_value::<Dscp>(wrong).unwrap_err().to_string();
            assert!(why.contains("0 to 63"), "{why}");
        }
    }

    #[test]
    fn direction_and_codepoint_do_not_disturb_each_other() {
        for number in 0..64 {
            for direction in [Direction::Forward, Direction::Backward] {
                let way = Way::new(direction, Dscp(number));
                assert_eq!((way.direction(), way.dscp().number()), (direction, number));
                assert_eq!(way.with_dscp(Dscp::BEST_EFFORT), Way::from(direction));
            }
        }
    }
}
