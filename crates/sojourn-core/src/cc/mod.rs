//! Congestion controls: one file each, one registry line each.
//!
//! A control is told what happened ([`AckSample`], [`Event`]) and *returns* its decision
//! ([`Decision`]); it cannot touch the sender. Loss detection, RTT, rate sampling, pacing and
//! proportional rate reduction are the sender's, written once, so that every control gets the same
//! measurements. Windows count segments, as in Linux.
//!
//! How this maps to a Linux module (`struct tcp_congestion_ops`):
//!
//! | Linux | here |
//! | --- | --- |
//! | `cong_avoid` | `on_ack`, if `ack.may_grow` |
//! | `pkts_acked` | `on_ack`, `ack.rtt` and `ack.cum_acked`, in every state |
//! | `cong_control` | `on_ack` of a control whose `owns_recovery` is true |
//! | `in_ack_event` | `on_ack`, `ack.ece`, `ack.delivered_ce` |
//! | `ssthresh` | `on_congestion` with [`Event::Loss`], [`Event::Ecn`] or [`Event::Rto`]; read back from `decision().ssthresh` |
//! | `undo_cwnd` | `undo` |
//! | `set_state`, `cwnd_event` | the other events |
//!
//! # The order of calls
//!
//! The sender reads `decision` before it acts on what it told.
//!
//! 1. When the handshake is complete: `on_established`, before any data is sent.
//! 2. On an ACK while data is outstanding, after the sender's own measurements:
//!    - a tail loss probe that repaired a loss: `save`, [`Event::Loss`], [`Event::ReductionEnd`],
//!      [`Event::Recovered`];
//!    - the end of an episode whose last segment it acknowledges: [`Event::ReductionEnd`] (not
//!      told to a control that owns recovery), or `undo` if the reduction was for nothing; then
//!      [`Event::Recovered`];
//!    - `on_packet_lost` for every segment now taken for lost;
//!    - where a reduction begins, `save` and then [`Event::Loss`] or [`Event::Ecn`];
//!    - last `on_ack`, whose sample has the state that all this led to.
//! 3. When the retransmission timer fires: `on_packet_lost` for every segment, `save` if a new
//!    threshold is due, [`Event::Rto`]; no `on_ack`. RACK's reordering timer likewise, with
//!    [`Event::Loss`].
//! 4. Before data is sent: [`Event::Restart`] after idle or an unused window, [`Event::TxStart`] if
//!    nothing is in flight. `on_sent` after each segment, so after the calls of the ACK or timer
//!    that let it go.
//! 5. At `next_timer`: `on_timer`, before timers of the sender's own that are due as well.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::observe::Observer;
use crate::registry::{self, Catalogue, Entry, Kind, Listing, Params, members};
use crate::rng::StreamKey;
use crate::spec::Cca;
pub use crate::spec::EcnMode;
use crate::units::{Rate, Span, Time};

pub mod cubic_curve;
pub mod cubic_ns3;
pub mod filter;
pub mod hystart;
pub mod hystart_pp;
pub mod jiffies;
pub mod law;
pub mod round_rtt;
pub mod sce_window;
/// What `sojourn new cca` writes must compile and pass its own test.
#[cfg(test)]
#[path = "../../../../python/sojourn/templates/cca.rs"]
#[allow(clippy::upper_case_acronyms)]
mod template;
#[cfg(test)]
mod testing;
pub mod window;

members! {
    Cca;
    "reno" reno::Reno,
    "cubic" cubic::Cubic,
    "bic" bic::Bic,
    "highspeed" highspeed::HighSpeed,
    "scalable" scalable::Scalable,
    "hybla" hybla::Hybla,
    "htcp" htcp::HTcp,
    "westwood" westwood::Westwood,
    "veno" veno::Veno,
    "vegas" vegas::Vegas,
    "yeah" yeah::Yeah,
    "illinois" illinois::Illinois,
    "bbr" bbr::Bbr,
    "bbr3" bbr3::Bbr3,
    "dctcp" dctcp::Dctcp,
    "reno-sce" reno_sce::RenoSce,
    "dctcp-sce" dctcp_sce::DctcpSce,
    "cubic-sce" cubic_sce::CubicSce,
    "copa" copa::Copa,
    "ledbat" ledbat::Ledbat,
    "prague" prague::Prague,
    "fixed-window" fixed_window::FixedWindow,
    "fixed-rate" fixed_rate::FixedRate,
}

