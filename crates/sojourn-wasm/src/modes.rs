//! What controls call their modes, as a run goes.

use serde_json::{Value, json};
use sojourn_base::observe::Observed;
use sojourn_base::units::{Span, Time};
use sojourn_sim::Simulation;

/// How often controls are asked: modes that are shorter may be missed.
pub(crate) const EVERY: Span = Span::from_millis(10);
/// The words that are asked for.
const NAMES: [&str; 2] = ["mode", "phase"];

/// A control's mode, and what it calls the phase of it.
type Words = [Option<String>; 2];

/// The modes of all flows' controls, and when each was found changed.
pub(crate) struct Modes {
    known: Vec<Words>,
    changes: Vec<(usize, Time, Words)>,
}

impl Modes {
    /// Of so many flows, none known.
    pub(crate) fn new(flows: usize) -> Self {
        Modes { known: vec![Words::default(); flows], changes: Vec::new() }
    }

    /// When the controls are to be asked next after `now`: whatever steps the run takes, at the same times.
    pub(crate) fn next(now: Time) -> Time {
        Time::from_nanos((now.as_nanos() / EVERY.as_nanos() + 1) * EVERY.as_nanos())
    }

    /// Asks the controls, which changes nothing.
    pub(crate) fn look(&mut self, simulation: &Simulation) {
        for (flow, known) in self.known.iter_mut().enumerate() {
            let mut words = Words::default();
            simulation.observe(flow, &mut |name, value| {
                let place = NAMES.iter().position(|known| *known == name);
                if let (Some(place), Observed::Text(word)) = (place, value) {
                    words[place] = Some(word.to_owned());
                }
            });
            if words != *known {
                self.changes.push((flow, simulation.now(), words.clone()));
                *known = words;
            }
        }
    }

    /// The changes in the order of time.
    pub(crate) fn to_json(&self) -> Value {
        let change = |(flow, time, words): &(usize, Time, Words)| {
            let [mode, phase] = words;
            json!({ "flow": flow, "time": time.as_secs_f64(), "mode": mode, "phase": phase })
        };
        self.changes.iter().map(change).collect()
    }
}
