//! The sending end of a TCP flow.
//!
//! | concern | file |
//! | --- | --- |
//! | processing of ACKs and of the segments they deliver | `ack`, `delivered` |
//! | detection of lost segments | `losses` |
//! | the congestion state machine, timeouts, undo | `recovery`, `timeout`, `undo` |
//! | choice of the next segment, large segments, packets | `output`, `batch`, `packets` |
//! | validation of the window | `usage` |
//! | limits of sending | `limits`, `small_queue` |
//! | room for the application to write | `space` |
//! | timers | `timers` |
//! | counters; what else it tells | `counters`, `told` |
//! | metrics of earlier connections | `memory` |
//! | state for a control that follows every step | `steps` |
//!
//! The names of states, marks and counters are Linux's.

mod ack;
mod batch;
mod counters;
mod delivered;
mod handshake;
mod limits;
mod losses;
mod memory;
mod output;
mod packets;
mod recovery;
mod small_queue;
mod space;
mod steps;
mod timeout;
mod timers;
mod told;
mod undo;
mod usage;
mod waits;

use super::TcpInit;
use super::dupthresh::Frontier;
use super::metrics::Path;
use super::profile::Profile;
use super::scoreboard::Scoreboard;
use super::send_buffer::SendBuffer;
use crate::cc::{CaState, CongestionControl, Decision};
use crate::counters::FlowCounters;
use crate::counters::histogram::Histogram;
use crate::endpoint::{Endpoint, RecoveryState};
use crate::observe::Observer;
use crate::packet::{Flags, Header, Packet};
use crate::recovery::pacing::Pacer;
use crate::recovery::prr::Prr;
use crate::recovery::rack::Rack;
use crate::recovery::rate::Delivery;
use crate::recovery::rtt::RttEstimator;
use crate::units::{Span, Time};

use batch::WindowPace;
use counters::Counters;
use limits::Limited;
use output::Burst;
use recovery::Recovery;
use usage::Usage;
use waits::{Probe, Timer};

/// How late the timer of pacing is. A kernel's always is, so that an ACK of the instant goes first.
const LATENESS: Span = Span::from_nanos(1);

/// Phase of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Closed,
    SynDue,
    SynSent,
    Established,
}

/// A TCP sender.
pub struct Sender {
    init: TcpInit,
    /// The cached metrics of its path, if any.
    path: Option<Path>,
    profile: &'static Profile,
    cc: Box<dyn CongestionControl>,
    /// Whether the control follows every step.
    steps: bool,
    decision: Decision,
    /// The window in force: the control's, or proportional rate reduction's during a reduction.
    cwnd: u32,
    board: Scoreboard,
    rtt: RttEstimator,
    rack: Rack,
    frontier: Frontier,
    prr: Prr,
    delivery: Delivery,
    recovery: Recovery,
    /// Degree of reordering in segments.
    reordering: u32,
    usage: Usage,
    app: SendBuffer,
    pacer: Pacer,
    window_pace: WindowPace,
    phase: Phase,
    /// Whether the other end opened the connection.
    accepted: bool,
    /// SYNs sent, or SYN-ACKs where the other end opens, and when the first of them was.
    syns: u32,
    opened_at: Time,
    /// One past the last segment of less than `mss` that was sent (Linux `snd_sml`).
    small_end: u32,
    timer: Option<Timer>,
    burst: Burst,
    probe: Probe,
    /// The present limit of sending.
    limited: Limited,
    /// Bytes of payload outstanding, and how many the receiver allows.
    outstanding_bytes: u64,
    peer_window: u64,
    /// Bytes of packets that have not left the host, where the host reports departures.
    below: u64,
    /// The next new segment must carry CWR.
    cwr_due: bool,
    peer_ce: u32,
    last_sent_at: Time,
    /// Timestamp echoed by the latest ACK.
    last_echo: Time,
    /// When the receiver sent its latest packet: the timestamp to echo.
    peer_sent_at: Time,
    sent: u32,
    established_at: Option<Time>,
    completed_at: Option<Time>,
    counters: Counters,
    integrated_at: Time,
    rtts: Histogram,
}

