//! Cache of whether controls permit data.

use sojourn_base::units::Time;

/// Records that no control permits data. This holds until streams or controls change, or pacing
/// permits a packet, and need not be determined again for each datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocked {
    pub until: Time,
    /// When pacing permits a packet.
    pub next: Option<Time>,
}

impl Default for Blocked {
    /// Nothing.
    fn default() -> Self {
        Blocked { until: Time::ZERO, next: None }
    }
}
