//! Parsing and formatting of quantities.

use std::fmt;
use std::str::FromStr;

use super::{
    BYTE_UNITS, Bytes, Decibels, Limit, PacketLimit, Packets, PerSecond, Percent, RATE_UNITS,
    SPAN_UNITS, Units, number_and_unit,
};
use crate::error::FieldError;
use crate::units::{Rate, Span};

/// Largest quantity: above it a double does not hold all whole numbers.
const LARGEST: f64 = 9e15;
/// Highest frequency; higher ones are typing errors.
const MOST_OFTEN: f64 = 1e9;

pub(super) const SPAN_EXPECTED: &str = "a time such as \"15 ms\"";
pub(super) const RATE_EXPECTED: &str = "a rate such as \"32 Mbit/s\"";
pub(super) const PERCENT_EXPECTED: &str = "a share between 0 % and 100 % such as \"0.1 %\"";
pub(super) const DECIBELS_EXPECTED: &str = "a ratio from -20 dB to 100 dB such as \"25 dB\"";
pub(super) const BYTES_EXPECTED: &str = "an amount of data such as \"60 kB\"";
pub(super) const PACKETS_EXPECTED: &str = "a number of packets such as \"40 packets\"";
pub(super) const PER_SECOND_EXPECTED: &str =
    "a frequency above zero, at most 1000000000 /s, such as \"100 /s\"";
pub(super) const LIMIT_EXPECTED: &str =
    "a queue size such as \"40 packets\", \"60 kB\" or \"1 bdp\"";
pub(super) const PACKET_LIMIT_EXPECTED: &str =
    "a number of packets such as \"40 packets\", or \"1 bdp\"";

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
        let (name, factor) = units[0];
        return Err(format!("too large; at most {} {name}; {}", LARGEST / factor, wrong()));
    }
    Ok(value as u64)
}

/// Parses the size of a queue, of which `expected` is the form.
fn parse_limit(text: &str, expected: &str) -> Result<Limit, String> {
    let wrong = || format!("expected {expected}");
    let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
    if number < 0.0 {
        return Err(format!("must not be negative; {}", wrong()));
    }
    match unit {
        "packets" | "packet" => text.parse().map(|Packets(n)| Limit::Packets(n)),
        "bdp" | "BDP" if number <= 1e6 => Ok(Limit::Bdp(number)),
        "bdp" | "BDP" => Err(format!("too large; at most 1000000 bdp; {}", wrong())),
        _ if BYTE_UNITS.iter().any(|(name, _)| *name == unit) => {
            text.parse().map(|Bytes(n)| Limit::Bytes(n))
        }
        _ => Err(wrong()),
    }
}

/// Writes `value` base units in the largest unit that gives a whole number.
fn write_in(f: &mut fmt::Formatter<'_>, value: u64, units: Units) -> fmt::Result {
    let (name, factor) = units
        .iter()
        .find(|(_, factor)| value.is_multiple_of(*factor as u64) && value > 0)
        .unwrap_or(&units[units.len() - 1]);
    write!(f, "{} {name}", value / *factor as u64)
}

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

impl FromStr for PerSecond {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match number_and_unit(text) {
            Some((number, "/s")) if number > 0.0 && number <= MOST_OFTEN => Ok(PerSecond(number)),
            _ => Err(format!("expected {PER_SECOND_EXPECTED}")),
        }
    }
}

impl FromStr for Limit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        parse_limit(text, LIMIT_EXPECTED)
    }
}

impl FromStr for PacketLimit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match parse_limit(text, PACKET_LIMIT_EXPECTED)? {
            Limit::Bytes(_) => Err(format!("expected {PACKET_LIMIT_EXPECTED}")),
            limit => Ok(PacketLimit(limit)),
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

impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} /s", self.0)
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

impl fmt::Display for PacketLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
