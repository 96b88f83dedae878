//! Pacing of a sender: `on`, `off`, or a rate.

use std::fmt;
use std::str::FromStr;

use crate::quantity::quantity;
use crate::units::Rate;

/// Whether a sender spreads its segments in time, whatever its control and its stack are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// It does not.
    Off,
    /// At the rate of its control, else of its stack.
    On,
    /// The same, but never above this rate, in bits of payload per second.
    AtMost(Rate),
}

impl Pacing {
    /// Whether segments are spread.
    pub fn is_on(self) -> bool {
        self != Pacing::Off
    }
}

const EXPECTED: &str = "\"on\", \"off\" or a rate such as \"32 Mbit/s\"";

impl FromStr for Pacing {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("off") {
            return Ok(Pacing::Off);
        }
        if text.trim().eq_ignore_ascii_case("on") {
            return Ok(Pacing::On);
        }
        let rate: Rate = text.parse().map_err(|why: String| format!("{why}, \"on\" or \"off\""))?;
        Ok(Pacing::AtMost(rate))
    }
}

impl fmt::Display for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pacing::Off => f.write_str("off"),
            Pacing::On => f.write_str("on"),
            Pacing::AtMost(rate) => rate.fmt(f),
        }
    }
}

quantity!(
    Pacing,
    EXPECTED,
    "rate, on or off",
    r"^\s*([0-9.eE+_-]+\s*(Gbit/s|Mbit/s|kbit/s|bit/s)|on|off)\s*$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_is_written() {
        for text in ["on", "off", "5 Mbit/s"] {
            assert_eq!(text.parse::<Pacing>().unwrap().to_string(), text);
        }
        assert_eq!("On".parse(), Ok(Pacing::On));
        let why = "fast".parse::<Pacing>().unwrap_err();
        assert!(why.ends_with("a rate such as \"32 Mbit/s\", \"on\" or \"off\""), "{why}");
    }
}
