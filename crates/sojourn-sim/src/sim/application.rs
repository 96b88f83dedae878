//! The application of a flow: draws actions from its traffic source.

use crate::rng::Stream;
use crate::traffic::{Action, TrafficSource};
use crate::units::Time;

/// A traffic source with its random stream and its pending action.
pub struct Application {
    source: Option<Box<dyn TrafficSource>>,
    random: Stream,
    pending: Option<(Time, Action)>,
}

impl Application {
    /// An application that has taken no action yet.
    pub fn new(source: Box<dyn TrafficSource>, random: Stream) -> Self {
        Application { source: Some(source), random, pending: None }
    }

    /// An application without actions, of a flow that only receives.
    pub fn silent(random: Stream) -> Self {
        Application { source: None, random, pending: None }
    }

    /// The next action due at `now`; otherwise `Err` with the time at which to ask again, if any.
    pub fn poll(&mut self, now: Time) -> Result<Action, Option<Time>> {
        if self.pending.is_none() {
            let source = self.source.as_mut();
            self.pending = source.and_then(|source| source.next(now, &mut self.random));
        }
        let (time, action) = self.pending.ok_or(None)?;
        if time > now {
            return Err(Some(time));
        }
        self.pending = None;
        Ok(action)
    }
}
