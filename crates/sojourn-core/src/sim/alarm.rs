//! When a component wants to be called, against which events are pending for it.

use crate::units::Time;

/// The pending events of one component that still mean something.
///
/// Timers mostly move to later times (a retransmission timer with every ACK): the event already
/// pending is left to fire early, and the component then asks again. Only a wish for an earlier
/// time schedules another event. The event that this leaves behind is remembered, so that it
/// serves again when the earlier one has passed; a paced sender, which alternates between a near
/// pacing timer and a far retransmission timer, thus has two events pending and not one more per
/// packet.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    next: Time,
    later: Time,
}

impl Default for Alarm {
    fn default() -> Self {
        Alarm { next: Time::NEVER, later: Time::NEVER }
    }
}

impl Alarm {
    /// The component wants to be called at `want`: the time of the event to schedule, if one is
    /// needed.
    #[inline]
    pub fn arm(&mut self, want: Time) -> Option<Time> {
        if want >= self.next {
            return None;
        }
        if self.later == Time::NEVER {
            self.later = self.next;
        }
        self.next = want;
        Some(want)
    }

    /// An event of the component has come up at `now`: whether it is the one to be heeded.
    #[inline]
    pub fn fired(&mut self, now: Time) -> bool {
        if now != self.next {
            return false;
        }
        self.next = self.later;
        self.later = Time::NEVER;
        true
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
        assert!(alarm.fired(at(10)));
        assert_eq!(alarm.arm(at(20)), Some(at(20)));
    }

    #[test]
    fn the_event_left_behind_serves_again() {
        let mut alarm = Alarm::default();
        assert_eq!(alarm.arm(at(200)), Some(at(200)));
        for pacing in 1..=50 {
            assert_eq!(alarm.arm(at(pacing)), Some(at(pacing)));
            assert!(alarm.fired(at(pacing)));
            assert_eq!(alarm.arm(at(200 + pacing)), None);
        }
        assert!(alarm.fired(at(200)));
    }

    #[test]
    fn forgotten_events_are_not_heeded() {
        let mut alarm = Alarm::default();
        for want in [30, 20, 10] {
            assert_eq!(alarm.arm(at(want)), Some(at(want)));
        }
        assert!(alarm.fired(at(10)));
        assert!(!alarm.fired(at(20)));
        assert!(alarm.fired(at(30)));
    }
}
