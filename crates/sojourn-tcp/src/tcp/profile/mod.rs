//! Stack profiles: everything in which one TCP stack or era differs from another, in one table.
//!
//! | profile | models | sources |
//! | --- | --- | --- |
//! | `linux-6` | kernel 6.12; 6.1 and 6.18 but for what is said below | `net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_recovery.c`, `tcp_timer.c` |
//! | `linux-5.1` | mid-2019 (the SCE draft's testbed) | the same files at v5.1 |
//! | `linux-4.9` | Ubuntu 16.04 of Lin et al. 2020 | the same files at v4.9 |
//! | `ns3` | ns-3.41 `TcpSocketBase` with PRR | `src/internet/model/tcp-*.cc` |
//! | `rfc` | RFC 5681, 6298, 6582, 6675, 3042 | the RFCs |
//!
//! `linux-6` differs from 6.1 in the timeouts of SYNs (`tcp_syn_linear_timeouts`, 6.5), in the memory of
//! buffers (send: `SKB_SMALL_HEAD_SIZE`, 6.3; receive: `scaling_ratio`, 6.6), in how the receive window
//! is tuned from it (`tcp_rcv_space_adjust`, `tcp_rtt_tsopt_us`), and in bursts that take data of the
//! next buffer (`tcp_grow_skb`, 6.10). From 6.18 it differs in how the receive window is tuned. What
//! finds losses and repairs them is the same in 6.1 and 6.12; `docs/explanation/fidelity.md` has more.
//!
//! ns-3.41 finds a lost retransmission by the timeout alone, as RFC 6675 and `LossDetection::Sack`
//! do: `TcpTxBuffer` marks what it retransmits (`m_retrans`), `NextSeg` passes over it, and only
//! `SetSentListLost`, called by a timeout, clears the mark. A recovery's second and later partial
//! ACKs do not restart the timer (`NewAck`), which ends those that last longer than a second.
//!
//! Deviations of `ns3`: ns-3's receiver acknowledges the first segment at once (`ProcessSynRcvd`), and
//! its timeout in a recovery cuts the threshold again (`ReTxTimeout`). Two faults of ns-3 are left out:
//! PRR multiplies in 32 bits (`DoRecovery`), and SACKed retransmissions stay in flight (`Update`).

use super::{card_memory, wheel};
use crate::recovery::prr::PrrBound;
use crate::recovery::rtt::{RtoRules, RtoStyle};
use crate::units::{Span, Time};

mod choices;

pub use choices::LossDetection;
pub(crate) use choices::{Deferral, TailProbe, TimeoutWindow};

