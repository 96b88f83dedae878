//! Timers of components: when a component is due, and which events are pending for it.

use crate::units::Time;

/// When a component is due, and its pending events that are still valid.
///
/// Timers mostly move to later times (a retransmission timer with every ACK): the pending event is
/// left to come up early and then checked against the timer's present time, so that the component
/// is not called in vain. Only a move to an earlier time schedules another event. The event left
/// behind is remembered and used again when the earlier one has passed; a paced sender, which
/// alternates between a near pacing timer and a far retransmission timer, thus has two events
/// pending and not one more per packet.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    want: Time,
    next: Time,
    later: Time,
}

impl Default for Alarm {
    fn default() -> Self {
        Alarm { want: Time::NEVER, next: Time::NEVER, later: Time::NEVER }
    }
}

impl Alarm {
    /// An alarm that never needs events, for any wanted time.
    pub fn silent() -> Self {
        Alarm { next: Time::ZERO, ..Alarm::default() }
    }
}

/// Action when an event of a component comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Call the component.
    Now,
    /// Schedule another event; no call yet.
    At(Time),
    /// Do nothing.
    Not,
}

impl Alarm {
    /// Sets the time at which the component is due to `want`; returns the time of the event to
    /// schedule, if one is needed.
    #[inline]
    pub fn arm(&mut self, want: Time) -> Option<Time> {
        self.want = want;
        if want >= self.next {
            return None;
        }
        if self.later == Time::NEVER {
            self.later = self.next;
        }
        self.next = want;
        Some(want)
    }

    /// When the component is due.
    pub fn want(&self) -> Time {
        self.want
    }

    /// An event of the component has come up at `now`.
    #[inline]
    pub fn fired(&mut self, now: Time) -> Wake {
        if now != self.next {
            return Wake::Not;
        }
        self.next = self.later;
        self.later = Time::NEVER;
        if self.want <= now {
            return Wake::Now;
        }
        self.arm(self.want).map_or(Wake::Not, Wake::At)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_nanos(ns)
    }

    #[test]
    fn later_wishes_schedule_nothing() {
        let mut alarm = Alarm::default();
        assert_eq!(alarm.arm(at(10)), Some(at(10)));
        assert_eq!(alarm.arm(at(20)), None);
        assert_eq!(alarm.fired(at(10)), Wake::At(at(20)));
        assert_eq!(alarm.fired(at(20)), Wake::Now);
    }

    #[test]
    fn the_event_left_behind_serves_again() {
        let mut alarm = Alarm::default();
        assert_eq!(alarm.arm(at(200)), Some(at(200)));
        for pacing in 1..=50 {
            assert_eq!(alarm.arm(at(pacing)), Some(at(pacing)));
            assert_eq!(alarm.fired(at(pacing)), Wake::Now);
            assert_eq!(alarm.arm(at(200 + pacing)), None);
        }
        assert_eq!(alarm.fired(at(200)), Wake::At(at(250)));
    }

    #[test]
    fn forgotten_events_are_not_heeded() {
        let mut alarm = Alarm::default();
        for want in [30, 20, 10] {
            assert_eq!(alarm.arm(at(want)), Some(at(want)));
        }
        assert_eq!(alarm.fired(at(10)), Wake::Now);
        assert_eq!(alarm.arm(Time::NEVER), None);
        assert_eq!(alarm.fired(at(20)), Wake::Not);
        assert_eq!(alarm.fired(at(30)), Wake::Not);
    }
}
