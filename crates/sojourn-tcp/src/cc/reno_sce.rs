//! Reno-SCE: NewReno that reduces the window by its square root for a window full of "Some
//! Congestion Experienced" (SCE).
//!
//! Model: `tcp_reno_sce.c` of `chromi/sce` (Morton, Heist, Grimes; 2019). An ACK with SCE echo
//! subtracts `acked x sqrt(W)` from a signed counter, any other ACK adds `acked`; the window moves
//! by one when the counter reaches a window. The window is thus in equilibrium where the share of
//! marked segments is `m = 1/(1 + sqrt W)` (version A). A CE mark cuts by a quarter, or by an
//! eighth when SCE was echoed within the last window of ACKs; a loss halves.
//!
//! | `version` | commit | SCE | CE | slow start |
//! | --- | --- | --- | --- | --- |
//! | `a` (default) | 63982553 | `sqrt W` per window | cut at the end of the window reduction | SCE never ends it: the threshold does not fall |
//! | `b` | 07bbe597 | half as much, `m = 1/(1 + sqrt(W)/2)` | W/4 or W/8 spread over the round | SCE ends it: the threshold becomes W/2 |
//!
//! As in the sources, a segment counts as 2.7 (see [`sce_window`](super::sce_window)), the square root
//! follows the window one step at a time and lags after slow start, and the sender's own window
//! reduction after a CE mark (to the threshold) comes on top of the cuts above. Deviations: none
//! known.
//!
//! Observes: `ack_counter` (bytes), the signed counter that moves the window; `sqrt_cwnd`, the root
//! of the window that follows it; `loss_cwnd` (segments), the window before the last reduction, or
//! the largest since.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::sce_window::{SceCounter, Threshold};
use super::window::Window;
use super::{AckSample, ControlInit, EcnMode, Event, Measured, SenderView};
use crate::observe::Observer;
use crate::units::Time;

/// Published version of the algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Version {
    /// The full square root, CE at the end of the reduction.
    #[default]
    A,
    /// Half of it, CE spread over the round.
    B,
}

/// Parameters of Reno-SCE.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The published version: `a` or `b`.
    pub version: Version,
    /// Rule by which SCE sets the slow-start threshold. Default: `ratchet` in version `a`, `follow`
    /// in `b`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
}

impl crate::registry::Params for Params {}

/// Reno-SCE.
pub type RenoSce = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    version: Version,
    threshold: Threshold,
    sce: SceCounter,
}

impl Law {
    fn threshold(&self, window: &Window) -> u32 {
        self.threshold.of(self.sce.loss_cwnd, window.ssthresh)
    }

    /// Bytes to subtract from the counter for the feedback of an ACK of so many bytes, if it asks
    /// for a response.
    fn cost(&self, window: &Window, ack: &Measured, acked: i64) -> Option<i64> {
        let root = i64::from(self.sce.root);
        match self.version {
            Version::A if ack.esce && !ack.ece => Some(acked * root),
            Version::B if ack.esce => Some(acked * root / 2),
            Version::B if ack.ece => {
                let share = if self.sce.recent_sce() { 8 } else { 4 };
                Some(acked * i64::from(window.cwnd) / share)
            }
            _ => None,
        }
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const ECN: EcnMode = EcnMode::Sce;
    const STEPS: bool = true;

    fn new(params: Params, init: &ControlInit) -> Self {
        let threshold = params.threshold.unwrap_or(match params.version {
            Version::A => Threshold::Ratchet,
            Version::B => Threshold::Follow,
        });
        Law { version: params.version, threshold, sce: SceCounter::new(init) }
    }

    fn on_measured(&mut self, window: &mut Window, _now: Time, ack: &Measured, view: &SenderView) {
        let Some(acked) = self.sce.begin(window, ack, view) else { return };
        match self.cost(window, ack, acked) {
            Some(cost) => {
                self.sce.charge(window, cost);
                window.ssthresh = self.threshold(window);
                if ack.esce {
                    self.sce.note_sce(window);
                }
            }
            None => self.sce.credit(window, acked, view),
        }
        self.sce.settle(window);
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        self.sce.slow_start(window, ack);
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        self.threshold(window)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        let threshold = self.ssthresh(window, now, event);
        if let Event::Rto { .. } = event {
            self.sce.cut(window, 1);
        }
        window.on_event(event, |_| threshold);
        if self.version == Version::A {
            match event {
                Event::ReductionEnd { .. } => {
                    self.sce.cut(window, if self.sce.recent_sce() { 3 } else { 2 });
                    window.ssthresh = self.sce.loss_cwnd >> 1;
                }
                Event::Rto { .. } => window.ssthresh = self.sce.loss_cwnd >> 1,
                _ => {}
            }
        }
    }

    fn undo(&mut self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.sce.loss_cwnd);
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        self.sce.observe(out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::init;
    use super::*;
    use crate::cc::INFINITE_SSTHRESH;
    use crate::cc::sce_window::{hear, settled};
    use crate::cc::{CongestionControl, Registered};

    #[test]
    fn stands_still_at_the_published_share_of_marks() {
        for root in [5.0_f64, 10.0, 20.0] {
            for (version, factor) in [(Version::A, 1.0), (Version::B, 0.5)] {
                let marked = 1.0 / (1.0 + factor * root);
                // The integer root is the same from (root - 1)^2 to root^2.
                let settled =
                    settled::<RenoSce>(Params { version, threshold: None }, marked).sqrt();
                assert!(
                    (root - 1.0..=root + 0.1).contains(&settled),
                    "{version:?} {root} {settled}"
                );
            }
        }
    }

    #[test]
    fn sce_ends_slow_start_only_in_version_b() {
        for (version, ssthresh) in [(Version::A, INFINITE_SSTHRESH), (Version::B, 5)] {
            let mut control = RenoSce::new(Params { version, threshold: None }, &init());
            hear(&mut control, true);
            assert_eq!(control.decision().ssthresh, ssthresh);
        }
    }

    #[test]
    fn a_mark_cuts_less_after_sce() {
        let cut = |esce| {
            let mut control = RenoSce::new(Params::default(), &init());
            control.window.cwnd = 80;
            hear(&mut control, esce);
            control.on_congestion(Time::ZERO, &Event::Ecn { in_flight: 80 });
            control.on_congestion(Time::ZERO, &Event::ReductionEnd { cwnd: 80 });
            control.decision().cwnd
        };
        assert_eq!((cut(false), cut(true)), (60, 70));
    }
}
