//! Outages: times at which a link carries no packets.
//!
//! With `effect = "loss"` (default) packets that leave the link during an outage are lost, as on a
//! radio out of range; with `"pause"` the transmitter stops and the queue grows, as on a radio that
//! retransmits at a lower layer. An outage with `two_way` holds for the other direction too.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schedule::SHORTEST;
use crate::error::FieldError;
use crate::units::{Span, Time};

/// One outage, or a periodic one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// When it begins.
    pub start: Span,
    /// How long it lasts.
    pub duration: Span,
    /// Repeats with this period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
    /// Effect on packets.
    #[serde(default)]
    pub effect: OutageEffect,
    /// Whether the other direction fails at the same times.
    #[serde(default)]
    pub two_way: bool,
}

/// Effect of an outage on packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutageEffect {
    /// Packets that leave the link are lost.
    #[default]
    Loss,
    /// The transmitter stops.
    Pause,
}

impl OutageSpec {
    /// Checks the times.
    ///
    /// # Errors
    /// Names the key, relative to the outage.
    pub fn validate(&self) -> Result<(), FieldError> {
        match self.every {
            Some(every) if every < SHORTEST * 2 => {
                let message = format!("{every} given; allowed: at least {}", SHORTEST * 2);
                Err(FieldError::new("every", message))
            }
            Some(every) if every <= self.duration => {
                let message =
                    format!("{every} given; allowed: above the duration, {}", self.duration);
                Err(FieldError::new("every", message))
            }
            _ => Ok(()),
        }
    }

    /// End of the outage that holds at `now`; `None` if the link is up.
    fn ends(&self, now: Time) -> Option<Time> {
        let begin = Time::ZERO + self.start;
        if now < begin {
            return None;
        }
        let since = now.since(begin).as_nanos();
        let phase = self.every.map_or(since, |every| since % every.as_nanos());
        (phase < self.duration.as_nanos()).then(|| now + (self.duration - Span::from_nanos(phase)))
    }

    /// Start of the next outage after `now`, at which the link is up.
    fn begins(&self, now: Time) -> Time {
        let begin = Time::ZERO + self.start;
        if now < begin {
            return begin;
        }
        let Some(every) = self.every else { return Time::NEVER };
        let phase = now.since(begin).as_nanos() % every.as_nanos();
        now + (every - Span::from_nanos(phase))
    }
}

/// All outages of a link that have one effect.
#[derive(Clone, Debug, Default)]
pub struct Outages(Vec<OutageSpec>);

impl Outages {
    /// The outages of `all` with this effect; `None` if there are none.
    pub fn with(all: &[OutageSpec], effect: OutageEffect) -> Option<Self> {
        let mut outages: Vec<_> = all.iter().filter(|o| o.effect == effect).copied().collect();
        outages.retain(|o| o.duration > Span::ZERO);
        (!outages.is_empty()).then_some(Outages(outages))
    }

    /// Whether the link is down.
    pub fn down(&self, now: Time) -> bool {
        self.0.iter().any(|outage| outage.ends(now).is_some())
    }

    /// The first time from `now` on at which the link may be up: the latest end of the outages that
    /// hold; others may follow at once.
    pub fn end(&self, now: Time) -> Option<Time> {
        self.0.iter().filter_map(|outage| outage.ends(now)).max()
    }

    /// Start of the next outage of a link that is up at `now`.
    pub fn next(&self, now: Time) -> Time {
        self.0.iter().map(|outage| outage.begins(now)).min().unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(start: u64, duration: u64, every: Option<u64>) -> OutageSpec {
        OutageSpec {
            start: Span::from_millis(start),
            duration: Span::from_millis(duration),
            every: every.map(Span::from_millis),
            effect: OutageEffect::Loss,
            two_way: false,
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn outages_begin_and_end_on_time() {
        let outages =
            Outages::with(&[outage(10, 5, Some(20)), outage(14, 2, None)], OutageEffect::Loss)
                .unwrap();
        let down: Vec<_> = (0..60).filter(|ms| outages.down(at(*ms))).collect();
        assert_eq!(down, [10, 11, 12, 13, 14, 15, 30, 31, 32, 33, 34, 50, 51, 52, 53, 54]);
        assert_eq!(outages.end(at(14)), Some(at(16)));
        assert_eq!((outages.next(at(0)), outages.next(at(16))), (at(10), at(30)));
        assert!(Outages::with(&[outage(0, 1, None)], OutageEffect::Pause).is_none());
    }

    #[test]
    fn periodic_outages_must_leave_a_gap() {
        assert!(outage(0, 5, Some(5)).validate().is_err());
        assert!(outage(0, 5, Some(6)).validate().is_ok());
    }
}
