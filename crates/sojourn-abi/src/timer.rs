//! The timer of an external control, which fires only so often without time going on.

use sojourn_base::units::Time;

/// Times that it fires at one instant: far more than a control needs, and over in a millisecond.
const MOST_AT_AN_INSTANT: u32 = 1_000;

/// When a control wants to be called next, if at all.
#[derive(Clone, Debug, Default)]
pub struct Timer {
    at: Option<Time>,
    /// When it fired last, and how often then.
    fired: Option<Time>,
    count: u32,
}

impl Timer {
    /// When it fires next.
    #[inline]
    pub fn at(&self) -> Option<Time> {
        self.at
    }

    /// Has it fire at this time, or now if that is past.
    #[inline]
    pub fn set(&mut self, at: Option<Time>, now: Time) {
        self.at = at.map(|time| time.max(now));
    }

    /// It fires now, and not again until it is set.
    ///
    /// # Errors
    /// It has fired too often now.
    #[inline]
    pub fn fire(&mut self, now: Time) -> Result<(), String> {
        self.at = None;
        self.count = if self.fired == Some(now) { self.count + 1 } else { 1 };
        self.fired = Some(now);
        if self.count <= MOST_AT_AN_INSTANT {
            return Ok(());
        }
        Err(format!(
            "returned a time that is not after {now:?} {MOST_AT_AN_INSTANT} times at that time; \
             expected a later one, or none"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::units::Span;

    #[test]
    fn a_time_in_the_past_is_now() {
        let (mut timer, now) = (Timer::default(), Time::from_nanos(7));
        timer.set(Some(Time::ZERO), now);
        assert_eq!(timer.at(), Some(now));
        timer.fire(now).unwrap();
        assert_eq!(timer.at(), None);
    }

    #[test]
    fn it_fires_so_often_at_an_instant_and_then_again_at_another() {
        let (mut timer, now) = (Timer::default(), Time::from_nanos(1_000_000_000));
        for _ in 0..MOST_AT_AN_INSTANT {
            timer.fire(now).unwrap();
        }
        let told = timer.fire(now).unwrap_err();
        assert!(told.contains("1000 times at that time"), "{told}");
        timer.fire(now + Span::from_nanos(1)).unwrap();
    }
}
