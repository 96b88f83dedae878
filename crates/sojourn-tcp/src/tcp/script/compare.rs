//! Comparison of the packets sent with a script, or with those of another end.

use super::{Event, Played, Script, Step};
use crate::units::{Span, Time};

/// Tolerance for a kernel's timers, which run in ticks of 4 ms at 250 Hz and are sometimes late by
/// some.
const TOLERANCE: Span = Span::from_millis(12);
/// The timer wheel lets long timers be late by one over this (`LVL_CLK_SHIFT` of
/// `kernel/time/timer.c`).
const WHEEL: u64 = 8;

/// The first difference between an end and what is expected of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Time of the difference.
    pub at: Time,
    /// What was expected at that time.
    pub expected: String,
    /// What was sent instead.
    pub found: String,
}

impl Script {
    /// The first difference between the core and the script.
    pub fn check(&self, played: &Played) -> Option<Difference> {
        let is_window = |event: &&Event| event.what.starts_with("cwnd");
        let mut windows = played.events.iter().filter(is_window);
        let (mut looks, mut from) = (played.looks.iter(), 0);
        for line in &self.lines {
            let (expected, found) = match &line.step {
                Step::Sent(list) => {
                    let to = *looks.next()?;
                    let sent = played.events[from..to].iter();
                    let sent = sent.filter(|event| !is_window(event) && event.what != "ack");
                    from = to;
                    (list.clone(), sent.map(|event| event.what.clone()).collect())
                }
                Step::Cwnd(cwnd) => {
                    let found = windows.next().map(|event| event.what.clone());
                    (vec![format!("cwnd {cwnd}")], Vec::from_iter(found))
                }
                _ => continue,
            };
            if found != expected {
                let (expected, found) = (expected.join(", "), found.join(", "));
                return Some(Difference { at: line.at, expected, found });
            }
        }
        None
    }

    /// The first difference between the packets of the core and of a kernel: another packet, or the
    /// same one at a time that ticks and timer wheel do not explain.
    pub fn compare(&self, ours: &[Event], theirs: &[Event]) -> Option<Difference> {
        let from = |events: &[Event]| -> Vec<Event> {
            events.iter().filter(|event| event.at >= self.from).cloned().collect()
        };
        let (ours, theirs) = (from(ours), from(theirs));
        let told = |event: Option<&Event>| event.map_or("-".to_owned(), |e| e.what.clone());
        let mut before = [self.from; 2];
        for place in 0..ours.len().max(theirs.len()) {
            let (one, other) = match (ours.get(place), theirs.get(place)) {
                (Some(one), Some(other)) if one.what == other.what => (one, other),
                (a, b) => {
                    let at = a.or(b).map_or(Time::ZERO, |event| event.at);
                    return Some(Difference { at, expected: told(b), found: told(a) });
                }
            };
            let gaps = [one.at.since(before[0]), other.at.since(before[1])];
            let allowed = TOLERANCE + gaps[0] / WHEEL;
            let apart = |a: u64, b: u64| Span::from_nanos(a.abs_diff(b));
            let by_time = apart(one.at.as_nanos(), other.at.as_nanos());
            let by_gap = apart(gaps[0].as_nanos(), gaps[1].as_nanos());
            if by_time.min(by_gap) > allowed {
                let timed = |event: &Event| {
                    format!("{} at {:.0} ms", event.what, event.at.as_nanos() as f64 / 1e6)
                };
                let (expected, found) = (timed(other), timed(one));
                return Some(Difference { at: one.at, expected, found });
            }
            before = [one.at, other.at];
        }
        None
    }
}