impl Sender {
    /// A sender whose connection is not open yet.
    pub fn new(init: TcpInit, cc: Box<dyn CongestionControl>) -> Self {
        let decision = cc.decision();
        Sender {
            path: None,
            profile: init.profile,
            decision,
            cwnd: decision.cwnd,
            board: Scoreboard::new(1),
            rtt: RttEstimator::new(init.profile.rto_rules()),
            rack: Rack::default(),
            frontier: Frontier::default(),
            prr: Prr::default(),
            delivery: Delivery::default(),
            recovery: Recovery::default(),
            reordering: init.profile.dupthresh,
            usage: Usage::default(),
            app: SendBuffer::new(init.profile, init.mss, init.send_buffer),
            pacer: Pacer::default(),
            window_pace: WindowPace::unknown(init.mss),
            phase: Phase::Closed,
            accepted: false,
            syns: 0,
            opened_at: Time::ZERO,
            small_end: 0,
            timer: None,
            burst: Burst::default(),
            probe: Probe::default(),
            limited: Limited::default(),
            outstanding_bytes: 0,
            peer_window: 65_535,
            below: 0,
            cwr_due: false,
            peer_ce: 0,
            last_sent_at: Time::ZERO,
            last_echo: Time::ZERO,
            peer_sent_at: Time::ZERO,
            sent: 0,
            established_at: None,
            completed_at: None,
            counters: Counters::default(),
            integrated_at: init.now,
            rtts: Histogram::default(),
            steps: cc.follows_steps(),
            cc,
            init,
        }
    }

    /// Adopts the control's decision after a call to it.
    #[inline]
    fn consult(&mut self) {
        self.decision = self.cc.decision();
        self.app.hold(self.decision.send_windows);
        if !self.in_reduction() {
            self.cwnd = self.decision.cwnd.max(1);
        }
    }

    /// Whether proportional rate reduction sets the window.
    #[inline]
    fn in_reduction(&self) -> bool {
        matches!(self.recovery.state, CaState::Cwr | CaState::Recovery)
            && !self.decision.owns_recovery
    }
}

impl Endpoint for Sender {
    fn on_packet(&mut self, now: Time, packet: &Packet) {
        let Header::Ack(ack) = &packet.header else { return };
        self.integrate(now);
        self.peer_sent_at = ack.sent_at;
        if ack.flags.has(Flags::SYN) {
            self.on_syn_ack(now, ack);
        } else if ack.flags.has(Flags::ACK) && self.phase == Phase::Established {
            self.count_ack();
            self.on_ack(now, ack);
            self.burst.begin();
            self.end_if_complete(now);
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.next_packet(now)
    }

    #[inline]
    fn next_timeout(&self) -> Option<Time> {
        let timer = self.timer.map_or(Time::NEVER, |timer| timer.at(self.profile));
        let paced = self.burst.blocked_until.map_or(Time::NEVER, |at| at + LATENESS);
        let control = self.cc.next_timer().unwrap_or(Time::NEVER);
        let next = timer.min(paced).min(control);
        (next != Time::NEVER).then_some(next)
    }

    fn on_timeout(&mut self, now: Time) {
        self.integrate(now);
        self.on_timers(now);
    }

    fn on_departure(&mut self, now: Time, bytes: u32) {
        self.on_left(now, bytes);
    }

    fn report(&mut self, now: Time, counters: &mut FlowCounters) {
        self.count(now, counters);
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.tell(out);
    }

    fn recovery(&self) -> Option<RecoveryState> {
        Some(self.recovery_state())
    }

    fn open(&mut self, now: Time) {
        if self.phase == Phase::Closed {
            self.phase = Phase::SynDue;
            self.integrated_at = now;
        }
    }

    fn write(&mut self, now: Time, bytes: u64) {
        self.app.write(now, bytes);
        self.burst.begin();
    }

    fn close(&mut self, now: Time) {
        self.integrate(now);
        self.app.close();
        self.end_if_complete(now);
    }

    fn stop(&mut self, now: Time) {
        self.app.truncate();
        self.close(now);
    }

    fn acked(&self) -> u64 {
        self.app.acked()
    }

    fn exchanged(&self) -> Option<[u64; 2]> {
        Some([self.sent.into(), self.counters.received()])
    }

    fn unsent(&self) -> u64 {
        self.app.ahead()
    }

    fn rtt_histogram(&self) -> Option<&Histogram> {
        Some(&self.rtts)
    }

    fn end_warmup(&mut self) {
        self.rtts.clear();
    }
}
