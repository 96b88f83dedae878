//! Time of the next acknowledgment.

use super::Receiver;
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

impl Receiver {
    /// When the SYN-ACK is sent again.
    pub(super) fn syn_ack_due(&self) -> Time {
        let fires = |(at, wait)| self.init.profile.fires(at, wait);
        self.syn_ack_again.map_or(Time::NEVER, fires)
    }
}
