//! BBR version 1: paces at the measured bottleneck bandwidth, with a window of twice the
//! bandwidth-delay product.
//!
//! Model: Linux `net/ipv4/tcp_bbr.c` (Cardwell et al., ACM Queue 14(5), 2016), in its fixed point.
//! The bandwidth is the maximum of delivery-rate samples over 10 rounds, the propagation delay the
//! minimum RTT over 10 s. STARTUP paces at 2.89 times the bandwidth until three rounds bring less
//! than 25 % more; DRAIN empties the queue; PROBE_BW cycles the gains 5/4, 3/4, 1 (six times), a
//! minimum RTT each; PROBE_RTT holds four segments for 200 ms whenever the minimum RTT is 10 s old.
//! Recovery conserves packets for a round and then returns to the old window; two intervals of
//! similar throughput with 20 % loss indicate a policer, whose rate is then used for 48 rounds.
//!
//! Versions:
//!
//! | `version` | pacing | window |
//! | --- | --- | --- |
//! | `linux-6` (default) | 1 % below the estimate | adds the excess of aggregated ACKs (over 5-10 rounds, at most 100 ms' worth), and judges what is in flight at the next departure |
//! | `linux-4.9` | at the estimate | neither; on Wi-Fi without offload its bursts are of one segment; a delayed ACK, or one of equal RTT, may renew the minimum RTT, and an undo changes nothing |
//!
//! In `linux-4.9` TCP has no pacing of its own, so without the `fq` host queue only the window
//! limits the sender.
//!
//! Times are compared as in the kernel: phases and epochs in microseconds, the age of the minimum RTT
//! and the length of a policer's interval in ticks of 1 ms (HZ = 1000), in `linux-4.9` of 4 ms.
//!
//! Deviations from Linux: a round of the delivery clock includes losses marked up to its ACK; a start
//! after idle counts as application-limited.
//!
//! Observes: `mode` (`startup`, `drain`, `probe_bw`, `probe_rtt`), `cycle_index` (in `probe_bw`),
//! `bandwidth` and the policed `lt_bw` (Mbit/s), `min_rtt` (s), `pacing_gain`, `cwnd_gain`,
//! `round_count`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filter::MaxFilter;
use super::{
    AckSample, CaState, CongestionControl, ControlInit, Decision, Event, INFINITE_SSTHRESH, Lost,
    Registered,
};
use crate::observe::Observer;
use crate::registry;
use crate::rng::Stream;
use crate::spec::Stack;
use crate::units::{Span, Time};

pub mod aggregation;
pub mod bandwidth;
mod cwnd;
mod cycle;
pub mod mode;
mod model;
pub mod pacer;
mod pacing;
mod policer;
pub mod probe_rtt;
mod state;

use aggregation::Aggregation;
use bandwidth::{Bandwidth, UNIT};
use cycle::FullPipe;
use mode::Mode;
use pacer::Pacer;
use policer::Policer;
use probe_rtt::ProbeRtt;

/// 2/ln 2: doubles the rate every round, as slow start does.
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;

/// Smallest window in segments.
const MIN_CWND: u32 = 4;
/// Size of the send buffer in windows (`bbr_sndbuf_expand`), which leaves room for SACKed data.
pub const SEND_WINDOWS: u32 = 3;
/// Linux's initial window, whatever the connection's.
const INITIAL_CWND: u32 = 10;
/// Below this rate in bit/s bursts are single segments.
const MIN_TSO_RATE: u64 = 1_200_000;
/// RTT assumed before the first sample.
const NOMINAL_RTT: Span = Span::from_millis(1);

/// Kernel version to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// The present one.
    Linux6,
    /// As first deployed, without pacing margin and aggregation estimate.
    Linux49,
}

impl From<Stack> for Version {
    fn from(stack: Stack) -> Self {
        if stack == Stack::Linux49 { Version::Linux49 } else { Version::Linux6 }
    }
}

/// Parameters of BBR version 1.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Kernel version to follow: `linux-4.9`, or the present one, which 5.1 has too. Default: the
    /// flow's `stack`.
    pub version: Stack,
}

impl registry::Params for Params {}

/// BBR version 1.
#[derive(Debug)]
pub struct Bbr {
    version: Version,
    mode: Mode,
    max_bandwidth: MaxFilter<Bandwidth>,
    min_rtt: Span,
    min_rtt_stamp: Time,
    seen_rtt: bool,
    rounds: u64,
    next_round: u64,
    round_start: bool,
    full_pipe: FullPipe,
    phase: usize,
    phase_start: Time,
    probe_rtt: ProbeRtt,
    policer: Policer,
    aggregation: Aggregation,
    pacer: Pacer,
    pacing_gain: u32,
    cwnd_gain: u32,
    cwnd: u32,
    prior_cwnd: u32,
    ssthresh: u32,
    prev_state: CaState,
    packet_conservation: bool,
    idle_restart: bool,
    last_ack: Time,
    delivered: u64,
    lost: u64,
    random: Stream,
}

