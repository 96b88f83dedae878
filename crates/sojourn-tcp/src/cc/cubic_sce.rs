//! Cubic-SCE: Cubic with HyStart whose growth "Some Congestion Experienced" (SCE) slows down.
//!
//! Model: `tcp_cubic_sce.c` of `chromi/sce` (Morton, 2019, unfinished), on Linux's Cubic of that
//! year. An ACK with SCE echo in slow start ends it: the threshold becomes half the window. Later
//! it flattens the curve: before the inflection point the time to it shrinks by `acked/sqrt W`,
//! beyond it the time since shrinks to that share; and it subtracts `acked x sqrt W` from the count
//! that grows the Reno window, so that a window full of echoes lowers the window and the inflection
//! point's level by `sqrt W`. A reduction keeps 7/8 when SCE was echoed within the last window of
//! ACKs, else Cubic's 0.7.
//!
//! Deviations: the source compares acknowledged *bytes* with the square root of segments, so that
//! any echo moves the inflection point all the way; here both are segments. It also moves the
//! inflection point's level the wrong way before that point; here the curve stays continuous.
//!
//! Observes: `w_max` (segments), in an epoch of the curve `k` (s), `epoch_start` (s of simulated
//! time) and `w_est`, the Reno-friendly window (segments); of HyStart the state `hystart`
//! (`searching`, `found`), `round_start` (s of simulated time), `round_samples` and `round_min_rtt`
//! (s); `sqrt_cwnd`, the square root of the window that these rules use.

use super::cubic_curve::{CubicCurve, SCALE, Settings};
use super::hystart::{self, Detect, HyStart};
use super::jiffies::Ticks;
use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, ControlInit, EcnMode, Event};
use crate::observe::Observer;
use crate::registry::NoParams;
use crate::units::Time;

/// Share kept by a reduction, in 1024ths.
const BETA: u32 = 717;
/// Share kept by a reduction soon after an SCE echo, in 1024ths.
const BETA_SCE: u32 = SCALE * 7 / 8;

/// Cubic-SCE.
pub type CubicSce = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    curve: CubicCurve,
    hystart: HyStart,
    /// The largest number whose square is below the window.
    root: u32,
    /// Number of further ACKs during which the last SCE echo counts as recent.
    recent: u32,
}

impl Law {
    fn on_sce(&mut self, window: &mut Window, now: Time, acked: u32) {
        if self.curve.in_epoch() {
            self.curve.flatten(now, acked, self.root);
            let steps = self.curve.charge(acked * self.root, window.cwnd);
            for _ in 0..steps {
                self.step_down(window);
            }
            self.recent = window.cwnd + 1;
        }
        window.ssthresh = (window.cwnd / 2).max(2);
    }

    fn step_down(&mut self, window: &mut Window) {
        if window.cwnd > 2 {
            window.cwnd -= 1;
            self.update_root(window);
        }
        self.curve.origin = self.curve.origin.saturating_sub(1);
    }

    fn update_root(&mut self, window: &Window) {
        self.root = window.cwnd.saturating_sub(1).isqrt();
    }

    fn measure(&mut self, window: &mut Window, now: Time, ack: &AckSample) {
        let Some(rtt) = ack.rtt else { return };
        let taken = self.curve.on_rtt(now, rtt);
        if let (true, Some(lowest)) = (taken && window.in_slow_start(), self.curve.delay_min()) {
            self.hystart.on_rtt(now, rtt, lowest, ack, window);
        }
    }

    fn grow(&mut self, window: &mut Window, now: Time, ack: &AckSample) {
        let mut left = ack.acked;
        if window.in_slow_start() {
            self.hystart.on_growth(now, ack);
            left = window.slow_start(left);
            if left == 0 {
                return;
            }
        }
        let count = self.curve.update(now, window.cwnd, left);
        window.additive_increase(count, left);
        self.update_root(window);
    }
}

impl WindowLaw for Law {
    type Params = NoParams;
    const ECN: EcnMode = EcnMode::Sce;

