//! Copa: steers the sending rate to `1/(delta x queueing delay)`, which keeps about `1/delta`
//! packets of each flow in the queue.
//!
//! Model: Arun and Balakrishnan, "Copa: Practical delay-based congestion control for the
//! Internet", NSDI 2018, and SLIQ's variant (raytheonbbn/IRON `iron/sliq/src/sliq_cc_copa3.cc`).
//! The queueing delay is the standing RTT (the least of the last half smoothed RTT) less the
//! minimum RTT. On each acknowledged segment the window moves by `v/(delta W)` toward the target;
//! the velocity `v` doubles every round trip once the direction has been the same for three, and
//! is 1 otherwise. Slow start doubles the window until the rate exceeds the target.
//!
//! | | `nsdi18` (default) | `sliq` |
//! | --- | --- | --- |
//! | minimum RTT over | 10 s | 28 minimum RTTs, at least 0.8 s |
//! | initial window | the stack's | 3 segments |
//! | pacing | twice the window per standing RTT | once |
//! | velocity at most | `delta W` (genericCC) | `delta W` |
//! | change of direction | evaluated once per round trip | resets `v` at once |
//! | against buffer fillers | competitive mode: `1/delta` grows by 1 per round trip and halves on loss, while the queue was not nearly empty for 5 round trips | none |
//! | long queues | - | damper: after more than 40 packets queued, the window of the time is taken and held when fewer than `1/delta` are |
//! | RTTs | as measured | less the time that an ACK took longer than the fastest one of the last 7 minimum RTTs (at least 0.2 s) |
//! | growth | while the window limits | while half the window is in flight (below 16 segments always) |
//! | loss | only in competitive mode; a timeout restarts slow start | ignored |
//!
//! Deviations: windowed minima are those of [`super::filter`]. From SLIQ: segments take the place
//! of its nominal 1000-byte packets; the return delay of an ACK is known from TCP's timestamps
//! only, and not corrected for under other transports. What a TCP receiver does not report is left
//! out: there is no packet-pair start for paths above 50 ms (SLIQ's receiver says how far apart the
//! two of a pair arrived), and the two ends do not exchange their minimum RTTs. A SLIQ flow's
//! `copa` has both.
//!
//! Observes: `delta`, `velocity`, `direction` (`up`, `down`, `neither`), with mode switching `mode`
//! (`default`, `competitive`); `queueing_delay`, `standing_rtt` and `min_rtt` (s).

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::filter::MaxFilter;
use super::{
    AckSample, CongestionControl, ControlInit, Decision, Event, INFINITE_SSTHRESH, Registered,
    SenderView, Sent, Step,
};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::units::{Rate, Span, Time};

mod competitive;
mod damper;
mod rtts;
mod velocity;
mod way_back;

use competitive::Competitive;
use damper::Damper;
pub use velocity::Velocity;
use way_back::WayBack;

/// Smallest corrected RTT.
const LEAST_RTT: Span = Span::from_micros(20);
const SLIQ_INITIAL_WINDOW: f64 = 3.0;
const MIN_WINDOW: f64 = 2.0;
const MAX_WINDOW: f64 = 32_768.0;
/// SLIQ's window below which it always grows.
const SLIQ_SMALL_WINDOW: f64 = 16.0;

/// Published version to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Version {
    /// The paper's.
    #[default]
    Nsdi18,
    /// SLIQ's third.
    Sliq,
}

/// Parameters of Copa.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version to follow: `nsdi18` or `sliq`.
    pub version: Version,
    /// The reciprocal of the packets to keep in the queue.
    pub delta: f64,
    /// Whether to compete with flows that fill the buffer (`nsdi18` only).
    pub mode_switching: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params { version: Version::Nsdi18, delta: 0.5, mode_switching: true }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.delta > 0.0 && self.delta <= 1.0 {
            return Ok(());
        }
        Err(FieldError::new("delta", format!("{} is not above 0 and at most 1", self.delta)))
    }
}

/// Copa.
#[derive(Debug)]
pub struct Copa {
    version: Version,
    delta: f64,
    mss: u32,
    /// Window in segments.
    window: f64,
    slow_start: bool,
    velocity: Velocity,
    srtt: Span,
    standing: MaxFilter<Reverse<Span>>,
    min_rtt: MaxFilter<Reverse<Span>>,
    competitive: Option<Competitive>,
    damper: Option<Damper>,
    way_back: Option<WayBack>,
}

impl Registered for Copa {
    type Params = Params;

