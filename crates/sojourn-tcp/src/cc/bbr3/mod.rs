//! BBR version 3: BBR with bounds on the data in flight that it derives from loss and ECN marks.
//!
//! Model: `net/ipv4/tcp_bbr.c` of google/bbr, branch v3, at 001a430b, in its fixed point. In
//! addition to the model of bandwidth and minimum RTT there are an upper bound on what is in flight
//! (`inflight_hi`, long-term) and lower ones on bandwidth and flight (`bw_lo`, `inflight_lo`, since
//! the last probe). A round with loss outside probing multiplies the lower bounds by 0.7; a probe
//! that loses more than 2 % sets `inflight_hi` to where that began. PROBE_BW goes DOWN (0.91) until
//! 15 % of headroom below `inflight_hi` is free, CRUISEs there, REFILLs the pipe after 2-3 s (or as
//! many rounds as the flow has segments in flight, at most 63) and probes UP (1.25). STARTUP paces
//! at 2.77 and also ends when six loss events in a round show more than 2 % loss. PROBE_RTT halves
//! the flight for 200 ms when 5 s brought no lower RTT.
//!
//! ECN marks count only with `ecn_low` (there a property of the route), feedback of every mark
//! (`ecn = "dctcp"` or `"accurate"`) and a minimum RTT of at most 5 ms.
//!
//! Deviations: a loss repaired by a tail-loss probe is processed only once it is marked lost; no
//! fast path for application-limited flows (it saves work only); no load balancing by rehashing
//! (PLB); times are compared in nanoseconds; the round that a loss starts is counted from the last
//! ACK; a start after idle counts as application-limited.
//!
//! Observes: `mode` (`startup`, `drain`, `probe_bw`, `probe_rtt`), `phase` (in `probe_bw`: `up`,
//! `down`, `cruise`, `refill`), `bandwidth`, `max_bw` and `bw_lo` (Mbit/s), `inflight_hi` and
//! `inflight_lo` (segments, where there are such bounds), `min_rtt` (s), `pacing_gain`,
//! `cwnd_gain`, `rounds_since_probe`, `ecn_alpha`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bbr::SEND_WINDOWS;
use super::bbr::aggregation::Aggregation;
use super::bbr::bandwidth::{Bandwidth, UNIT};
use super::bbr::mode::Mode;
use super::bbr::pacer::Pacer;
use super::bbr::probe_rtt::ProbeRtt;
use super::{
    AckSample, CaState, CongestionControl, ControlInit, Decision, Event, INFINITE_SSTHRESH, Lost,
    Registered,
};
use crate::observe::Observer;
use crate::registry;
use crate::rng::Stream;
use crate::units::{Span, Time};

mod cwnd;
mod cycle;
mod ecn;
mod events;
mod evidence;
mod lower;
mod min_rtt;
mod model;
mod pacing;
mod phase;
mod startup;
mod state;
mod upper;

use ecn::EcnShare;
use lower::{Latest, LowerBounds};
use model::Sample;
use phase::{AckPhase, Phase};
use startup::FullBandwidth;
use upper::UpProbe;

const STARTUP_GAIN: u32 = UNIT * 277 / 100 + 1;
const STARTUP_CWND_GAIN: u32 = 2 * UNIT;
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
const CWND_GAIN: u32 = 2 * UNIT;
/// Window gain while probing up.
const UP_CWND_GAIN: u32 = CWND_GAIN + UNIT / 4;
const MIN_CWND: u32 = 4;
/// Of a larger initial window it knows this much: Linux has seven bits for it.
const MOST_INITIAL_CWND: u32 = 127;

const NOMINAL_RTT: Span = Span::from_millis(1);
/// No bound.
const UNBOUNDED: u32 = u32::MAX;

/// Parameters of BBR version 3.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Whether ECN marks on this path come from a shallow threshold: respond to their share.
    pub ecn_low: bool,
}

impl registry::Params for Params {}

/// BBR version 3.
#[derive(Debug)]
pub struct Bbr3 {
    mode: Mode,
    phase: Phase,
    ack_phase: AckPhase,
    /// Maximum of this and of the previous probing cycle.
    max_bandwidth: [Bandwidth; 2],
    lower: LowerBounds,
    undo_lower: LowerBounds,
    inflight_hi: u32,
    undo_inflight_hi: u32,
    latest: Latest,
    ecn: EcnShare,
    full: FullBandwidth,
    up: UpProbe,
    min_rtt: Span,
    min_rtt_stamp: Time,
    probe_rtt_min: Span,
    probe_rtt_min_stamp: Time,
    probe_rtt: ProbeRtt,
    seen_rtt: bool,
    next_round: u64,
    round_start: bool,
    rounds_since_probe: u32,
    cycle_start: Time,
    probe_wait: Span,
    probe_samples: bool,
    last_probe_too_high: bool,
    stopped_risky_probe: bool,
    loss_in_round: bool,
    ecn_in_round: bool,
    loss_in_cycle: bool,
    ecn_in_cycle: bool,
    aggregation: Aggregation,
    pacer: Pacer,
    pacing_gain: u32,
    cwnd_gain: u32,
    cwnd: u32,
    prior_cwnd: u32,
    initial_cwnd: u32,
    ssthresh: u32,
    prev_state: CaState,
    idle_restart: bool,
    delivered: u64,
    random: Stream,
}

