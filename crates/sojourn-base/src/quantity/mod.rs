//! Quantities with units, as scenario files write them: `15 ms`, `2.5 Gbit/s`, `100 kB`, `40
//! packets`, `1 bdp`, `0.1 %`.
//!
//! A bare number where a unit is required is refused. Serialising writes the largest unit that
//! gives a whole number, so that equal quantities have equal canonical texts.

mod serde;
mod text;

pub(crate) use serde::{QuantityVisitor, quantity};

/// Units and their factors relative to the base unit, largest first.
type Units = &'static [(&'static str, f64)];

const SPAN_UNITS: Units = &[("min", 60e9), ("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
const RATE_UNITS: Units = &[("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)];
const BYTE_UNITS: Units = &[("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];

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

/// A frequency: so many per second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PerSecond(pub f64);

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

/// The size of a queue that counts packets only: packets or bandwidth-delay products.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketLimit(Limit);

impl PacketLimit {
    /// So many packets.
    pub const fn packets(packets: u64) -> Self {
        PacketLimit(Limit::Packets(packets))
    }
}

impl From<PacketLimit> for Limit {
    fn from(PacketLimit(limit): PacketLimit) -> Self {
        limit
    }
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

/// Any quantity as a number in its base unit, and that unit: `s`, `bit/s`, `B`, `packets`, `bdp`,
/// `/s`, or an empty one for shares and plain numbers. `None` if `text` is no quantity.
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
        "/s" => Some((number, "/s")),
        "%" => Some((number / 100.0, "")),
        "" => Some((number, "")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span};

    #[test]
    fn any_quantity_reads_in_its_base_unit() {
        assert_eq!(read("15 ms"), Some((0.015, "s")));
        assert_eq!(read("2.5 Gbit/s"), Some((2.5e9, "bit/s")));
        assert_eq!(read("1 packet"), Some((1.0, "packets")));
        assert_eq!(read("0.5 %"), Some((0.005, "")));
        assert_eq!(read("100 /s"), Some((100.0, "/s")));
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
        assert_eq!("0.5/s".parse(), Ok(PerSecond(0.5)));
        assert!("0 /s".parse::<PerSecond>().is_err());
        assert_eq!("1 bdp".parse(), Ok(Limit::Bdp(1.0)));
        assert_eq!("0 packets".parse(), Ok(Limit::Packets(0)));
        assert_eq!("0.5 BDP".parse::<PacketLimit>().map(Limit::from), Ok(Limit::Bdp(0.5)));
        assert_eq!("40 packets".parse(), Ok(PacketLimit::packets(40)));
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
        assert!("1e30 kB".parse::<Bytes>().unwrap_err().contains("too large; at most 9000000 GB"));
        assert!("nan %".parse::<Percent>().is_err());
        for text in ["60 kB", "40", "1 mss"] {
            let expected = "expected a number of packets such as \"40 packets\", or \"1 bdp\"";
            assert_eq!(text.parse::<PacketLimit>().unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn canonical_text_reads_back() {
        for text in ["15 ms", "1500 us", "90 s", "0 s", "1 ns"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        for text in ["10240 packets", "1.5 bdp"] {
            assert_eq!(text.parse::<PacketLimit>().unwrap().to_string(), text);
        }
        assert_eq!("1500 kbit/s".parse::<Rate>().unwrap().to_string(), "1500 kbit/s");
        assert_eq!("0.1 %".parse::<Percent>().unwrap().to_string(), "0.1 %");
        assert_eq!("100 /s".parse::<PerSecond>().unwrap().to_string(), "100 /s");
    }
}