    fn new(params: Params, init: &ControlInit) -> Self {
        let sliq = params.version == Version::Sliq;
        let unknown = MaxFilter::new(init.now.as_nanos(), Reverse(Span::MAX));
        Copa {
            version: params.version,
            delta: params.delta,
            mss: init.mss,
            window: if sliq { SLIQ_INITIAL_WINDOW } else { f64::from(init.initial_window) },
            slow_start: true,
            velocity: Velocity::default(),
            srtt: Span::ZERO,
            standing: unknown,
            min_rtt: unknown,
            competitive: (!sliq && params.mode_switching)
                .then(|| Competitive::new(params.delta, init.now)),
            damper: sliq.then(Damper::default),
            way_back: sliq.then(|| WayBack::new(init.now)),
        }
    }
}

impl Copa {
    /// Whether enough of the window is used for it to grow.
    fn used(&self, ack: &AckSample) -> bool {
        match self.version {
            Version::Nsdi18 => ack.cwnd_limited,
            Version::Sliq => {
                self.window < SLIQ_SMALL_WINDOW || f64::from(ack.in_flight) >= self.window / 2.0
            }
        }
    }

    fn steer(&mut self, ack: &AckSample) {
        let increase = self.may_increase();
        if self.slow_start {
            if self.used(ack) {
                self.window += f64::from(ack.acked);
            }
            self.slow_start = increase;
            return;
        }
        let packets_queued =
            self.queueing_delay().as_secs_f64() * self.window / self.standing_rtt().as_secs_f64();
        if let Some(damper) = &mut self.damper {
            if let Some(window) = damper.on_ack(ack.una, packets_queued, self.delta) {
                self.window = window;
                self.velocity.reset(ack.next.into(), self.window, increase);
            }
            if damper.holds() {
                return;
            }
        }
        let at_once = self.version == Version::Sliq;
        let most = (self.delta * self.window) as u32;
        let (over, next) = (u64::from(ack.una) > self.velocity.end(), ack.next.into());
        let velocity = self.velocity.update(over, next, self.window, increase, at_once, most);
        let step = f64::from(velocity) * f64::from(ack.acked) / (self.delta * self.window);
        if !increase {
            self.window -= step;
        } else if self.used(ack) {
            self.window += step;
        }
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            let late = self.way_back.map_or(Span::ZERO, |back| back.late());
            self.measure(now, (rtt - late).max(LEAST_RTT), ack);
        }
        if self.min_rtt.get().0 == Span::MAX || ack.acked == 0 {
            return;
        }
        let queueing_delay = self.queueing_delay();
        if let (Some(competitive), Some(rtt)) = (&mut self.competitive, ack.rtt) {
            let min_rtt = self.min_rtt.get().0;
            self.delta = competitive.on_ack(now, ack, rtt, min_rtt, queueing_delay);
        }
        self.steer(ack);
        self.window = self.window.clamp(MIN_WINDOW, MAX_WINDOW);
    }

    fn on_congestion(&mut self, _now: Time, event: &Event) {
        match (*event, self.version) {
            (Event::Loss { .. }, _) => {
                if let Some(competitive) = &mut self.competitive {
                    competitive.on_loss();
                }
            }
            (Event::Rto { .. }, Version::Nsdi18) => {
                self.window = MIN_WINDOW;
                self.slow_start = true;
            }
            _ => {}
        }
    }

    fn decision(&self) -> Decision {
        let standing = self.standing_rtt();
        let windows = if self.version == Version::Nsdi18 { 2.0 } else { 1.0 };
        let rate = |standing: Span| {
            let bits = windows * self.window * f64::from(self.mss) * 8.0;
            Rate::from_bps(((bits / standing.as_secs_f64()) as u64).max(1))
        };
        Decision {
            cwnd: self.window as u32,
            ssthresh: INFINITE_SSTHRESH,
            pacing_rate: (standing < Span::MAX && standing > Span::ZERO).then(|| rate(standing)),
            owns_recovery: true,
            ..Decision::default()
        }
    }

    fn on_sent(&mut self, _now: Time, sent: &Sent) {
        if let Some(damper) = &mut self.damper {
            damper.on_sent(sent.seq, self.window);
        }
    }

    fn follows_steps(&self) -> bool {
        self.way_back.is_some()
    }

    fn on_step(&mut self, now: Time, step: &Step, view: &SenderView) {
        let least = Some(self.min_rtt.get().0).filter(|&rtt| rtt < Span::MAX);
        if let (Some(back), Step::Measured(_)) = (&mut self.way_back, step) {
            back.on_ack(now, now.since(view.peer_sent_at), least);
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        out("delta", self.delta.into());
        out("velocity", self.velocity.value().into());
        out("direction", self.velocity.direction().into());
        if let Some(competitive) = &self.competitive {
            out("mode", competitive.mode().into());
        }
        if self.min_rtt.get().0 < Span::MAX {
            out("queueing_delay", self.queueing_delay().as_secs_f64().into());
            out("standing_rtt", self.standing_rtt().as_secs_f64().into());
            out("min_rtt", self.min_rtt.get().0.as_secs_f64().into());
        }
    }
}

#[cfg(test)]
mod tests;
