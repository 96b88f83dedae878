//! DCTCP: Reno that cuts its window in proportion to the share of marked segments.
//!
//! Model: RFC 8257 and Linux `net/ipv4/tcp_dctcp.c`. Once per window the moving average `alpha`
//! of the marked share is updated with gain 1/16, in 1/1024; a mark cuts the window by
//! `alpha / 2`, once per window, and a loss halves it. `alpha` starts at 1, so that the first mark
//! halves the window. Growth is Reno's. `alpha` is updated before the echo of the same ACK begins a
//! reduction, as in Linux.
//!
//! | `version` | marked share |
//! | --- | --- |
//! | `linux-6` (default) | segments delivered with a mark of all delivered |
//! | `linux-5.1` | of the segments that the cumulative acknowledgment covers, those acknowledged with ECE; a duplicate ACK counts as one segment |
//!
//! The receiver generates the echo, and Linux chooses its form by the receiver's own control: where
//! that is not DCTCP (`ecn = "classic"`), every ACK from a mark until the sender's response carries
//! it, for a whole round trip.
//!
//! Deviations from RFC 8257, all of them Linux's: where the gain rounds the decrease to zero,
//! `alpha` falls to 0 (from below 16/1024); a loss halves even a window that a mark is reducing;
//! the threshold is taken from the window, not from the data in flight, and is at least 2.
//!
//! Observes: `alpha`, from 0 to 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, CaState, ControlInit, EcnMode, Event, Measured, SenderView};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::spec::Stack;
use crate::units::Time;

/// The value 1 of `alpha` in fixed point.
const ONE: u32 = 1024;
const ONE_SHIFT: u32 = 10;

/// Measure of the marked share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// By delivered segments.
    Linux6,
    /// By acknowledged bytes, as in Linux until 2020.
    Linux51,
}

impl From<Stack> for Version {
    fn from(stack: Stack) -> Self {
        match stack {
            Stack::Linux49 | Stack::Linux51 => Version::Linux51,
            _ => Version::Linux6,
        }
    }
}

/// Parameters of DCTCP.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version of the algorithm: until 2020 it counted acknowledged bytes, since then delivered
    /// segments. Default: the flow's `stack`.
    pub version: Stack,
    /// The gain of `alpha` is one half to this power, at most 10.
    pub shift_g: u32,
    /// `alpha` of a new connection, from 0 to 1.
    pub initial_alpha: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params { version: Stack::Linux6, shift_g: 4, initial_alpha: 1.0 }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.shift_g > ONE_SHIFT {
            let why = format!("{} is above {ONE_SHIFT}", self.shift_g);
            return Err(FieldError::new("shift_g", why));
        }
        if !(0.0..=1.0).contains(&self.initial_alpha) {
            let why = format!("{} is not between 0 and 1", self.initial_alpha);
            return Err(FieldError::new("initial_alpha", why));
        }
        Ok(())
    }
}

/// DCTCP.
pub type Dctcp = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    version: Version,
    shift_g: u32,
    alpha: u32,
    /// Counts since the connection began.
    acked: u32,
    marked: u32,
    /// The counts when this window of data began, and the segment that ends it.
    window_acked: u32,
    window_marked: u32,
    window_end: u32,
}

impl Law {
    fn count(&mut self, ack: &Measured, view: &SenderView) {
        match self.version {
            Version::Linux6 => (self.acked, self.marked) = (view.delivered, view.delivered_ce),
            Version::Linux51 => {
                let acked = ack.cum_acked.max(1);
                self.acked += acked;
                self.marked += if ack.ece { acked } else { 0 };
            }
        }
    }

    fn update_alpha(&mut self, view: &SenderView) {
        if view.una < self.window_end {
            return;
        }
        let marked = u64::from(self.marked - self.window_marked);
        let decay = self.alpha >> self.shift_g;
        self.alpha -= if decay > 0 { decay } else { self.alpha };
        if marked > 0 {
            let acked = u64::from(self.acked - self.window_acked).max(1);
            let gained = (marked << (ONE_SHIFT - self.shift_g)) / acked;
            self.alpha = (self.alpha + gained as u32).min(ONE);
        }
        self.window_acked = self.acked;
        self.window_marked = self.marked;
        self.window_end = view.next;
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;
    const KEEPS_WINDOW: bool = true;
    const ECN: EcnMode = EcnMode::Dctcp;
    const STEPS: bool = true;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law {
            version: params.version.into(),
            shift_g: params.shift_g,
            alpha: (params.initial_alpha * f64::from(ONE)) as u32,
            acked: 0,
            marked: 0,
            window_acked: 0,
            window_marked: 0,
            window_end: 0,
        }
    }