/// A slow-start threshold that no window reaches: no congestion seen yet.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The sender's loss-recovery state, as Linux names them (`TCP_CA_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CaState {
    /// Nothing unusual.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs seen, no loss inferred yet.
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
    /// The delivery-rate sample.
    pub rate: RateSample,
}

/// What happened to the connection other than a plain ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Loss was inferred and fast recovery begins: choose a new `ssthresh`. Unless the control
    /// owns recovery, the sender's proportional rate reduction walks the window there.
    Loss {
        /// Segments in flight.
        in_flight: u32,
    },
    /// An ECN echo begins a window reduction: choose a new `ssthresh`.
    Ecn {
        /// Segments in flight.
        in_flight: u32,
    },
    /// The retransmission timer fired.
    Rto {
        /// Segments in flight after everything outstanding was marked lost.
        in_flight: u32,
        /// The window that the stack prescribes (1, or in flight + 1: the profile says).
        cwnd: u32,
        /// Whether to choose a new `ssthresh`: true for the first timeout of a loss episode.
        reduce: bool,
    },
    /// The window reduction of fast recovery or CWR is complete: the window becomes `cwnd`
    /// (usually `ssthresh`) unless the control owns recovery.
    ReductionEnd {
        /// The window that the sender arrived at.
        cwnd: u32,
    },
    /// The state is Open (or Disorder) again after Recovery, CWR or Loss.
    Recovered,
    /// New data goes out although nothing is in flight (Linux `CA_EVENT_TX_START`).
    TxStart {
        /// Time since the last data was sent.
        idle: Span,
    },
    /// Slow start after idle, or a window unused by the application, lowers the window:
    /// take these values (RFC 2861, RFC 5681 §4.1).
    Restart {
        /// The window that the stack prescribes.
        cwnd: u32,
        /// The threshold that the stack prescribes.
        ssthresh: u32,
    },
}

/// A segment at the time of its (re)transmission.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Segment number.
    pub seq: u32,
    /// Segments in flight, this one included.
    pub in_flight: u32,
    /// Whether it was sent before.
    pub retransmission: bool,
}

/// A segment that has just been marked lost.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Segment number.
    pub seq: u32,
    /// Segments in flight when it was last sent (it included).
    pub tx_in_flight: u32,
    /// The sender's `delivered` count when it was last sent.
    pub prior_delivered: u64,
    /// The sender's `lost` count when it was last sent.
    pub prior_lost: u64,
    /// Segments marked lost since the connection began, this one included.
    pub total_lost: u64,
    /// Whether it was sent in an application-limited phase.
    pub app_limited: bool,
}

/// A control's decision. Made from the default one, it need not name what it leaves to the sender:
/// `Decision { cwnd, ssthresh, ..Decision::default() }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Congestion window in segments, at least 1.
    pub cwnd: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Pacing rate in bits of payload per second (Linux `sk_pacing_rate`); `None` leaves pacing
    /// to the sender.
    pub pacing_rate: Option<Rate>,
    /// Segments to send back to back (Linux's TSO goal); `None` leaves it to the sender.
    pub burst: Option<u32>,
    /// Whether the control sets the window in recovery itself (BBR) instead of the sender's
    /// proportional rate reduction.
    pub owns_recovery: bool,
}

impl Default for Decision {
    /// A window of one segment, no congestion seen yet, all else left to the sender.
    fn default() -> Self {
        Decision {
            cwnd: 1,
            ssthresh: INFINITE_SSTHRESH,
            pacing_rate: None,
            burst: None,
            owns_recovery: false,
        }
    }
}

