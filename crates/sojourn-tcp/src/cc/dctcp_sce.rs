//! DCTCP-SCE: Reno that reduces its window by half a segment for every segment acknowledged with
//! "Some Congestion Experienced" (SCE).
//!
//! Model: `tcp_dctcp_sce.c` of `chromi/sce` at 9fae76b9 (Morton, Heist, Grimes; 2019). A window
//! full of SCE echoes halves the window, as a window full of CE marks does in DCTCP, but there is
//! no moving average. The window is in equilibrium where the share of marked segments is
//! `m = 2/(2 + W)`. A CE mark cuts by a quarter, or by an eighth when SCE was echoed within the
//! last window of ACKs, at the end of the sender's reduction; a loss halves. SCE never ends slow
//! start.
//!
//! As in the source, a segment counts as 2.7 (see [`sce_window`](super::sce_window)).
//!
//! Deviations: none known.
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

/// Parameters of DCTCP-SCE.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Rule by which SCE sets the slow-start threshold.
    pub threshold: Threshold,
}

impl Default for Params {
    fn default() -> Self {
        Params { threshold: Threshold::Ratchet }
    }
}

impl crate::registry::Params for Params {}

/// DCTCP-SCE.
pub type DctcpSce = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    threshold: Threshold,
    sce: SceCounter,
}

impl Law {
    fn threshold(&self, window: &Window) -> u32 {
        self.threshold.of(self.sce.loss_cwnd, window.ssthresh)
    }

    fn cut(&mut self, window: &mut Window, log: u32) {
        self.sce.cut(window, log);
        window.ssthresh = self.sce.loss_cwnd >> 1;
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const ECN: EcnMode = EcnMode::Sce;
    const STEPS: bool = true;

    fn new(params: Params, init: &ControlInit) -> Self {
        Law { threshold: params.threshold, sce: SceCounter::new(init) }
    }

    fn on_measured(&mut self, window: &mut Window, _now: Time, ack: &Measured, view: &SenderView) {
        let Some(acked) = self.sce.begin(window, ack, view) else { return };
        if ack.esce && !ack.ece {
            self.sce.charge(window, acked * i64::from(window.cwnd) / 2);
            window.ssthresh = self.threshold(window);
            self.sce.note_sce(window);
        } else {
            self.sce.credit(window, acked, view);
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
            self.cut(window, 1);
        }
        let kept = window.ssthresh;
        window.on_event(event, |_| threshold);
        match event {
            Event::ReductionEnd { .. } => {
                self.cut(window, if self.sce.recent_sce() { 3 } else { 2 })
            }
            Event::Rto { .. } => window.ssthresh = kept,
            _ => {}
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
    use super::*;
    use crate::cc::sce_window::settled;

    #[test]
    fn stands_still_at_the_published_share_of_marks() {
        for window in [20.0, 100.0, 400.0] {
            let settled = settled::<DctcpSce>(Params::default(), 2.0 / (2.0 + window));
            assert!((settled / window - 1.0).abs() < 0.1, "{window} {settled}");
        }
    }
}
