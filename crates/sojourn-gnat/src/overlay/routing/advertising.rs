//! Timer of a node's advertisements: every second, and sooner when a link fails or recovers or its
//! delay changes.

use std::sync::Arc;

use super::map::{HOLD_DOWN, INTERVAL};
use crate::overlay::message::{Delay, LinkState};
use sojourn_base::units::{Span, Time};

/// The timer of a node's advertisements.
#[derive(Debug)]
pub(crate) struct Advertising {
    due: Time,
    last: Time,
    /// The number of the last, or the one before the first.
    number: u32,
    /// Whether any has been said.
    said: bool,
    /// Which neighbours worked when links were advertised last, as bits.
    worked: Option<u64>,
}

impl Advertising {
    /// The timer before it begins; the first advertisement has the number after this one. A node that
    /// has run before continues above the numbers that others may remember of it.
    pub(crate) fn after(number: u32) -> Self {
        Advertising { due: Time::NEVER, last: Time::ZERO, number, said: false, worked: None }
    }

    /// Begins.
    pub(crate) fn start(&mut self, now: Time) {
        self.due = now + Span::from_millis(1);
    }

    /// Whether these are the neighbours that were advertised last, as bits.
    pub(crate) fn knows(&self, working: u64) -> bool {
        self.worked == Some(working)
    }

    /// Links are to be advertised anew as soon as that is allowed; at first at once.
    pub(crate) fn hasten(&mut self, now: Time) {
        let soon = (self.last + HOLD_DOWN).max(now);
        let at = if self.said { soon } else { now };
        self.due = self.due.min(at);
    }

    /// Whether links are to be advertised now, these neighbours working.
    pub(crate) fn is_due(&mut self, now: Time, working: u64) -> bool {
        if !self.knows(working) {
            self.hasten(now);
        }
        now >= self.due
    }

    /// When they are to be advertised next.
    pub(crate) fn next(&self) -> Time {
        self.due
    }

    /// These neighbours have been checked; the next check comes after an interval.
    pub(crate) fn look(&mut self, now: Time, working: u64) {
        self.worked = Some(working);
        self.due = now + INTERVAL;
    }

    /// The advertisement of these links of `me`. Before there is any, there is nothing to say, nor to
    /// wait after it.
    pub(crate) fn say(
        &mut self,
        now: Time,
        me: usize,
        links: Vec<(u16, Delay)>,
    ) -> Option<Arc<LinkState>> {
        if links.is_empty() && !self.said {
            return None;
        }
        self.last = now;
        self.said = true;
        self.number = self.number.wrapping_add(1);
        Some(Arc::new(LinkState { origin: me as u16, number: self.number, links }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_change_is_advertised_at_once_at_first_and_later_after_the_hold_down() {
        let mut advertising = Advertising::after(0);
        advertising.start(at(0));
        assert!(!advertising.is_due(at(0), 0) || advertising.next() <= at(0));
        advertising.look(at(0), 0);
        assert_eq!(advertising.say(at(0), 3, vec![]), None, "no link yet");
        assert!(advertising.is_due(at(5), 0b1), "the first neighbour");
        advertising.look(at(5), 0b1);
        let state = advertising.say(at(5), 3, vec![(1, Delay::default())]).unwrap();
        assert_eq!((state.origin, state.number), (3, 1));
        assert!(!advertising.is_due(at(100), 0b11), "half a second after the last");
        assert_eq!(advertising.next(), at(505));
        assert!(advertising.is_due(at(505), 0b11));
    }

    #[test]
    fn what_does_not_change_is_renewed_each_second() {
        let mut advertising = Advertising::after(0);
        advertising.look(at(0), 0b1);
        assert!(advertising.say(at(0), 0, vec![(1, Delay::default())]).is_some());
        assert!(!advertising.is_due(at(999), 0b1) && advertising.is_due(at(1_000), 0b1));
    }

    #[test]
    fn a_node_that_has_run_before_goes_on_counting_and_says_its_first_at_once() {
        let mut advertising = Advertising::after(1_000);
        assert_eq!(advertising.say(at(0), 0, vec![]), None);
        assert!(advertising.is_due(at(1), 0b1));
        let state = advertising.say(at(1), 0, vec![(1, Delay::default())]).unwrap();
        assert_eq!(state.number, 1_001);
    }
}
