//! Phase of PROBE_BW, and the phase of probing that present ACKs belong to.

/// Phases of PROBE_BW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Probe for more bandwidth.
    Up,
    /// Drain what probing queued, down to the headroom.
    Down,
    /// Send at the estimate.
    Cruise,
    /// Fill the pipe before probing.
    Refill,
}

impl Phase {
    /// Its name in lower case.
    pub(super) fn name(self) -> &'static str {
        match self {
            Phase::Up => "up",
            Phase::Down => "down",
            Phase::Cruise => "cruise",
            Phase::Refill => "refill",
        }
    }
}

/// Relation of present ACKs to the last probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}
