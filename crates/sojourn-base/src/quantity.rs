//! Quantities as people write them in scenario files: `15 ms`, `2.5 Gbit/s`, `100 kB`,
//! `40 packets`, `1 bdp`, `0.1 %`.
//!
//! A bare number where a unit is due is refused. Serialising writes the largest unit that gives
//! a whole number, so that equal quantities have equal canonical texts.

use std::fmt;
use std::str::FromStr;

use serde::de::Visitor;

use crate::error::FieldError;
use crate::units::{Rate, Span};

/// Units and their factors relative to the base unit, largest first.
type Units = &'static [(&'static str, f64)];

const SPAN_UNITS: Units = &[("min", 60e9), ("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
const RATE_UNITS: Units = &[("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)];
const BYTE_UNITS: Units = &[("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
/// Quantities above this lose whole numbers in a double and have no use in a simulation.
const LARGEST: f64 = 9e15;

/// A share, written in per cent.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Percent(f64);

impl Percent {
    /// From per cent: `Percent::new(0.1)` is one in a thousand.
    pub const fn new(percent: f64) -> Self {
        Percent(percent)
    }

    /// As a fraction of one.
    pub fn fraction(self) -> f64 {
        self.0 / 100.0
    }
}

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Bytes(pub u64);

/// A ratio of powers in decibels.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Decibels(pub f64);

/// A number of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Packets(pub u64);

/// The size of a queue: packets, bytes, or bandwidth-delay products of the link it feeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Waiting packets.
    Packets(u64),
    /// Waiting bytes.
    Bytes(u64),
    /// Bandwidth-delay products: rate x largest base RTT, in full-sized packets, rounded up.
    Bdp(f64),
}

/// Splits `text` into its number and its unit.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let split = text
        .char_indices()
        .find(|(i, c)| {
            let exponent = (*c == 'e' || *c == 'E')
                && *i > 0
                && text[i + 1..].starts_with(|n: char| n.is_ascii_digit() || n == '-' || n == '+');
            !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_') || exponent)
        })
        .map_or(text.len(), |(i, _)| i);
    let number: f64 = text[..split].replace('_', "").parse().ok()?;
    number.is_finite().then(|| (number, text[split..].trim()))
}

/// Any quantity as a number in its base unit, and that unit: `s`, `bit/s`, `B`, `packets`, `bdp`, or
/// nothing for shares and plain numbers. `None` for what is no quantity.
pub fn read(text: &str) -> Option<(f64, &'static str)> {
    let (number, unit) = number_and_unit(text)?;
    let known = |units: Units, base: f64| {
        let found = units.iter().find(|(name, _)| *name == unit);
        found.map(|(_, factor)| number * factor / base)
    };
    if let Some(seconds) = known(SPAN_UNITS, 1e9) {
        return Some((seconds, "s"));
    }
    if let Some(rate) = known(RATE_UNITS, 1.0) {
        return Some((rate, "bit/s"));
    }
    if let Some(bytes) = known(BYTE_UNITS, 1.0) {
        return Some((bytes, "B"));
    }
    match unit {
        "packets" | "packet" => Some((number, "packets")),
        "bdp" => Some((number, "bdp")),
        "%" => Some((number / 100.0, "")),
        "" => Some((number, "")),
        _ => None,
    }
}

/// Parses `text` in one of `units` to a whole number of base units.
fn parse_in(text: &str, units: Units, expected: &str) -> Result<u64, String> {
    let wrong = || format!("expected {expected}");
    let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
    if unit.is_empty() {
        return Err(format!("a unit is missing; {}", wrong()));
    }
    let (_, factor) = units
        .iter()
        .find(|(name, _)| *name == unit || (*name == "us" && unit == "µs"))
        .ok_or_else(|| {
            let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
            let unknown = FieldError::unknown_name("", "unit", unit, &names).message;
            format!("{unknown}; {}", wrong())
        })?;
    let value = (number * factor).round();
    if value < 0.0 {
        return Err(format!("must not be negative; {}", wrong()));
    }
    if value > LARGEST {
        return Err(format!("absurdly large; {}", wrong()));
    }
    Ok(value as u64)
}

/// Writes `value` base units in the largest unit that gives a whole number.
fn write_in(f: &mut fmt::Formatter<'_>, value: u64, units: Units) -> fmt::Result {
    let (name, factor) = units
        .iter()
        .find(|(_, factor)| value.is_multiple_of(*factor as u64) && value > 0)
        .unwrap_or(&units[units.len() - 1]);
    write!(f, "{} {name}", value / *factor as u64)
}

const SPAN_EXPECTED: &str = "a time such as \"15 ms\"";
const RATE_EXPECTED: &str = "a rate such as \"32 Mbit/s\"";
const PERCENT_EXPECTED: &str = "a share between 0 % and 100 % such as \"0.1 %\"";
const DECIBELS_EXPECTED: &str = "a ratio from -20 dB to 100 dB such as \"25 dB\"";
const BYTES_EXPECTED: &str = "an amount of data such as \"60 kB\"";
const PACKETS_EXPECTED: &str = "a number of packets such as \"40 packets\"";
const LIMIT_EXPECTED: &str = "a queue size such as \"40 packets\", \"60 kB\" or \"1 bdp\"";

impl FromStr for Span {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse_in(text, SPAN_UNITS, SPAN_EXPECTED).map(Span::from_nanos)
    }
}

impl FromStr for Rate {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match parse_in(text, RATE_UNITS, RATE_EXPECTED)? {
            0 => Err(format!("must be above zero; expected {RATE_EXPECTED}")),
            bps => Ok(Rate::from_bps(bps)),
        }
    }
}

impl FromStr for Percent {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected {PERCENT_EXPECTED}");
        let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
        if unit != "%" || !(0.0..=100.0).contains(&number) {
            return Err(wrong());
        }
        Ok(Percent(number))
    }
}

impl FromStr for Decibels {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match number_and_unit(text) {
            Some((number, "dB")) if (-20.0..=100.0).contains(&number) => Ok(Decibels(number)),
            _ => Err(format!("expected {DECIBELS_EXPECTED}")),
        }
    }
}

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse_in(text, BYTE_UNITS, BYTES_EXPECTED).map(Bytes)
    }
}