impl Registered for Bbr3 {
    type Params = Params;

    fn new(params: Params, init: &ControlInit) -> Self {
        let mut bbr = Bbr3 {
            mode: Mode::Startup,
            phase: Phase::Down,
            ack_phase: AckPhase::Init,
            max_bandwidth: [Bandwidth::ZERO; 2],
            lower: LowerBounds::NONE,
            undo_lower: LowerBounds::NONE,
            inflight_hi: UNBOUNDED,
            undo_inflight_hi: UNBOUNDED,
            latest: Latest::default(),
            ecn: EcnShare::new(params.ecn_low),
            full: FullBandwidth::default(),
            up: UpProbe::default(),
            min_rtt: Span::MAX,
            min_rtt_stamp: init.now,
            probe_rtt_min: Span::MAX,
            probe_rtt_min_stamp: init.now,
            probe_rtt: ProbeRtt::default(),
            seen_rtt: false,
            next_round: 0,
            round_start: false,
            rounds_since_probe: 0,
            cycle_start: init.now,
            probe_wait: Span::ZERO,
            probe_samples: false,
            last_probe_too_high: false,
            stopped_risky_probe: false,
            loss_in_round: false,
            ecn_in_round: false,
            loss_in_cycle: false,
            ecn_in_cycle: false,
            aggregation: Aggregation::default(),
            pacer: Pacer::new(init, u32::MAX),
            pacing_gain: STARTUP_GAIN,
            cwnd_gain: STARTUP_CWND_GAIN,
            cwnd: init.initial_window,
            prior_cwnd: 0,
            initial_cwnd: init.initial_window.min(MOST_INITIAL_CWND),
            ssthresh: INFINITE_SSTHRESH,
            prev_state: CaState::Open,
            idle_restart: false,
            delivered: 0,
            random: init.random.stream(),
        };
        bbr.start_pacing(NOMINAL_RTT);
        bbr
    }
}

impl Bbr3 {
    fn see_rtt(&mut self, now: Time, ack: &AckSample) {
        if !self.seen_rtt && ack.srtt > Span::ZERO {
            self.on_established(now, ack.srtt);
        }
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        self.delivered = ack.delivered;
        self.see_rtt(now, ack);
        self.update_round(ack);
        self.ecn_in_round |= self.ecn.eligible() && ack.ece;
        let sample = self.sample(ack);
        self.update_latest(ack, &sample);
        self.update_congestion_signals(ack, &sample);
        if sample.valid {
            self.update_aggregation(now, ack);
        }
        self.check_startup_loss(ack, &sample);
        self.full.update(&sample, self.round_start);
        self.check_drain(now, ack);
        self.update_phase(now, ack, &sample);
        self.update_min_rtt(now, ack);
        self.update_gains();
        self.pace(self.pacing_gain);
        self.set_cwnd(ack);
        self.latest.advance(&sample);
        self.prev_state = ack.state;
        self.loss_in_cycle |= sample.evidence.lost > 0;
        self.ecn_in_cycle |= sample.evidence.delivered_ce > 0;
    }

    fn on_established(&mut self, now: Time, rtt: Span) {
        self.seen_rtt = true;
        let min_rtt = Span::from_micros(rtt.as_micros());
        (self.min_rtt, self.min_rtt_stamp) = (min_rtt, now);
        (self.probe_rtt_min, self.probe_rtt_min_stamp) = (min_rtt, now);
        self.start_pacing(rtt);
    }

    fn on_packet_lost(&mut self, now: Time, lost: &Lost) {
        self.note_loss(now, lost);
    }

    fn on_congestion(&mut self, now: Time, event: &Event) {
        match *event {
            Event::Loss { .. } | Event::Ecn { .. } => self.enter_recovery(),
            Event::Rto { cwnd, reduce, .. } => {
                if reduce {
                    self.enter_recovery();
                }
                self.on_timeout(cwnd);
            }
            Event::Recovered if self.prev_state == CaState::Loss => {
                self.cwnd = self.cwnd.max(self.prior_cwnd);
            }
            Event::TxStart { .. } => self.restart_after_idle(now),
            // Only before the connection is established: several SYNs were lost.
            Event::Restart { cwnd, .. } => self.cwnd = cwnd,
            Event::Recovered | Event::ReductionEnd { .. } => {}
        }
    }

    fn undo(&mut self, _now: Time) {
        self.full.restart(Bandwidth::ZERO);
        self.loss_in_round = false;
        self.lower = self.lower.max(self.undo_lower);
        self.inflight_hi = self.inflight_hi.max(self.undo_inflight_hi);
        self.cwnd = self.prior_cwnd;
    }

    fn decision(&self) -> Decision {
        Decision {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            pacing_rate: Some(self.pacer.rate()),
            burst: Some(self.pacer.goal()),
            owns_recovery: true,
            send_windows: Some(SEND_WINDOWS),
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.observe_state(out);
    }
}

#[cfg(test)]
mod tests;
