//! What is done to the datagrams between two nodes.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// An attack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Attack {
    /// All are passed on.
    None,
    /// This share is not.
    Drop(f64),
    /// Each is late by this long.
    Delay(Duration),
    /// Every third is overtaken.
    Reorder,
    /// Each comes again: soon, and after many others.
    Replay,
    /// This share is cut.
    Cut(f64),
    /// In this share a bit flips.
    Change(f64),
    /// Beside each comes a stranger's, of every kind, from the neighbour's own address.
    Inject,
    /// Initiations that deserve an answer, as many as one core sends, from many addresses and from the
    /// neighbours' own.
    Flood,
}

/// All of them. A much longer delay is taken for a queue, as where a way becomes longer, until the
/// least RTT is ten seconds old: `delay 50ms` on a way of 0.1 ms leaves a quarter until then.
pub(crate) const ALL: [&str; 8] =
    ["drop 5%", "delay 5ms", "reorder", "replay", "cut 5%", "change 5%", "inject", "flood"];

impl FromStr for Attack {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("'{text}' given; allowed: none, {}", ALL.join(", "));
        let (name, how) = text.split_once(' ').unwrap_or((text, ""));
        let share = || {
            let percent = how.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
            let within = percent.filter(|percent| (0.0..=100.0).contains(percent));
            within.map(|percent| percent / 100.0).ok_or_else(refused)
        };
        let time = || {
            let ms = how.strip_suffix("ms").and_then(|number| number.parse().ok());
            ms.map(Duration::from_millis).ok_or_else(refused)
        };
        match (name, how) {
            ("none", "") => Ok(Attack::None),
            ("drop", _) => share().map(Attack::Drop),
            ("delay", _) => time().map(Attack::Delay),
            ("reorder", "") => Ok(Attack::Reorder),
            ("replay", "") => Ok(Attack::Replay),
            ("cut", _) => share().map(Attack::Cut),
            ("change", _) => share().map(Attack::Change),
            ("inject", "") => Ok(Attack::Inject),
            ("flood", "") => Ok(Attack::Flood),
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for Attack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |share: &f64| format!("{}%", 100.0 * share);
        let text = match self {
            Attack::None => "none".to_owned(),
            Attack::Drop(of) => format!("drop {}", share(of)),
            Attack::Delay(by) => format!("delay {}ms", by.as_millis()),
            Attack::Reorder => "reorder".to_owned(),
            Attack::Replay => "replay".to_owned(),
            Attack::Cut(of) => format!("cut {}", share(of)),
            Attack::Change(of) => format!("change {}", share(of)),
            Attack::Inject => "inject".to_owned(),
            Attack::Flood => "flood".to_owned(),
        };
        f.pad(&text)
    }
}
