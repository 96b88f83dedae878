//! When the next acknowledgment goes out.

use crate::units::Time;

/// When the next ACK goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    No,
    Now,
    SynAck,
    At(Time),
}

impl Due {
    /// Due at `time` at the latest.
    pub(super) fn no_later_than(self, time: Time) -> Due {
        match self {
            Due::No => Due::At(time),
            Due::At(earlier) => Due::At(earlier.min(time)),
            Due::Now | Due::SynAck => self,
        }
    }
}
