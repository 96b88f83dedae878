//! DCTCP-SCE: Reno that takes half a segment off its window for every segment acknowledged with
//! "Some Congestion Experienced".
//!
//! Model: `tcp_dctcp_sce.c` of `chromi/sce` at 9fae76b9 (Morton, Heist, Grimes; 2019). A window
//! full of SCE echoes halves the window, as a window full of CE marks does in DCTCP, but there
//! is no moving average. The window stands still where the share of marked segments is
//! `m = 2/(2 + W)`. A CE mark cuts by a quarter, or by an eighth when SCE was echoed within the last
//! window of ACKs, at the end of the sender's reduction; a loss halves. SCE never ends slow start.
//!
//! As in the source, a segment counts as 2.7 (see [`sce_window`](super::sce_window)). Deviations: none known.

use super::sce_window::SceWindow;
use super::{AckSample, CongestionControl, Decision, ControlInit, EcnMode, Event, Registered};
use crate::registry::NoParams;
use crate::units::Time;

/// DCTCP-SCE.
#[derive(Debug)]
pub struct DctcpSce {
    sce: SceWindow,
}

impl Registered for DctcpSce {
    type Params = NoParams;
    const ECN: EcnMode = EcnMode::Sce;

    fn new(_params: NoParams, init: &ControlInit) -> Self {
        DctcpSce { sce: SceWindow::new(init) }
    }
}

impl DctcpSce {
    /// The threshold never falls but by a cut.
    fn threshold(&self) -> u32 {
        (self.sce.loss_cwnd >> 1).max(2).max(self.sce.window.ssthresh)
    }

    fn cut(&mut self, log: u32) {
        self.sce.cut(log);
        self.sce.window.ssthresh = self.sce.loss_cwnd >> 1;
    }
}

impl CongestionControl for DctcpSce {
    fn on_ack(&mut self, _now: Time, ack: &AckSample) {
        if ack.esce && !ack.ece {
            let acked = self.sce.acked(ack);
            self.sce.charge(acked * i64::from(self.sce.window.cwnd) / 2);
            self.sce.window.ssthresh = self.threshold();
            self.sce.note_sce();
        } else {
            self.sce.credit(ack);
        }
        self.sce.settle();
        self.sce.slow_start(ack);
    }

    fn on_congestion(&mut self, _now: Time, event: &Event) {
        let threshold = self.threshold();
        if let Event::Rto { .. } = event {
            self.cut(1);
        }
        let kept = self.sce.window.ssthresh;
        self.sce.window.on_event(event, |_| threshold);
        match event {
            Event::ReductionEnd { .. } => self.cut(if self.sce.recent_sce() { 3 } else { 2 }),
            Event::Rto { .. } => self.sce.window.ssthresh = kept,
            _ => {}
        }
    }

    fn decision(&self) -> Decision {
        self.sce.window.decision()
    }

    fn undo(&mut self, _now: Time) {
        self.sce.window.cwnd = self.sce.window.cwnd.max(self.sce.loss_cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::sce_window::settled;

    #[test]
    fn stands_still_at_the_published_share_of_marks() {
        for window in [20.0, 100.0, 400.0] {
            let settled = settled::<DctcpSce>(NoParams::default(), 2.0 / (2.0 + window));
            assert!((settled / window - 1.0).abs() < 0.1, "{window} {settled}");
        }
    }
}
