//! Measurements of the sender on an ACK.

use crate::units::Span;

/// The sender's loss-recovery state, as Linux names them (`TCP_CA_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CaState {
    /// Nothing unusual.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs observed, no loss inferred yet.
    Disorder,
    /// The window is being reduced after an ECN echo or a local congestion, without loss.
    Cwr,
    /// Fast recovery: retransmitting, the window is being reduced.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// A delivery-rate sample (Linux `struct rate_sample`, draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RateSample {
    /// Segments delivered over `interval`; `None` when no valid sample could be taken.
    pub delivered: Option<u32>,
    /// Length of the interval: the longer of its send and its ACK phase.
    pub interval: Span,
    /// The sender's `delivered` count when the sampled segment was sent.
    pub prior_delivered: u64,
    /// The sender's `delivered_ce` count when the sampled segment was sent.
    pub prior_delivered_ce: u64,
    /// The sender's `lost` count when the sampled segment was sent.
    pub prior_lost: u64,
    /// Segments in flight when the sampled segment was sent (it included).
    pub tx_in_flight: u32,
    /// Whether the sample was limited by the application.
    pub app_limited: bool,
    /// Whether the sampled segment had been retransmitted.
    pub retransmitted: bool,
}

/// All that the sender measured on one arriving ACK, after loss detection has run on it.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct AckSample {
    /// Recovery state after this ACK.
    pub state: CaState,
    /// Whether this ACK may raise the window (Linux `tcp_may_raise_cwnd`): new data acknowledged
    /// or SACKed in an order that allows it, and no window reduction under way.
    pub may_grow: bool,
    /// Whether the window was what limited sending in the last round (Linux `tcp_is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// Segments newly acknowledged or SACKed by this ACK.
    pub acked: u32,
    /// Segments that the cumulative acknowledgment covers newly (SACKed before or not).
    pub cum_acked: u32,
    /// Segments newly marked lost on this ACK.
    pub lost: u32,
    /// This ACK's RTT sample from a segment sent once, if it gave one.
    pub rtt: Option<Span>,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Span,
    /// Minimum RTT over the sender's window (5 minutes); [`Span::MAX`] before the first sample.
    pub min_rtt: Span,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// Segments in flight after this ACK.
    pub in_flight: u32,
    /// First segment not yet cumulatively acknowledged.
    pub una: u32,
    /// Next segment that will be sent for the first time.
    pub next: u32,
    /// Segments delivered since the connection began.
    pub delivered: u64,
    /// Of those, segments known to have been CE-marked (needs accurate or DCTCP feedback;
    /// with classic ECN, segments acknowledged with ECE set).
    pub delivered_ce: u64,
    /// Segments marked lost since the connection began.
    pub total_lost: u64,
    /// Whether the ACK carries ECN echo.
    pub ece: bool,
    /// Whether the ACK carries SCE echo.
    pub esce: bool,
    /// Whether the sender had nothing more to send at some point of the last round.
    pub app_limited: bool,
    /// Whether the ACK answers a single segment late (a delayed-ACK timer fired, as far as known).
    pub ack_delayed: bool,
    /// How long pacing holds the next segment back (Linux `tcp_wstamp_ns` less the time).
    pub departs_in: Span,
    /// The delivery-rate sample.
    pub rate: RateSample,
}
