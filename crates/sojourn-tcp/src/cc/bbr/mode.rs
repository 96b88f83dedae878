//! Modes that all versions of BBR share.

/// Mode of the state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Searches for the bandwidth, doubling the rate every round.
    Startup,
    /// Drains the queue that STARTUP left.
    Drain,
    /// Sends at the estimated bandwidth and probes for more periodically.
    ProbeBw,
    /// Reduces the data in flight to measure the minimum RTT.
    ProbeRtt,
}

impl Mode {
    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Startup => "startup",
            Mode::Drain => "drain",
            Mode::ProbeBw => "probe_bw",
            Mode::ProbeRtt => "probe_rtt",
        }
    }
}
