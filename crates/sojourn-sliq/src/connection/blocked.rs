//! Whether controls let data go.

use sojourn_base::units::Time;

/// That no control lets data go. It stays so until streams or controls change, or pacing lets a packet
/// go, and need not be found out anew with each datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocked {
    pub until: Time,
    /// When pacing lets something go.
    pub next: Option<Time>,
}

impl Default for Blocked {
    /// Nothing.
    fn default() -> Self {
        Blocked { until: Time::ZERO, next: None }
    }
}
