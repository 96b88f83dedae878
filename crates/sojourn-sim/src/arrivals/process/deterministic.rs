//! Deterministic: arrivals at equal intervals.

use super::{Due, Process, after};
use crate::units::Time;

pub(super) struct Arrivals {
    start: Time,
    rate: f64,
    given: u64,
}

impl Arrivals {
    pub(super) fn new(start: Time, rate: f64) -> Self {
        Arrivals { start, rate, given: 0 }
    }
}

impl Process for Arrivals {
    fn next(&mut self, _now: Time) -> Option<Due> {
        // From the start each time, so that rounding does not add up.
        let at = self.start + after(self.given as f64, self.rate);
        self.given += 1;
        Some(Due::at(at))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::times;
    use super::*;
    use crate::arrivals::Draws;
    use crate::arrivals::testing::entry;
    use crate::units::Span;

    #[test]
    fn instants_are_exact_and_stop_is_not_one_of_them() {
        let mut entry =
            entry(json!({ "size": "1 kB", "process": "deterministic", "rate": "3 /s" }));
        entry.flow.start = Span::from_secs(1);
        entry.flow.stop = Some(Span::from_secs(2));
        let process = entry.process(3.0, Draws::new(1, "a")).unwrap();
        assert_eq!(
            times(process, Time::ZERO + Span::from_secs(1)),
            [1.0, 1.333333333, 1.666666667]
        );
    }
}
