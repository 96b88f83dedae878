//! Time of the next acknowledgment.

use crate::units::Time;

/// Time at which the next ACK is sent.
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
