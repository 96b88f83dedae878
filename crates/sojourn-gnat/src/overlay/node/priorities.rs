//! Scheduled changes of flows' priorities.

use std::cmp::Reverse;

use sojourn_base::units::Time;

/// Priorities that are to change.
#[derive(Debug, Default)]
pub(super) struct Priorities {
    /// In reverse order of time: time, flow, priority.
    planned: Vec<(Time, u32, f64)>,
}

impl Priorities {
    /// A flow's priority is to change.
    pub(super) fn plan(&mut self, at: Time, flow: u32, priority: f64) {
        self.planned.push((at, flow, priority));
        self.planned.sort_by_key(|(at, ..)| Reverse(*at));
    }

    /// A flow's priority is not to change after all.
    pub(super) fn forget(&mut self, flow: u32) {
        self.planned.retain(|(_, planned, _)| *planned != flow);
    }

    /// The next that changes now: of which flow, to what.
    pub(super) fn due(&mut self, now: Time) -> Option<(u32, f64)> {
        let (_, flow, priority) = self.planned.pop_if(|(at, ..)| *at <= now)?;
        Some((flow, priority))
    }

    /// When the next changes.
    pub(super) fn next(&self) -> Time {
        self.planned.last().map_or(Time::NEVER, |(at, ..)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::units::Span;

    #[test]
    fn priorities_change_in_the_order_of_time() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut priorities = Priorities::default();
        [(30, 0, 3.0), (10, 1, 1.0), (20, 0, 2.0)]
            .into_iter()
            .for_each(|(ms, flow, priority)| priorities.plan(at(ms), flow, priority));
        assert_eq!((priorities.next(), priorities.due(at(9))), (at(10), None));
        assert_eq!([20, 20].map(|ms| priorities.due(at(ms))), [Some((1, 1.0)), Some((0, 2.0))]);
        assert_eq!((priorities.due(at(20)), priorities.next()), (None, at(30)));
    }
}
