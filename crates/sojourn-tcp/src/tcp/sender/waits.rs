//! What the sender waits for, and what it sends when that does not come.

use crate::units::Time;

/// What the timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerKind {
    Retransmission,
    Probe,
    Reordering,
    /// The receiver's window is closed and nothing outstanding: an update may have been lost.
    Persist,
}

/// The timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    pub kind: TimerKind,
    pub at: Time,
}

/// What must be sent whatever the window says.
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
    /// Nothing but a question for the window.
    Window,
}
