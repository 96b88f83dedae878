//! Signed counter of acknowledged segments by which the controls that respond to "Some Congestion
//! Experienced" grow and reduce the window (`chromi/sce`, `tcp_reno_sce.c` and `tcp_dctcp_sce.c`).
//!
//! The counter holds bytes, and a full window is counted in segments of *536 bytes*: the sources
//! take the segment size from `rcv_mss`, the size of the segments that the *other* end sends, which
//! stays at its default where that end sends nothing but ACKs. An acknowledged segment therefore
//! counts as 1448/536 = 2.7 segments, for growth and for reduction alike: 2.7 times Reno's growth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::Window;
use super::{AckSample, CaState, ControlInit, Measured, SenderView};
use crate::observe::Observer;

/// Segment size that the sender assumes of its peer (`TCP_MSS_DEFAULT`), in bytes.
const PEER_MSS: i64 = 536;

/// Rule by which SCE sets the slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// Half the window, or what it was if that is more: a window that SCE has halved doubles back
    /// (`tcp_reno_sce.c` at 63982553, `tcp_dctcp_sce.c` at 9fae76b9).
    Ratchet,
    /// Half the window at the last echo (`tcp_reno_sce.c` at 07bbe597).
    Follow,
}

impl Threshold {
    /// The threshold in segments, where the window was `loss_cwnd` and the threshold `now`.
    #[inline]
    pub fn of(self, loss_cwnd: u32, now: u32) -> u32 {
        let half = (loss_cwnd >> 1).max(2);
        match self {
            Threshold::Ratchet => half.max(now),
            Threshold::Follow => half,
        }
    }
}

/// A signed counter that moves a window.
#[derive(Clone, Copy, Debug)]
pub struct SceCounter {
    /// The window before it was last reduced, or its largest since.
    pub loss_cwnd: u32,
    /// The square root of the window, one step after every step of the window: it lags after
    /// slow start, as in the sources.
    pub root: u32,
    mss: u32,
    counter: i64,
    recent: u32,
}

impl SceCounter {
    /// At the start of a connection.
    pub fn new(init: &ControlInit) -> Self {
        SceCounter { loss_cwnd: 0, root: 1, mss: init.mss, counter: 0, recent: 0 }
    }

    /// Begins with an ACK, before the reduction that it may begin or end: takes over the window in
    /// force, in a reduction the sender's. Returns the bytes attributed to it: those cumulatively
    /// acknowledged, or a segment of the peer's size for a duplicate; none for one that only
    /// changes the receiver's window.
    #[inline]
    pub fn begin(&self, window: &mut Window, ack: &Measured, view: &SenderView) -> Option<i64> {
        if matches!(view.state, CaState::Cwr | CaState::Recovery) {
            window.cwnd = view.cwnd;
        }
        match ack.cum_acked {
            0 => (!ack.window_update).then_some(PEER_MSS),
            segments => Some(i64::from(segments) * i64::from(self.mss)),
        }
    }

    /// Whether SCE was echoed within the last window of ACKs.
    #[inline]
    pub fn recent_sce(&self) -> bool {
        self.recent > 0
    }

    /// Records an SCE echo.
    #[inline]
    pub fn note_sce(&mut self, window: &Window) {
        self.recent = window.cwnd + 1;
    }

    /// Subtracts the `cost` of feedback, in bytes, from the counter.
    #[inline]
    pub fn charge(&mut self, window: &Window, cost: i64) {
        self.counter -= cost;
        self.loss_cwnd = window.cwnd;
    }

    /// An ACK of so many bytes without feedback: Reno's linear growth.
    #[inline]
    pub fn credit(&mut self, window: &Window, acked: i64, view: &SenderView) {
        if !window.in_slow_start() && view.cwnd_limited {
            self.counter += acked;
            self.loss_cwnd = self.loss_cwnd.max(window.cwnd);
        }
    }

    /// Converts a full counter into steps of the window; the last call before the reduction.
    #[inline]
    pub fn settle(&mut self, window: &mut Window) {
        let full = PEER_MSS * i64::from(window.cwnd);
        while self.counter <= -full {
            self.counter += full;
            self.step_down(window);
        }
        while self.counter >= full {
            self.counter -= full;
            self.step_up(window);
        }
        self.recent = self.recent.saturating_sub(1);
    }

    /// Slow start, where the ACK allows it.
    #[inline]
    pub fn slow_start(&mut self, window: &mut Window, ack: &AckSample) {
        if ack.may_grow && ack.cwnd_limited && window.in_slow_start() {
            let left = window.slow_start(ack.acked);
            self.counter += PEER_MSS * i64::from(left);
        }
    }

    /// Reduces the window by 1 / 2^`log` of itself, by at least one segment and to no less than
    /// two.
    pub fn cut(&mut self, window: &mut Window, log: u32) {
        let cwnd = window.cwnd;
        self.loss_cwnd = cwnd;
        self.counter = 0;
        window.cwnd = (cwnd - (cwnd >> log).max(1).min(cwnd)).max(2);
        while self.root * self.root >= window.cwnd {
            self.root -= 1;
        }
    }

    /// Reports the counter.
    pub fn observe(&self, out: &mut Observer<'_>) {
        out("sqrt_cwnd", self.root.into());
        out("ack_counter", (self.counter as f64).into());
        out("loss_cwnd", self.loss_cwnd.into());
    }

    fn step_down(&mut self, window: &mut Window) {
        if window.cwnd > 2 {
            window.cwnd -= 1;
            if self.root * self.root >= window.cwnd {
                self.root -= 1;
            }
        }
    }

    fn step_up(&mut self, window: &mut Window) {
        window.cwnd += 1;
        if self.root * self.root < window.cwnd {
            self.root += 1;
        }
    }
}

/// An ACK of a segment, which the window had held back.
#[cfg(test)]
pub fn hear(control: &mut impl super::CongestionControl, esce: bool) {
    let now = crate::units::Time::ZERO;
    let measured = Measured { cum_acked: 1, esce, ..Measured::default() };
    let view = SenderView { cwnd_limited: true, ..SenderView::default() };
    control.on_step(now, &super::Step::Measured(measured), &view);
    let (acked, cum_acked) = (1, 1);
    let sample = AckSample { acked, cum_acked, may_grow: true, ..AckSample::default() };
    control.on_ack(now, &AckSample { cwnd_limited: true, esce, ..sample });
}

/// The window on which a share `marked` of echoes settles: mean after a long time.
#[cfg(test)]
pub fn settled<C: super::Registered>(params: C::Params, marked: f64) -> f64 {
    let mut control = C::new(params, &super::testing::init());
    control.on_congestion(
        crate::units::Time::ZERO,
        &super::Event::Rto { in_flight: 0, cwnd: 10, reduce: true },
    );
    let (mut echoes, mut sum) = (0.0, 0.0);
    for i in 1..=4_000_000 {
        let esce = f64::from(i) * marked > echoes + 1.0;
        echoes += f64::from(u8::from(esce));
        hear(&mut control, esce);
        if i > 2_000_000 {
            sum += f64::from(control.decision().cwnd);
        }
    }
    sum / 2_000_000.0
}
