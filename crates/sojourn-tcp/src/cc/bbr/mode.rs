//! The modes that all versions of BBR share.

/// What BBR does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Looks for the bandwidth, doubling the rate every round.
    Startup,
    /// Empties the queue that this left.
    Drain,
    /// Sends at the bandwidth and probes for more now and then.
    ProbeBw,
    /// Holds back to see the minimum RTT.
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