    fn on_measured(
        &mut self,
        _window: &mut Window,
        _now: Time,
        measured: &Measured,
        view: &SenderView,
    ) {
        self.count(measured, view);
        self.update_alpha(view);
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        if ack.may_grow && ack.cwnd_limited {
            window.reno_growth(ack.acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, event: &Event) -> u32 {
        let left = match event {
            Event::Ecn { .. } => {
                let cut = (u64::from(window.cwnd) * u64::from(self.alpha)) >> (ONE_SHIFT + 1);
                window.cwnd - cut as u32
            }
            _ => window.cwnd / 2,
        };
        left.max(2)
    }

    fn on_state(&mut self, window: &mut Window, next: CaState, view: &SenderView) {
        if next == CaState::Recovery && view.state == CaState::Cwr {
            window.ssthresh = (view.cwnd / 2).max(2);
        }
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        out("alpha", (f64::from(self.alpha) / f64::from(ONE)).into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bottleneck, control, init, show};
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::{Registered, Step};
    use crate::packet::Ecn;

    /// `alpha` after windows of 100 segments of which `marked` carry a mark.
    fn alpha(version: Stack, windows: u32, marked: u32) -> f64 {
        let mut dctcp = Dctcp::new(Params { version, ..Params::default() }, &init());
        for i in 0..windows * 100 {
            let ece = i % 100 < marked;
            let view = SenderView {
                una: i + 1,
                next: i + 101,
                delivered: i + 1,
                delivered_ce: i / 100 * marked + (i % 100 + 1).min(marked),
                ..SenderView::default()
            };
            let measured = Measured { cum_acked: 1, ece, ..Measured::default() };
            show(&mut dctcp, Time::ZERO, measured, &view);
        }
        f64::from(dctcp.law.alpha) / f64::from(ONE)
    }

    #[test]
    fn alpha_converges_to_the_marked_share() {
        for version in [Stack::Linux6, Stack::Linux51] {
            for marked in [10, 30, 70, 100] {
                let alpha = alpha(version, 200, marked);
                // In integer arithmetic the average settles within 16/1024 of the share.
                let share = f64::from(marked) / 100.0;
                assert!((alpha - share).abs() <= 16.0 / 1024.0, "{version:?} {share} {alpha}");
            }
            assert_eq!(alpha(version, 200, 0), 0.0);
        }
    }

    #[test]
    fn alpha_decays_by_a_sixteenth_per_window() {
        let expected = (1.0 - 1.0 / 16.0_f64).powi(16);
        let alpha = alpha(Stack::Linux6, 16, 0);
        assert!((alpha - expected).abs() < 0.01, "{alpha} {expected}");
    }

    /// Below 16/1024 the gain of 1/16 rounds the decrease to zero.
    #[test]
    fn a_small_alpha_vanishes() {
        let mut dctcp = Dctcp::new(Params::default(), &init());
        for (before, after) in [(17, 16), (16, 15), (15, 0)] {
            dctcp.law.alpha = before;
            dctcp.law.update_alpha(&SenderView { una: u32::MAX, ..SenderView::default() });
            assert_eq!(dctcp.law.alpha, after);
        }
    }

    #[test]
    fn a_loss_halves_the_window_that_a_mark_is_reducing() {
        let mut dctcp = Dctcp::new(Params { initial_alpha: 0.1, ..Params::default() }, &init());
        dctcp.window.cwnd = 100;
        dctcp.on_congestion(Time::ZERO, &Event::Ecn { in_flight: 100 });
        assert_eq!(dctcp.window.ssthresh, 96);
        let view = SenderView { state: CaState::Cwr, cwnd: 98, ..SenderView::default() };
        dctcp.on_step(Time::ZERO, &Step::State(CaState::Recovery), &view);
        assert_eq!(dctcp.window.ssthresh, 49);
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha_and_a_loss_halves() {
        let cut = |alpha, event: Event| {
            let mut dctcp = Dctcp::new(Params::default(), &init());
            dctcp.window.cwnd = 100;
            dctcp.law.alpha = alpha;
            dctcp.on_congestion(Time::ZERO, &event);
            dctcp.window.ssthresh
        };
        assert_eq!(cut(ONE, Event::Ecn { in_flight: 100 }), 50);
        assert_eq!(cut(ONE / 4, Event::Ecn { in_flight: 100 }), 88);
        assert_eq!(cut(0, Event::Ecn { in_flight: 100 }), 100);
        assert_eq!(cut(ONE / 4, Event::Loss { in_flight: 100 }), 50);
    }

    #[test]
    fn a_step_above_a_seventh_of_the_product_keeps_the_link_busy() {
        let mut path = Bottleneck::new(100.0, 1000).flow(10.0, control::<Dctcp>(|_| {}));
        // The analysis of 2011 asks for a step above 0.17 of the product.
        path.mark = |wait, _| {
            if wait.as_micros() > 1700 { Ecn::Ce } else { Ecn::Ect0 }
        };
        path.run(5.0, |_, _, _, _| {});
        let before = (path.flows[0].meter.delivered, path.waited);
        path.run(20.0, |_, _, _, _| {});
        let used = path.utilisation(path.flows[0].meter.delivered - before.0, 15.0);
        assert!(used > 0.99, "{used}");
        let waited = path.waited.0 - before.1.0;
        let mean = waited.as_millis_f64() / (path.waited.1 - before.1.1) as f64;
        assert!(mean < 2.0, "{mean} ms");
    }
}
