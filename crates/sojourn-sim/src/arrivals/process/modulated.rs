//! Modulated: Poisson arrivals at a rate that changes between states.
//!
//! A Markov-modulated Poisson process whose states follow each other in a cycle: each lasts an
//! exponentially distributed time. Factors are scaled so that their mean over time is 1: the
//! entry's rate is the mean rate. It begins in a state drawn by its share of the time, so that the
//! mean rate holds from the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Due, Process};
use crate::error::FieldError;
use crate::rng::draw::{exponential, uniform};
use crate::rng::{Stream, StreamKey};
use crate::spec::limits::require;
use crate::units::{Span, Time};

const MOST_STATES: usize = 100;
const LARGEST_FACTOR: f64 = 1e6;

/// Poisson arrivals at a rate that changes between states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Modulated {
    /// States, which follow each other in a cycle.
    pub states: Vec<State>,
}

/// A state of a modulated process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Rate of arrivals, relative to that of the other states; their mean over time is scaled to
    /// the entry's rate.
    pub factor: f64,
    /// Mean of the exponentially distributed time that it lasts.
    pub time: Span,
}

impl Modulated {
    pub(super) fn validate(&self) -> Result<(), FieldError> {
        let states = self.states.len();
        let fits = (1..=MOST_STATES).contains(&states);
        require(fits, "states", format!("{states} states"), "1 to 100 states")?;
        for (index, State { factor, time }) in self.states.iter().enumerate() {
            let field = |key: &str| format!("states.{index}.{key}");
            let allowed = (0.0..=LARGEST_FACTOR).contains(factor);
            require(allowed, &field("factor"), factor, "0 to 1000000")?;
            let allowed = *time >= Span::from_micros(1);
            require(allowed, &field("time"), time, "at least 1 us")?;
        }
        let any = self.states.iter().any(|state| state.factor > 0.0);
        require(any, "states", "only factors of 0", "a factor above 0")
    }

    /// Share of the time in each state.
    fn shares(&self) -> Vec<f64> {
        let times = self.states.iter().map(|state| state.time.as_secs_f64());
        let cycle: f64 = times.clone().sum();
        times.map(|time| time / cycle).collect()
    }
}

pub(super) struct Arrivals {
    /// Rate and mean duration of each state.
    states: Vec<(f64, Span)>,
    state: usize,
    /// When the state ends; `None` before the first arrival.
    until: Option<Time>,
    random: Stream,
    changes: Stream,
}

impl Arrivals {
    pub(super) fn new(spec: &Modulated, rate: f64, key: StreamKey) -> Self {
        let shares = spec.shares();
        let mean: f64 = spec.states.iter().zip(&shares).map(|(s, share)| s.factor * share).sum();
        let mut changes = key.child("states").stream();
        let mut left = uniform(&mut changes);
        let first = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        let state = |state: &State| (rate * state.factor / mean, state.time);
        Arrivals {
            states: spec.states.iter().map(state).collect(),
            state: first.unwrap_or(shares.len() - 1),
            until: None,
            random: key.stream(),
            changes,
        }
    }

    /// The end of the present state, which begins at `now`.
    fn end(&mut self, now: Time) -> Time {
        let (_, mean) = self.states[self.state];
        // A state of no time would never end a cycle of them.
        now + mean.mul_f64(exponential(&mut self.changes)).max(Span::from_nanos(1))
    }
}

impl Process for Arrivals {
    fn next(&mut self, now: Time) -> Option<Due> {
        let mut at = now;
        // Mean arrivals that are still to pass before this one.
        let mut left = exponential(&mut self.random);
        loop {
            let until = match self.until {
                Some(until) => until,
                None => self.end(at),
            };
            self.until = Some(until);
            let (rate, _) = self.states[self.state];
            let passing = rate * until.since(at).as_secs_f64();
            if left < passing {
                return Some(Due::at(at + Span::from_secs_f64(left / rate)));
            }
            left -= passing;
            at = until.max(at);
            if at == Time::NEVER {
                return None;
            }
            self.state = (self.state + 1) % self.states.len();
            self.until = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{counts, times};
    use super::*;
    use crate::arrivals::Draws;
    use crate::arrivals::testing::entry;

    #[test]
    fn the_mean_rate_is_the_entrys_and_counts_are_dispersed() {
        let states =
            json!([{ "factor": 0.5, "time": "200 ms" }, { "factor": 5.5, "time": "20 ms" }]);
        let process = json!({ "kind": "modulated", "states": states });
        let mut entry = entry(json!({ "size": "1 kB", "rate": "1 /s", "process": process }));
        entry.flow.stop = Some(Span::from_secs(8_000));
        let process = entry.process(50.0, Draws::new(1, "a")).unwrap();
        let times = times(process, Time::ZERO);
        let (mean, dispersion) = counts(&times, 5.0, 1_600);
        assert!((mean / 250.0 - 1.0).abs() < 0.02, "{mean}");
        // Of two states with exponential times of rates a and b, share p in the burst: in the long
        // run, variance / mean = 1 + 2 (difference of rates)^2 p (1 - p) / ((a + b) mean rate).
        let (a, b, p) = (1.0 / 0.2, 1.0 / 0.02, 1.0 / 11.0);
        let scale = 50.0 / (0.5 * (1.0 - p) + 5.5 * p);
        let expected = 1.0 + 2.0 * 25.0 * scale * scale * p * (1.0 - p) / ((a + b) * 50.0);
        assert!((dispersion / expected - 1.0).abs() < 0.15, "{dispersion}, not {expected}");
    }

    #[test]
    fn a_state_without_arrivals_has_none() {
        let states = json!([{ "factor": 0.0, "time": "1 s" }, { "factor": 1.0, "time": "10 ms" }]);
        let process = json!({ "kind": "modulated", "states": states });
        let mut entry = entry(json!({ "size": "1 kB", "rate": "1 /s", "process": process }));
        entry.flow.stop = Some(Span::from_secs(1_000));
        let times = times(entry.process(20.0, Draws::new(1, "a")).unwrap(), Time::ZERO);
        let gaps = times.windows(2).filter(|pair| pair[1] - pair[0] > 0.1).count();
        // Nearly as many pauses as cycles of 1.01 s: some are shorter, or pass a burst without
        // arrival.
        assert!((700..1_000).contains(&gaps), "{gaps}");
        assert!((times.len() as f64 / 20_000.0 - 1.0).abs() < 0.2, "{}", times.len());
    }

    #[test]
    fn states_that_cannot_be_are_refused() {
        let refused = |states: &[(f64, Span)]| {
            let states = states.iter().map(|(factor, time)| State { factor: *factor, time: *time });
            Modulated { states: states.collect() }.validate().unwrap_err().to_string()
        };
        let second = Span::from_secs(1);
        assert_eq!(refused(&[]), "states: 0 states given; allowed: 1 to 100 states");
        assert_eq!(
            refused(&[(1.0, second), (-1.0, second)]),
            "states.1.factor: -1 given; allowed: 0 to 1000000"
        );
        assert!(refused(&[(1.0, Span::ZERO)]).starts_with("states.0.time: 0 s given"));
        assert!(refused(&[(0.0, second)]).starts_with("states: only factors of 0 given"));
    }
}