impl FromStr for Packets {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse_in(text, &[("packets", 1.0), ("packet", 1.0)], PACKETS_EXPECTED).map(Packets)
    }
}

impl FromStr for Limit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected {LIMIT_EXPECTED}");
        let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
        if number < 0.0 {
            return Err(format!("must not be negative; {}", wrong()));
        }
        match unit {
            "packets" | "packet" => text.parse().map(|Packets(n)| Limit::Packets(n)),
            "bdp" | "BDP" if number <= 1e6 => Ok(Limit::Bdp(number)),
            "bdp" | "BDP" => Err(format!("absurdly large; {}", wrong())),
            _ if BYTE_UNITS.iter().any(|(name, _)| *name == unit) => {
                text.parse().map(|Bytes(n)| Limit::Bytes(n))
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_nanos() {
            0 => f.write_str("0 s"),
            nanos => write_in(f, nanos, &SPAN_UNITS[1..]),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in(f, self.as_bps(), RATE_UNITS)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in(f, self.0, BYTE_UNITS)
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets", self.0)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Packets(n) => Packets(*n).fmt(f),
            Limit::Bytes(n) => Bytes(*n).fmt(f),
            Limit::Bdp(n) => write!(f, "{n} bdp"),
        }
    }
}

/// Reads a quantity from a string, refusing bare numbers with a message that shows the form.
pub(crate) struct QuantityVisitor<T>(pub &'static str, pub std::marker::PhantomData<T>);

impl<T: FromStr<Err = String>> Visitor<'_> for QuantityVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(|why: String| E::custom(format!("'{text}': {why}")))
    }
}

/// Reads, writes and describes a type by its text: what is expected, its name in the catalogue,
/// and a regular expression for the JSON schema.
macro_rules! quantity {
    ($type:ty, $expected:expr, $name:literal, $pattern:literal) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::quantity::QuantityVisitor::<$type>(
                    $expected,
                    std::marker::PhantomData,
                ))
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
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
quantity!(
    Limit,
    LIMIT_EXPECTED,
    "queue size",
    r"^\s*[0-9.eE+_-]+\s*(packets?|GB|MB|kB|B|bdp|BDP)\s*$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_quantity_reads_in_its_base_unit() {
        assert_eq!(read("15 ms"), Some((0.015, "s")));
        assert_eq!(read("2.5 Gbit/s"), Some((2.5e9, "bit/s")));
        assert_eq!(read("1 packet"), Some((1.0, "packets")));
        assert_eq!(read("0.5 %"), Some((0.005, "")));
        assert_eq!(read("codel"), None);
        assert_eq!(read("3 parsecs"), None);
    }

    #[test]
    fn reads_what_people_write() {
        assert_eq!("15 ms".parse(), Ok(Span::from_millis(15)));
        assert_eq!("0.5ms".parse(), Ok(Span::from_micros(500)));
        assert_eq!("2.5 Gbit/s".parse(), Ok(Rate::from_bps(2_500_000_000)));
        assert_eq!("100 kB".parse(), Ok(Bytes(100_000)));
        assert_eq!("1 packet".parse(), Ok(Packets(1)));
        assert_eq!("1e-3 %".parse(), Ok(Percent(1e-3)));
        assert_eq!("-3.5 dB".parse(), Ok(Decibels(-3.5)));
        assert!("200 dB".parse::<Decibels>().is_err());
        assert_eq!("1 bdp".parse(), Ok(Limit::Bdp(1.0)));
        assert_eq!("0 packets".parse(), Ok(Limit::Packets(0)));
    }

    #[test]
    fn refuses_with_the_remedy() {
        let why = |text: &str| text.parse::<Span>().unwrap_err();
        assert!(why("15").contains("a unit is missing"));
        assert!(why("15 Mbit/s").contains("unknown unit 'Mbit/s'"));
        assert!(why("15 mss").contains("did you mean 'ms'?"));
        assert!("1 mbits/s".parse::<Rate>().unwrap_err().contains("did you mean 'Mbit/s'?"));
        assert!(why("-1 s").contains("negative"));
        assert!("0 Mbit/s".parse::<Rate>().unwrap_err().contains("above zero"));
        assert!("1e30 kB".parse::<Bytes>().unwrap_err().contains("absurdly large"));
        assert!("nan %".parse::<Percent>().is_err());
    }

    #[test]
    fn canonical_text_reads_back() {
        for text in ["15 ms", "1500 us", "90 s", "0 s", "1 ns"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        assert_eq!("1500 kbit/s".parse::<Rate>().unwrap().to_string(), "1500 kbit/s");
        assert_eq!("0.1 %".parse::<Percent>().unwrap().to_string(), "0.1 %");
    }
}
