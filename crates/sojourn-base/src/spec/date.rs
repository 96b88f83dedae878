//! A date in a scenario file: an instant of the world's time, which a kernel's clock tells.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use humantime::{format_rfc3339, parse_rfc3339};

use crate::quantity::quantity;

/// The first instant that is too late: 2200-01-01, in seconds since 1970. A kernel counts ns in 63
/// bits, up to 2262.
const TOO_LATE: u64 = 7_258_118_400;
const EXPECTED: &str = "a date in UTC such as \"2026-03-01\" or \"2026-03-01T12:00:00Z\"";

/// An instant from 1970 up to the year 2199, to the ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date(Duration);

impl Date {
    /// Nanoseconds since the beginning of 1970, UTC.
    pub fn as_nanos(self) -> u64 {
        self.0.as_secs() * 1_000_000_000 + u64::from(self.0.subsec_nanos())
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let whole_day = text.len() == "2026-03-01".len();
        let midnight = if whole_day { "T00:00:00Z" } else { "" };
        let read = parse_rfc3339(&format!("{text}{midnight}")).ok();
        let since = read.and_then(|read| read.duration_since(UNIX_EPOCH).ok());
        let since = since.filter(|since| since.as_secs() < TOO_LATE);
        since.map(Date).ok_or_else(|| format!("expected {EXPECTED}, from 1970 to 2199"))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant: SystemTime = UNIX_EPOCH + self.0;
        format_rfc3339(instant).fmt(f)
    }
}

quantity!(Date, EXPECTED, "date", r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|\+00:00))?$");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_has_one_spelling() {
        let read = |text: &str| text.parse::<Date>().unwrap();
        let day = read("2023-11-14");
        assert_eq!(day.to_string(), "2023-11-14T00:00:00Z");
        assert_eq!(read("2023-11-14T00:00:00+00:00"), day);
        assert_eq!(read("2023-11-14T22:13:20.000000007Z").as_nanos(), 1_700_000_000_000_000_007);
        for text in ["1970-01-01", "2024-02-29T23:59:59.125Z", "2199-12-31"] {
            let date = read(text);
            assert_eq!(read(&date.to_string()), date, "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused_with_the_form() {
        for text in
            ["", "today", "2026-13-01", "2026-02-30", "2026-03-01T12:00", "2200-01-01", "éééééé"]
        {
            let why = text.parse::<Date>().unwrap_err();
            assert!(why.starts_with("expected a date in UTC such as \"2026-03-01\""), "{text}");
        }
    }
}
