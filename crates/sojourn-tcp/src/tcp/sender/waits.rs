//! Timer of the sender, and the probes that it sends when the timer fires.

use crate::tcp::profile::Profile;
use crate::units::{Span, Time};

/// Purpose of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerKind {
    Retransmission,
    Probe,
    Reordering,
    /// The receiver's window is closed and nothing outstanding: an update may have been lost.
    Persist,
}

/// The timer. An ACK mostly sets it several times: when it fires is computed when that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    pub kind: TimerKind,
    /// When it was set, and for how long.
    pub since: Time,
    pub wait: Span,
}

impl Timer {
    /// When it fires.
    #[inline]
    pub(super) fn at(&self, profile: &Profile) -> Time {
        profile.fires(self.since, self.wait)
    }
}

/// Packet that must be sent whatever the window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Probe {
    #[default]
    None,
    /// The handshake's last ACK.
    Handshake,
    /// The first segment, after a timeout.
    Head,
    /// New data, else the last segment: a tail loss probe.
    Tail,
    /// A window probe without data.
    Window,
}