/// One stack's constants and choices.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Loss-detection rule.
    pub loss_detection: LossDetection,
    /// Duplicate-ACK threshold, and the initial degree of reordering.
    pub dupthresh: u32,
    /// Growth of the window below `ssthresh` in recovery.
    pub prr: PrrBound,
    /// Variance term of the timeout.
    pub rto_style: RtoStyle,
    /// Minimum of the timeout (or of its variance term).
    pub rto_min: Span,
    /// Maximum of the timeout.
    pub rto_max: Span,
    /// Timeout before the first RTT sample.
    pub rto_initial: Span,
    /// Window after a timeout.
    pub timeout_window: TimeoutWindow,
    /// Whether a recovery restarts the timer with each partial ACK and with the first segment's
    /// retransmission; else with the first partial ACK only (RFC 6582's impatient variant).
    pub patient: bool,
    /// Length of a timer tick (1/HZ).
    pub tick: Span,
    /// Whether timers fire on ticks, as the kernel's wheel has them; else when they are due.
    pub timer_wheel: bool,
    /// Tail loss probe, if any.
    pub tail_probe: Option<TailProbe>,
    /// Forward RTO recovery (RFC 5682).
    pub frto: bool,
    /// Undo of reductions found spurious (DSACK, timestamps).
    pub undo: bool,
    /// Whether an undo of controls that keep nothing for it returns to twice the threshold, whatever
    /// was cut (Linux before 4.10).
    pub undo_doubles: bool,
    /// Resolution of timestamps: a millisecond, before Linux 4.13 a tick.
    pub timestamp: Span,
    /// Initial window in segments, unless the flow says otherwise.
    pub initial_window: u32,
    /// Retransmissions of the SYN at the first timeout before it doubles (`tcp_syn_linear_timeouts`;
    /// Linux since 6.5).
    pub syn_linear_timeouts: u32,
    /// Needed retransmissions of the SYN after which the window still is the initial one; more make
    /// it one segment (RFC 5681: none, Linux: one). `None`: any number.
    pub syn_losses: Option<u32>,
    /// Whether slow start resumes after an idle timeout (RFC 2861).
    pub slow_start_after_idle: bool,
    /// Whether a control that asks for pacing is paced without a host queue.
    pub internal_pacing: bool,
    /// Whether segments leave in bursts: Linux cuts them for segmentation in software where the
    /// device cannot (always since 4.17).
    pub offload: bool,
    /// With offload, when small amounts of data wait for more.
    pub deferral: Option<Deferral>,
    /// Whether bursts are longer on very short paths (`tcp_tso_rtt_log`; Linux since 5.18).
    pub long_bursts_nearby: bool,
    /// Limit of a sender's data in its host's queues: time at the pacing rate (2^-n s), and largest
    /// number of bytes (`sk_pacing_shift`, `tcp_limit_output_bytes`); mac80211 asks for 8 ms since
    /// 4.17.
    pub small_queue: Option<(u32, u64)>,
    /// Growth of the window needs it to be the limit.
    pub cwnd_validation: bool,
    /// Whether a small segment waits while an earlier small one is not acknowledged (Nagle's algorithm
    /// as Minshall's), unless the flow says otherwise.
    pub nagle: bool,
    /// Whether hosts that remember earlier connections keep their RTT and degree of reordering.
    pub remembers_paths: bool,
    /// Whether they keep the slow-start threshold (Linux before 5.6; then `tcp_no_ssthresh_metrics_save`
    /// is set).
    pub remembers_threshold: bool,
    /// Receiver: ACKs sent at once when data first arrives.
    pub quick_acks: u32,
    /// Receiver: the end of a write (PSH) is acknowledged at once, when the application has read it.
    pub acks_pushed: bool,
    /// Receiver: longest delay of an ACK.
    pub delayed_ack: Span,
    /// Sender: every burst ends with PSH, whatever the application writes (Linux since 5.4).
    pub pushes_bursts: bool,
    /// Receiver: SACKs after the third duplicate are spaced (Linux since 4.18), by a timer with
    /// this slack (`tcp_comp_sack_slack_ns`; none before 5.8), which is always used up, since no
    /// other event wakes the timer earlier.
    pub sack_compression: Option<Span>,
    /// Receiver: a delayed SACK is sent before a segment that needs more than two blocks (Linux
    /// since 5.8).
    pub flushes_sacks: bool,
    /// Receiver: whether the window is autotuned; while it grows, ACKs are not delayed.
    pub tunes_window: bool,
    /// Receiver: whether its rounds begin with the handshake, its RTTs have the resolution of
    /// timestamps, and held data and buffers count when the window is tuned; sender: whether its
    /// buffer is counted in memory and grows with the window. Taken from the sources of Linux 6.12,
    /// not of earlier ones.
    pub tunes_exactly: bool,
    /// Receiver: the stack's receive buffer, or the limit of an autotuned one (`tcp_rmem[2]`), bytes.
    pub receive_buffer_max: u64,
    /// Receiver: share of the buffer that is advertised: a segment's payload over the memory that
    /// it occupies, which depends on the device, in 256ths (`scaling_ratio`; half before Linux
    /// 6.6).
    pub window_share: f64,
    /// Receiver: segments that tuning adds to twice what was read (`tcp_rcv_space_adjust`, Linux
    /// before 6.16); `None` adds the data held above a hole.
    pub window_slack: Option<u32>,
}

