//! The clock of a connection.

use std::time::{Duration, Instant, SystemTime};

use sojourn_base::units::{Span, Time};

/// Time since the program began.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Begins now.
    #[allow(clippy::disallowed_methods)] // here the real time comes in
    pub fn start() -> Self {
        Clock(Instant::now())
    }

    /// Began at that instant, maybe one to come.
    pub fn since(began: Instant) -> Self {
        Clock(began)
    }

    /// Now; never zero, which stands for "before".
    pub fn now(&self) -> Time {
        Time::ZERO + Span::from_nanos(1 + self.0.elapsed().as_nanos() as u64)
    }
}

/// The wall clock: time since the beginning of 1970, zero before it.
#[allow(clippy::disallowed_methods)] // here the real time comes in
pub fn unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Time to wait from `now` until `at`.
pub(super) fn until(at: Time, now: Time) -> Duration {
    Duration::from_nanos(at.since(now).as_nanos())
}