/// What a control is told about the connection it serves.
#[derive(Clone, Copy, Debug)]
pub struct ControlInit {
    /// Initial window in segments.
    pub initial_window: u32,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// IP packet size of a full segment in bytes.
    pub packet_size: u32,
    /// When the connection is created.
    pub now: Time,
    /// Whether the sender paces all controls (host queue `fq`).
    pub paced: bool,
    /// Base RTT configured for the flow; for instruments only, no control may cheat with it.
    pub base_rtt: Span,
    /// Names the control's random draws.
    pub random: StreamKey,
}

/// A congestion control.
pub trait CongestionControl: Send {
    /// An ACK arrived and was processed.
    fn on_ack(&mut self, now: Time, ack: &AckSample);

    /// Something else happened.
    fn on_congestion(&mut self, now: Time, event: &Event);

    /// The decision that holds now.
    fn decision(&self) -> Decision;

    /// The connection is established; the handshake gave this RTT. Linux initialises its modules
    /// here, before the first data is sent.
    fn on_established(&mut self, _now: Time, _rtt: Span) {}

    /// A segment was sent or retransmitted.
    fn on_sent(&mut self, _now: Time, _sent: &Sent) {}

    /// A segment was marked lost; called before the reduction that follows and the ACK's `on_ack`.
    fn on_packet_lost(&mut self, _now: Time, _lost: &Lost) {}

    /// When `on_timer` wants to be called next, if at all.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time asked for has come.
    fn on_timer(&mut self, _now: Time) {}

    /// A reduction is about to be made: keep what `undo` needs.
    fn save(&mut self) {}

    /// The reductions since `save` were made for nothing: take them back.
    fn undo(&mut self, _now: Time) {}

    /// Names and values of internal state worth recording.
    fn observe(&self, _out: &mut Observer<'_>) {}
}

/// A control that can be registered.
pub trait Registered: CongestionControl + Sized + 'static {
    /// Its parameters.
    type Params: Params;

    /// ECN feedback it needs; `Off` when it needs none (ECN may still be switched on).
    const ECN: EcnMode = EcnMode::Off;

    /// Whether its `version` is that of the flow's stack unless it is given.
    const FOLLOWS_STACK: bool = false;

    /// Builds it for a new connection. Parameters are validated.
    fn new(params: Self::Params, init: &ControlInit) -> Self;
}

impl Kind for Cca {
    const NAME: &'static str = "cca";
    const PLURAL: &'static str = "ccas";
    const TITLE: &'static str = "congestion control";
    const EXAMPLE: &'static str = "reno";
    type Facts = CcaFacts;
    type Make = Make;
}

/// What is known of a congestion control besides its listing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CcaFacts {
    /// ECN feedback it needs.
    pub ecn: EcnMode,
    /// Whether its `version` is that of the flow's stack unless it is given.
    pub follows_stack: bool,
}

/// How a congestion control is built. Errors: a parameter is unknown, of the wrong type or out of
/// range.
pub type Make = fn(
    &Map<String, Value>,
    &ControlInit,
    &Catalogue,
) -> Result<Box<dyn CongestionControl>, FieldError>;

/// The entry of the control `C`, whose `source` begins with its documentation.
pub fn entry<C: Registered>(name: &'static str, source: &'static str) -> Entry<Cca> {
    Entry {
        listing: Listing::new::<C::Params>(name, source),
        facts: CcaFacts { ecn: C::ECN, follows_stack: C::FOLLOWS_STACK },
        make: |params, init, catalogue| {
            Ok(Box::new(C::new(registry::parse_params(params, catalogue)?, init)))
        },
    }
}

/// Refuses a share that is not strictly between 0 and 1.
fn check_share(field: &str, value: f64) -> Result<(), FieldError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(FieldError::new(field, format!("{value} is not between 0 and 1")))
}