const LINUX_6: Profile = Profile {
    loss_detection: LossDetection::Rack,
    dupthresh: 3,
    prr: PrrBound::AdvancingAck,
    rto_style: RtoStyle::Linux,
    rto_min: Span::from_millis(200),
    rto_max: Span::from_secs(120),
    rto_initial: Span::from_secs(1),
    timeout_window: TimeoutWindow::InFlightPlusOne,
    patient: true,
    tick: Span::from_millis(1),
    timer_wheel: true,
    tail_probe: Some(TailProbe::Recent),
    frto: true,
    undo: true,
    undo_doubles: false,
    timestamp: Span::from_millis(1),
    initial_window: 10,
    syn_linear_timeouts: 4,
    syn_losses: Some(1),
    slow_start_after_idle: true,
    internal_pacing: true,
    offload: true,
    deferral: Some(Deferral::AckNear),
    long_bursts_nearby: true,
    small_queue: Some((7, 4 << 20)),
    cwnd_validation: true,
    nagle: true,
    remembers_paths: true,
    remembers_threshold: false,
    quick_acks: 16,
    acks_pushed: true,
    pushes_bursts: true,
    delayed_ack: Span::from_millis(40),
    sack_compression: Some(Span::from_micros(100)),
    flushes_sacks: true,
    tunes_window: true,
    tunes_exactly: true,
    receive_buffer_max: 32 << 20,
    window_share: card_memory::SHARE,
    window_slack: Some(16),
};

const LINUX_5_1: Profile = Profile {
    prr: PrrBound::RetransmissionDelivered,
    timeout_window: TimeoutWindow::One,
    tick: Span::from_millis(4),
    deferral: Some(Deferral::Recent),
    pushes_bursts: false,
    sack_compression: Some(Span::ZERO),
    flushes_sacks: false,
    small_queue: Some((7, 1 << 20)),
    long_bursts_nearby: false,
    syn_linear_timeouts: 0,
    remembers_threshold: true,
    receive_buffer_max: 6 << 20,
    window_share: 0.5,
    tunes_exactly: false,
    window_slack: None,
    ..LINUX_6
};

const LINUX_4_9: Profile = Profile {
    loss_detection: LossDetection::Fack,
    tail_probe: Some(TailProbe::Early),
    undo_doubles: true,
    timestamp: Span::from_millis(4),
    internal_pacing: false,
    deferral: Some(Deferral::SameTick),
    small_queue: Some((10, 1 << 18)),
    sack_compression: None,
    ..LINUX_5_1
};

/// The behaviour of the RFCs alone; other profiles are defined by their differences from it.
pub const RFC: Profile = Profile {
    loss_detection: LossDetection::Sack,
    prr: PrrBound::SlowStart,
    rto_style: RtoStyle::Rfc6298,
    rto_min: Span::from_secs(1),
    rto_max: Span::from_secs(60),
    timeout_window: TimeoutWindow::One,
    tick: Span::from_millis(1),
    timer_wheel: false,
    offload: false,
    deferral: None,
    small_queue: None,
    tail_probe: None,
    frto: false,
    undo: false,
    syn_linear_timeouts: 0,
    syn_losses: Some(0),
    remembers_paths: false,
    quick_acks: 0,
    acks_pushed: false,
    pushes_bursts: false,
    delayed_ack: Span::from_millis(200),
    sack_compression: None,
    flushes_sacks: false,
    tunes_window: false,
    tunes_exactly: false,
    // The largest window that RFC 7323 can express.
    receive_buffer_max: 1 << 30,
    window_share: 1.0,
    ..LINUX_6
};

const NS3: Profile = Profile {
    prr: PrrBound::RetransmissionDelivered,
    patient: false,
    // Attribute `ConnTimeout`, of the handshake.
    rto_initial: Span::from_secs(3),
    slow_start_after_idle: false,
    syn_losses: None,
    // Attribute `TcpNoDelay` is set by default.
    nagle: false,
    // Attribute `RcvBufSize`.
    receive_buffer_max: 131_072,
    ..RFC
};

impl Profile {
    /// The profile of this name, as the scenario file writes it; `None` if there is none.
    pub fn named(name: &str) -> Option<&'static Profile> {
        Some(match name {
            "linux-6" => &LINUX_6,
            "linux-5.1" => &LINUX_5_1,
            "linux-4.9" => &LINUX_4_9,
            "ns3" => &NS3,
            "rfc" => &RFC,
            _ => return None,
        })
    }

    /// When a timer fires that is set at `now` for `wait`.
    #[inline]
    pub(super) fn fires(&self, now: Time, wait: Span) -> Time {
        if self.timer_wheel { wheel::fires(now, wait, self.tick) } else { now + wait }
    }

    /// Rules by which its retransmission timeout follows from RTT samples.
    pub fn rto_rules(&self) -> RtoRules {
        RtoRules {
            style: self.rto_style,
            min: self.rto_min,
            max: self.rto_max,
            initial: self.rto_initial,
            tick: self.tick,
        }
    }
}