impl Registered for Bbr {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;

    fn new(params: Params, init: &ControlInit) -> Self {
        let version: Version = params.version.into();
        // Later kernels segment bursts themselves for devices that cannot.
        let single = version == Version::Linux49 && !init.offload;
        let largest = if single { 1 } else { u32::MAX };
        let mut bbr = Bbr {
            version,
            mode: Mode::Startup,
            max_bandwidth: MaxFilter::new(0, Bandwidth::ZERO),
            min_rtt: Span::MAX,
            min_rtt_stamp: init.now,
            seen_rtt: false,
            rounds: 0,
            next_round: 0,
            round_start: false,
            full_pipe: FullPipe::default(),
            phase: 0,
            phase_start: init.now,
            probe_rtt: ProbeRtt::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            pacer: Pacer::new(init, largest),
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            cwnd: init.initial_window,
            prior_cwnd: 0,
            ssthresh: INFINITE_SSTHRESH,
            prev_state: CaState::Open,
            packet_conservation: false,
            idle_restart: false,
            last_ack: init.now,
            delivered: 0,
            lost: 0,
            random: init.random.stream(),
        };
        bbr.start_pacing(NOMINAL_RTT);
        bbr
    }
}

impl Bbr {
    /// The first RTT sample replaces the nominal RTT.
    fn see_rtt(&mut self, now: Time, ack: &AckSample) {
        if !self.seen_rtt && ack.srtt > Span::ZERO {
            self.on_established(now, ack.srtt);
            self.min_rtt = ack.min_rtt;
        }
    }

    fn on_timeout(&mut self, cwnd: u32) {
        self.cwnd = cwnd;
        self.prev_state = CaState::Loss;
        self.full_pipe.forget_bandwidth();
        self.round_start = true;
        self.look_for_policer(self.last_ack, true, false);
    }

    fn restart_after_idle(&mut self, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now.in_micros());
        match self.mode {
            Mode::ProbeBw => self.pace(UNIT),
            Mode::ProbeRtt if self.version == Version::Linux6 => self.check_probe_rtt_done(now),
            _ => {}
        }
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        self.last_ack = now;
        self.delivered = ack.delivered;
        self.lost = ack.total_lost;
        self.see_rtt(now, ack);
        let app_limited = ack.rate.app_limited || self.probe_rtt.limited(ack.rate.prior_delivered);
        self.update_bandwidth(now, ack, app_limited);
        self.update_phase(now, ack);
        self.check_full_pipe(app_limited);
        self.check_drain(now, ack);
        self.update_min_rtt(now, ack);
        self.update_gains();
        self.pace(self.pacing_gain);
        self.set_cwnd(ack);
    }

    fn on_established(&mut self, now: Time, rtt: Span) {
        self.seen_rtt = true;
        self.min_rtt = Span::from_micros(rtt.as_micros());
        self.min_rtt_stamp = self.ticks(now);
        self.start_pacing(rtt);
    }

    fn on_packet_lost(&mut self, _now: Time, lost: &Lost) {
        self.lost = lost.total_lost;
    }

    fn on_congestion(&mut self, now: Time, event: &Event) {
        match *event {
            Event::Loss { .. } | Event::Ecn { .. } => self.save_cwnd(),
            Event::Rto { cwnd, reduce, .. } => {
                if reduce {
                    self.save_cwnd();
                }
                self.on_timeout(cwnd);
            }
            Event::TxStart { .. } => self.restart_after_idle(now),
            // Only before the connection is established: several SYNs were lost.
            Event::Restart { cwnd, .. } => self.cwnd = cwnd,
            Event::ReductionEnd { .. } | Event::Recovered => {}
        }
    }

    fn undo(&mut self, _now: Time) {
        if self.version == Version::Linux6 {
            self.full_pipe.restart();
            self.policer.reset();
        }
    }

    fn decision(&self) -> Decision {
        let low_rate = self.pacer.rate().as_bps() < MIN_TSO_RATE;
        Decision {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            pacing_rate: Some(self.pacer.rate()),
            burst: match self.version {
                Version::Linux6 => low_rate.then_some(1),
                Version::Linux49 => Some(self.pacer.goal()),
            },
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