    fn new(_params: NoParams, init: &ControlInit) -> Self {
        let ticks = Ticks::MILLISECONDS;
        let settings =
            Settings { beta: BETA, fast_convergence: true, tcp_friendliness: true, ticks };
        let rules = &hystart::LINUX_4_9;
        Law {
            curve: CubicCurve::new(settings),
            hystart: HyStart::new(rules, Detect::Both, init.paced, init.mss, init.now),
            root: 1,
            recent: 0,
        }
    }

    fn on_ack(&mut self, window: &mut Window, now: Time, ack: &AckSample) {
        if ack.esce {
            self.on_sce(window, now, ack.cum_acked.max(1));
        }
        self.recent = self.recent.saturating_sub(1);
        self.measure(window, now, ack);
        if ack.may_grow && ack.cwnd_limited {
            self.grow(window, now, ack);
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        let keep = if self.recent > 0 { BETA_SCE } else { BETA };
        self.curve.on_reduction(window.cwnd);
        ((u64::from(window.cwnd) * u64::from(keep) / u64::from(SCALE)) as u32).max(2)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
        match event {
            Event::Rto { .. } => {
                self.curve.reset();
                self.hystart.reset(now);
                (self.root, self.recent) = (1, 0);
            }
            Event::TxStart { idle } => self.curve.on_idle(now, *idle),
            _ => {}
        }
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        self.curve.observe(out);
        self.hystart.observe(out);
        out("sqrt_cwnd", self.root.into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::init;
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::Registered;
    use crate::units::Span;

    fn ack(esce: bool) -> AckSample {
        AckSample {
            acked: 1,
            cum_acked: 1,
            may_grow: true,
            cwnd_limited: true,
            esce,
            ..AckSample::default()
        }
    }

    /// In congestion avoidance at a window of 401 segments, below a maximum of 573.
    fn avoiding() -> CubicSce {
        let mut cubic = CubicSce::new(NoParams::default(), &init());
        cubic.window.cwnd = 573;
        cubic.on_congestion(Time::ZERO, &Event::Loss { in_flight: 573 });
        cubic.on_congestion(Time::ZERO, &Event::ReductionEnd { cwnd: 401 });
        cubic.on_ack(Time::from_nanos(1_000_000), &ack(false));
        cubic
    }

    #[test]
    fn sce_ends_slow_start() {
        let mut cubic = CubicSce::new(NoParams::default(), &init());
        cubic.on_ack(Time::ZERO, &ack(true));
        assert_eq!(cubic.window.ssthresh, 5);
    }

    #[test]
    fn a_window_of_echoes_takes_the_square_root_off_the_window() {
        let mut cubic = avoiding();
        for _ in 0..401 {
            cubic.law.on_sce(&mut cubic.window, Time::from_nanos(2_000_000), 1);
        }
        let taken = 401 - cubic.window.cwnd;
        assert!((19..=21).contains(&taken), "{taken}");
    }

    #[test]
    fn an_echo_brings_the_inflection_point_nearer_without_a_jump() {
        let mut cubic = avoiding();
        let now = Time::ZERO + Span::from_millis(2_000);
        let before = (cubic.law.curve.k, cubic.law.curve.target(now));
        cubic.law.curve.flatten(now, 1, cubic.law.root);
        let left = before.0 - 2_000 * 1024 / 1000;
        assert!(cubic.law.curve.k.abs_diff(left * 19 / 20) <= 2, "{} of {left}", cubic.law.curve.k);
        assert!(cubic.law.curve.target(now).abs_diff(before.1) <= 1);
    }

    #[test]
    fn reductions_are_gentler_after_sce() {
        let mut cubic = avoiding();
        cubic.on_ack(Time::from_nanos(2_000_000), &ack(true));
        let window = cubic.window.cwnd;
        cubic.on_congestion(Time::ZERO, &Event::Ecn { in_flight: 400 });
        assert_eq!(cubic.window.ssthresh, window * 7 / 8);
    }
}
