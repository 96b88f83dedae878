//! Interface between a sender and its congestion control: measurements and events go to the
//! control, its decision goes to the sender.

use super::sample::CaState;
use crate::rng::StreamKey;
use crate::units::{Rate, Span, Time};

/// A slow-start threshold that no window reaches: no congestion observed yet.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Event of a connection other than a plain ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Loss was inferred and fast recovery begins: choose a new `ssthresh`. Unless the control owns
    /// recovery, the sender's proportional rate reduction brings the window there.
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
    /// New data is sent while nothing is in flight (Linux `CA_EVENT_TX_START`).
    TxStart {
        /// Time since the last data was sent.
        idle: Span,
    },
    /// Slow start after idle, or a window unused by the application, lowers the window: adopt these
    /// values (RFC 2861, RFC 5681 §4.1).
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

/// The sender's own state, as a kernel module reads it in `struct tcp_sock`. Segments are counted as
/// elsewhere; names are Linux's where they differ from ours.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SenderView {
    /// Recovery state (`icsk_ca_state`).
    pub state: CaState,
    /// The window in force, proportional rate reduction's during a reduction.
    pub cwnd: u32,
    /// First segment not yet cumulatively acknowledged.
    pub una: u32,
    /// Next segment that will be sent for the first time.
    pub next: u32,
    /// Segments sent and not yet cumulatively acknowledged.
    pub packets_out: u32,
    /// Of those, SACKed.
    pub sacked_out: u32,
    /// Of those, marked lost.
    pub lost_out: u32,
    /// Retransmissions outstanding.
    pub retrans_out: u32,
    /// Degree of reordering in segments.
    pub reordering: u32,
    /// Most packets out in the last round (`max_packets_out`).
    pub max_packets_out: u32,
    /// Whether the window was what limited sending (`is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// Segments delivered since the connection began.
    pub delivered: u32,
    /// Of those, known to have been CE-marked.
    pub delivered_ce: u32,
    /// Segments marked lost since the connection began.
    pub lost: u32,
    /// Delivery count at which the application-limited phase ends; zero if there is none.
    pub app_limited: u32,
    /// When `delivered` last grew.
    pub delivered_at: Time,
    /// Start of the sending phase of the next rate sample.
    pub first_sent_at: Time,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Span,
    /// Mean deviation of the RTT.
    pub mdev: Span,
    /// The variance term of the timeout, four deviations.
    pub rttvar: Span,
    /// Minimum RTT; [`Span::MAX`] before the first sample.
    pub min_rtt: Span,
    /// Retransmission timeout.
    pub rto: Span,
    /// When data was last sent.
    pub last_sent_at: Time,
    /// Earliest departure of the next packet under pacing.
    pub departs_at: Time,
    /// Timestamp echoed by the latest ACK.
    pub echo: Time,
    /// Timestamp of the latest ACK.
    pub peer_sent_at: Time,
}

/// A data segment has arrived at a flow's receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Whether it carries CE.
    pub ce: bool,
    /// Whether an ACK is being held back.
    pub ack_held: bool,
    /// Whether ACKs carry ECN echo.
    pub echoes: bool,
    /// Next segment expected in order, before this one is processed.
    pub next: u32,
}

/// Response of a control at the receiver to an arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echoing {
    /// Whether ACKs carry ECN echo from now on.
    pub echoes: bool,
    /// Whether the ACK that is held back goes out first, as it would have.
    pub ack_first: bool,
    /// Whether this segment is acknowledged at once.
    pub ack_now: bool,
}

/// Measurements of an ACK, before loss detection and the recovery state follow from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measured {
    /// Segments that the cumulative acknowledgment covers newly.
    pub cum_acked: u32,
    /// The RTT sample.
    pub rtt: Option<Span>,
    /// Segments delivered since the newest of those that the ACK covers was sent.
    pub in_flight: u32,
    /// Whether it carries ECN echo.
    pub ece: bool,
    /// Whether it carries SCE echo.
    pub esce: bool,
    /// Whether it changed the receiver's window.
    pub window_update: bool,
    /// Whether header prediction could not process it.
    pub slow_path: bool,
}

/// Step of its processing at which the sender exposes its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Before the callback that follows.
    Callback,
    /// An ACK has been measured and loss detection has not yet run (Linux calls `pkts_acked`, then
    /// `in_ack_event`).
    Measured(Measured),
    /// The recovery state is about to change (`set_state`), possibly to the same state again.
    State(CaState),
}

/// A control's decision: [`Decision::new`] leaves all but the window and the threshold to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Size of a send buffer without a configured size, in windows of data (Linux `sndbuf_expand`);
    /// `None` leaves it to the sender, which takes two.
    pub send_windows: Option<u32>,
}

impl Decision {
    /// A window and a threshold in segments; all else is left to the sender.
    pub const fn new(cwnd: u32, ssthresh: u32) -> Self {
        Decision {
            cwnd,
            ssthresh,
            pacing_rate: None,
            burst: None,
            owns_recovery: false,
            send_windows: None,
        }
    }
}

impl Default for Decision {
    /// A window of one segment, no congestion observed yet, all else left to the sender.
    fn default() -> Self {
        Decision::new(1, INFINITE_SSTHRESH)
    }
}

/// Parameters of the connection that a control is created for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ControlInit {
    /// Initial window in segments.
    pub initial_window: u32,
    /// Initial slow-start threshold in segments; usually [`INFINITE_SSTHRESH`].
    pub initial_ssthresh: u32,
    /// Whether an undo returns to twice the threshold unless the control kept the window for it.
    pub undo_doubles: bool,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// IP packet size of a full segment in bytes.
    pub packet_size: u32,
    /// When the connection is created.
    pub now: Time,
    /// Whether the sender paces all controls (host queue `fq`, or the flow's `pacing`).
    pub paced: bool,
    /// Whether the device takes bursts (TSO, GSO): only on Wi-Fi it may not.
    pub offload: bool,
    /// Base RTT configured for the flow; for measuring instruments only: no congestion control may
    /// use it.
    pub base_rtt: Span,
    /// Key of the control's random draws.
    pub random: StreamKey,
    /// The flow's number, for messages.
    pub flow: u32,
}

impl ControlInit {
    /// Of a connection that begins at time 0 with segments of `mss` bytes of payload in IP packets of
    /// `packet_size`: ten segments initially, no threshold, no pacing by the host, bursts allowed.
    pub fn new(mss: u32, packet_size: u32) -> Self {
        ControlInit {
            initial_window: 10,
            initial_ssthresh: INFINITE_SSTHRESH,
            undo_doubles: false,
            mss,
            packet_size,
            now: Time::ZERO,
            paced: false,
            offload: true,
            base_rtt: Span::ZERO,
            random: StreamKey::root(0),
            flow: 0,
        }
    }
}
