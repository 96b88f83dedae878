//! Incast: groups of senders that begin at once, as the answers to one question do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Due, Process, after};
use crate::error::FieldError;
use crate::rng::StreamKey;
use crate::spec::limits::require;
use crate::units::{Span, Time};

const MOST_SENDERS: u32 = 100_000;

/// Groups of transfers at equal intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Transfers of a group; there are `rate / senders` groups per second.
    pub senders: u32,
    /// Time within which the transfers of a group arrive, uniformly distributed; 0 s: all at once.
    #[serde(default)]
    pub jitter: Span,
}

impl Incast {
    pub(super) fn validate(&self) -> Result<(), FieldError> {
        let fits = (1..=MOST_SENDERS).contains(&self.senders);
        require(fits, "senders", self.senders, "1 to 100000")
    }

    /// Refuses groups that would overlap at this rate of transfers.
    pub(in crate::arrivals) fn check(&self, rate: f64) -> Result<(), FieldError> {
        let between = after(self.senders.into(), rate);
        let allowed = format!("at most {between}, the time between groups");
        require(self.jitter <= between, "jitter", self.jitter, &allowed)
    }
}

pub(super) struct Arrivals {
    spec: Incast,
    start: Time,
    rate: f64,
    group: u32,
    /// Times of the present group that are still to be given, the last one first.
    waiting: Vec<Time>,
    jitter: StreamKey,
}

impl Arrivals {
    pub(super) fn new(start: Time, spec: Incast, rate: f64, key: StreamKey) -> Self {
        let jitter = key.child("jitter");
        let mut arrivals = Arrivals { spec, start, rate, group: 0, waiting: Vec::new(), jitter };
        arrivals.fill();
        arrivals
    }

    fn fill(&mut self) {
        let senders = u64::from(self.spec.senders);
        let before = u64::from(self.group) * senders;
        let at = self.start + after(before as f64, self.rate);
        let late = |n| self.spec.jitter.mul_f64(self.jitter.uniform_at(before + n));
        self.waiting = (0..senders).map(|n| at + late(n)).collect();
        self.waiting.sort_unstable_by(|a, b| b.cmp(a));
    }
}

impl Process for Arrivals {
    fn next(&mut self, _now: Time) -> Option<Due> {
        if self.waiting.is_empty() {
            self.group += 1;
            self.fill();
        }
        let at = self.waiting.pop()?;
        Some(Due { group: self.group, ..Due::at(at) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::times;
    use super::*;
    use crate::arrivals::testing::entry;
    use crate::arrivals::{ArrivalsSpec, Draws};

    fn groups(jitter: &str) -> ArrivalsSpec {
        let process = json!({ "kind": "incast", "senders": 4, "jitter": jitter });
        let mut entry = entry(json!({ "size": "1 kB", "rate": "8 /s", "process": process }));
        entry.flow.stop = Some(Span::from_secs(2));
        entry
    }

    #[test]
    fn groups_arrive_at_once_and_equally_often() {
        let mut process = groups("0 s").process(8.0, Draws::new(1, "a")).unwrap();
        let seen = std::iter::from_fn(|| process.next(Time::ZERO));
        let seen: Vec<_> = seen.map(|due| (due.at.as_secs_f64(), due.group)).collect();
        let expected: Vec<_> = (0..16).map(|n| (f64::from(n / 4) * 0.5, n as u32 / 4)).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_group_is_spread_over_its_jitter_in_order() {
        let seen = times(groups("100 ms").process(8.0, Draws::new(1, "a")).unwrap(), Time::ZERO);
        assert_eq!(seen.len(), 16);
        for (index, time) in seen.iter().enumerate() {
            let late = time - (index / 4) as f64 * 0.5;
            assert!((0.0..0.1).contains(&late), "{late}");
        }
        assert!(seen[3] - seen[0] > 0.01);
    }

    #[test]
    fn groups_do_not_overlap() {
        let incast = Incast { senders: 4, jitter: Span::from_millis(600) };
        let told = incast.check(8.0).unwrap_err().to_string();
        assert_eq!(told, "jitter: 600 ms given; allowed: at most 500 ms, the time between groups");
        assert!(incast.check(4.0).is_ok());
    }
}
