//! The clock of a run.

use std::time::{Duration, Instant};

use sojourn_base::units::Time;

/// Time since a run began, in the network's units.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// A run begins now.
    #[allow(clippy::disallowed_methods)] // here the real time comes in
    pub fn start() -> Self {
        Clock(Instant::now())
    }

    /// When it began.
    pub fn began(&self) -> Instant {
        self.0
    }

    /// How long it has run.
    pub fn now(&self) -> Time {
        Time::from_nanos(self.0.elapsed().as_nanos() as u64)
    }

    /// From now until `time`; zero if that has passed.
    pub fn until(&self, time: Time) -> Duration {
        Duration::from_nanos(time.since(self.now()).as_nanos())
    }
}
