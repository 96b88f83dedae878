//! Alternatives between which stack profiles choose.

/// Rule by which losses are inferred from SACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By time of transmission (RFC 8985), as Linux since 4.18 by default.
    Rack,
    /// Forward acknowledgment: everything `dupthresh` segments below the highest SACK is lost; in
    /// recovery also what was sent a millisecond before something delivered (Linux 4.4 to 4.11).
    Fack,
    /// `dupthresh` segments SACKed above (RFC 6675).
    Sack,
    /// A segment that is still missing an RTT and four deviations after one sent later arrived, whatever
    /// order they came in: for paths on which packets overtake each other.
    ReorderingTolerant,
}

impl LossDetection {
    /// Whether a retransmission timeout spares segments that were sent recently; else it marks all
    /// outstanding ones lost.
    pub(crate) fn spares_recent(self) -> bool {
        match self {
            LossDetection::Rack => true,
            LossDetection::Fack | LossDetection::Sack | LossDetection::ReorderingTolerant => false,
        }
    }
}

/// Window after a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutWindow {
    /// One segment (Linux before 5.3, the RFCs).
    One,
    /// Segments still in flight plus one (Linux since 5.3: with RACK, recent segments are not
    /// marked lost).
    InFlightPlusOne,
}

/// Time of a tail loss probe (RFC 8985 §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailProbe {
    /// After two RTTs and two ticks, with one segment out and `rto_min`; also while a mark reduces
    /// the window (Linux since 4.16).
    Recent,
    /// After two RTTs, at least 10 ms, with one segment out at least 1.5 RTTs and `rto_min`; not if
    /// the window permits sending the application's data (Linux 3.10 to 4.11).
    Early,
}

/// Condition under which a sender waits for more data for one large segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deferral {
    /// If it sent something in this timer tick and the oldest segment outstanding is older than
    /// half an RTT (Linux until 4.20).
    SameTick,
    /// The same, but if it sent something within the last millisecond (Linux 5.0 to 6.17).
    Recent,
    /// If it sent something within the last millisecond and the next ACK is expected within the
    /// lesser of one and half an RTT (Linux since 6.18).
    AckNear,
}
