//! Cubic: the window grows along a cubic function of the time since the last reduction.
//!
//! Model: Linux 6.x `net/ipv4/tcp_cubic.c` with its integer arithmetic (RFC 9438 describes it).
//! C 0.4, beta 717/1024, fast convergence, Reno-friendly region, at most 1.5-fold growth per round
//! trip, at least 5 % before the first loss, the epoch shifted by idle times, all state reset on a
//! retransmission timeout; slow start ends by HyStart. With `beta_ecn` above `beta` it is Cubic
//! with Alternative Backoff with ECN (RFC 8511, which reports that 0.85 works well).
//!
//! `version` selects the implementation:
//!
//! - `linux-6`: Linux since 5.6. HyStart's ACK train may last half the minimum RTT plus at most
//!   1 ms, or the whole of it if packets are paced.
//! - `linux-4.9`: Linux before 5.6 (also 5.1). HyStart on a millisecond clock, the train always
//!   limited to half the minimum RTT, a round's minimum RTT taken from its first eight samples only.
//! - `ns3`: ns-3.42 `src/internet/model/tcp-cubic.cc`. Floating point on a continuous clock, the
//!   count recomputed at every ACK, at most one segment of growth per ACK, slow start overshoots
//!   the threshold, RTTs are smoothed ones and ignored for only 10 ms after a reduction, HyStart
//!   tolerates a doubled delay (at most 1 s more) and a train of a whole RTT, the maximum survives
//!   a timeout. ns-3.41 differs from 3.42 in forgetting the maximum on a timeout and in growing
//!   while the application limits the flow; ns-3 before 3.41 has `tcp_friendliness = false`.
//!
//! Deviations: the kernel's tick is 1 ms (HZ = 1000), only in 4.9 4 ms; 32-bit overflow beyond a million
//! segments is not reproduced. From RFC 9438, as in Linux: the Reno-friendly alpha stays 0.53 after the
//! window has passed its former maximum. An ECN mark stores the maximum as a loss does, whatever
//! `beta_ecn` is.
//!
//! Observes: `w_max` (segments), in an epoch of the curve `k` (s), `epoch_start` (s of simulated
//! time) and `w_est`, the Reno-friendly window (segments); of HyStart the state `hystart`
//! (`searching`, `found`, `css`), `round_start` (s of simulated time), `round_samples` and
//! `round_min_rtt` (s); of HyStart++ no `round_start`, but in conservative slow start (`css`)
//! `css_rounds` and `css_baseline_min_rtt` (s).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cubic_curve::{CubicCurve, SCALE, Settings};
use super::cubic_ns3::Ns3Curve;
use super::hystart::{self, Detect, HyStart};
use super::hystart_pp::HyStartPp;
use super::jiffies::Ticks;
use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, ControlInit, Event};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::spec::Stack;
use crate::units::Time;

/// Whose Cubic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// Linux since 5.6.
    Linux56,
    /// Linux before 5.6.
    Linux49,
    /// ns-3.42.
    Ns3,
}

impl From<Stack> for Version {
    fn from(stack: Stack) -> Self {
        match stack {
            Stack::Linux49 | Stack::Linux51 => Version::Linux49,
            Stack::Ns3 => Version::Ns3,
            _ => Version::Linux56,
        }
    }
}

/// How slow start ends before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStartExit {
    /// HyStart, as the chosen version has it.
    Linux,
    /// HyStart++ (RFC 9406).
    PlusPlus,
    /// Only by loss or mark.
    Off,
}

/// Parameters of Cubic.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Implementation to follow. Default: the flow's `stack`.
    pub version: Stack,
    /// Share of the window kept after a loss.
    pub beta: f64,
    /// Share of the window kept after an ECN mark (RFC 8511 reports that 0.85 works well).
    pub beta_ecn: f64,
    /// Release bandwidth faster when the maximum shrinks.
    pub fast_convergence: bool,
    /// Grow at least as fast as Reno would.
    pub tcp_friendliness: bool,
    /// How slow start ends before a loss: `linux` (HyStart), `plus-plus` (HyStart++), `off`.
    pub hystart: SlowStartExit,
    /// Which detectors HyStart uses: `both`, `train` or `delay`.
    pub hystart_detect: Detect,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            version: Stack::Linux6,
            beta: 0.7,
            beta_ecn: 0.7,
            fast_convergence: true,
            tcp_friendliness: true,
            hystart: SlowStartExit::Linux,
            hystart_detect: Detect::Both,
        }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        super::check_share("beta", self.beta)?;
        super::check_share("beta_ecn", self.beta_ecn)
    }
}

#[derive(Clone, Debug)]
enum Curve {
    Linux(CubicCurve),
    Ns3(Ns3Curve),
}

#[derive(Clone, Debug)]
enum SlowStart {
    Plain,
    HyStart(HyStart),
    PlusPlus(HyStartPp),
}

/// Cubic.
pub type Cubic = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    curve: Curve,
    slow_start: SlowStart,
    /// Shares kept after a loss and after a mark, in 1024ths.
    beta: u32,
    beta_ecn: u32,
}

fn scaled(share: f64) -> u32 {
    ((share * f64::from(SCALE)).round() as u32).min(SCALE - 1)
}

impl Law {
    /// Passes an RTT sample to the curve and to HyStart.
    fn measure(&mut self, window: &mut Window, now: Time, ack: &AckSample) {
        let Some(sample) = ack.rtt else { return };
        let (rtt, taken, lowest) = match &mut self.curve {
            Curve::Linux(curve) => (sample, curve.on_rtt(now, sample), curve.delay_min()),
            Curve::Ns3(curve) => (ack.srtt, curve.on_rtt(now, ack.srtt), curve.delay_min()),
        };
        if let (SlowStart::HyStart(hystart), true, Some(lowest)) =
            (&mut self.slow_start, taken && window.in_slow_start(), lowest)
        {
            hystart.on_rtt(now, rtt, lowest, ack, window);
        }
    }

    fn grow(&mut self, window: &mut Window, now: Time, ack: &AckSample) {
        let mut left = ack.acked;
        if window.in_slow_start() {
            left = self.grow_in_slow_start(window, now, ack);
            if left == 0 {
                return;
            }
        }
        let cwnd = window.cwnd;
        match &mut self.curve {
            Curve::Linux(curve) => {
                let count = curve.update(now, cwnd, left);
                window.additive_increase(count, left);
            }
            Curve::Ns3(curve) => window.cwnd += curve.growth(now, cwnd, left),
        }
    }

    /// Returns the acknowledged segments that are left for congestion avoidance.
    fn grow_in_slow_start(&mut self, window: &mut Window, now: Time, ack: &AckSample) -> u32 {
        match &mut self.slow_start {
            SlowStart::Plain => {}
            SlowStart::HyStart(hystart) => hystart.on_growth(now, ack),
            SlowStart::PlusPlus(plus_plus) => {
                let growth = plus_plus.on_ack(ack, window);
                return window.slow_start(growth);
            }
        }
        if let Curve::Ns3(_) = self.curve {
            window.cwnd += ack.acked;
            return 0;
        }
        window.slow_start(ack.acked)
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;
    const KEEPS_WINDOW: bool = true;

    fn new(params: Params, init: &ControlInit) -> Self {
        let settings = Settings {
            beta: scaled(params.beta),
            fast_convergence: params.fast_convergence,
            tcp_friendliness: params.tcp_friendliness,
            ticks: Ticks::of(params.version),
        };
        let (curve, rules) = match Version::from(params.version) {
            Version::Linux56 => (Curve::Linux(CubicCurve::new(settings)), &hystart::LINUX_6),
            Version::Linux49 => (Curve::Linux(CubicCurve::new(settings)), &hystart::LINUX_4_9),
            Version::Ns3 => (Curve::Ns3(Ns3Curve::new(settings, params.beta)), &hystart::NS3),
        };
        let slow_start = match params.hystart {
            SlowStartExit::Off => SlowStart::Plain,
            SlowStartExit::PlusPlus => SlowStart::PlusPlus(HyStartPp::new(init.paced)),
            SlowStartExit::Linux => SlowStart::HyStart(HyStart::new(
                rules,
                params.hystart_detect,
                init.paced,
                init.mss,
                init.now,
            )),
        };
        Law { curve, slow_start, beta: settings.beta, beta_ecn: scaled(params.beta_ecn) }
    }

    fn on_ack(&mut self, window: &mut Window, now: Time, ack: &AckSample) {
        self.measure(window, now, ack);
        if ack.may_grow && ack.cwnd_limited {
            self.grow(window, now, ack);
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, event: &Event) -> u32 {
        match &mut self.curve {
            Curve::Linux(curve) => curve.on_reduction(window.cwnd),
            Curve::Ns3(curve) => curve.on_reduction(window.cwnd),
        }
        let keep = if let Event::Ecn { .. } = event { self.beta_ecn } else { self.beta };
        ((u64::from(window.cwnd) * u64::from(keep) / u64::from(SCALE)) as u32).max(2)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
        match (event, &mut self.curve) {
            (Event::Rto { .. }, Curve::Linux(curve)) => curve.reset(),
            (Event::Rto { .. }, Curve::Ns3(curve)) => curve.reset(),
            (Event::TxStart { idle }, Curve::Linux(curve)) => curve.on_idle(now, *idle),
            _ => {}
        }
        if let (Event::Rto { .. }, SlowStart::HyStart(hystart)) = (event, &mut self.slow_start) {
            hystart.reset(now);
        }
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        match &self.curve {
            Curve::Linux(curve) => curve.observe(out),
            Curve::Ns3(curve) => curve.observe(out),
        }
        match &self.slow_start {
            SlowStart::Plain => {}
            SlowStart::HyStart(hystart) => hystart.observe(out),
            SlowStart::PlusPlus(plus_plus) => plus_plus.observe(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Path, init};
    use super::*;
    use crate::cc::CongestionControl;
    use crate::cc::Registered;
    use crate::units::Span;

    /// A path whose window was cut from `max` a moment ago.
    fn after_cut(params: Params, max: u32, rtt_ms: u64) -> Path<Cubic> {
        let params = Params { hystart: SlowStartExit::Off, ..params };
        let mut path = Path::<Cubic>::new(params, Span::from_millis(rtt_ms));
        (path.control.window.cwnd, path.control.window.ssthresh) = (max, max);
        path.lose_one();
        path
    }

    /// RFC 9438 section 4.2: W(t) = C (t - K)^3 + W_max, one round trip ahead, for Linux and ns-3.
    #[test]
    fn window_follows_the_cubic_function() {
        for version in [Stack::Linux6, Stack::Ns3] {
            let params = Params { version, tcp_friendliness: false, ..Params::default() };
            let mut path = after_cut(params, 1000, 50);
            let k = (1000.0f64 * 0.3 / 0.4).cbrt();
            let start = path.now;
            for _ in 0..150 {
                path.rounds(2);
                let t = path.now.since(start).as_secs_f64();
                let expected = 0.4 * (t - k).powi(3) + 1000.0;
                let got = f64::from(path.cwnd());
                // The window lags behind the curve by up to two round trips where it is steep.
                let slope = 3.0 * 0.4 * (t - k).powi(2);
                assert!((got - expected).abs() < 3.0 + 0.11 * slope, "{t}: {got} {expected}");
            }
        }
    }

    /// RFC 9438 section 4.3: at short round trips, alpha = 3 (1 - beta) / (1 + beta) = 0.53 segments
    /// per round trip, counted from the cut.
    #[test]
    fn short_round_trips_are_in_the_reno_friendly_region() {
        for version in [Stack::Linux6, Stack::Ns3] {
            let mut path = after_cut(Params { version, ..Params::default() }, 100, 5);
            let before = path.cwnd();
            path.rounds(100);
            let alpha = f64::from(path.cwnd() - before) / 100.0;
            assert!((alpha - 0.53).abs() < 0.04, "{version:?}: {alpha}");
        }
    }

    #[test]
    fn mark_is_answered_more_gently_than_loss() {
        let cut = |event| {
            let params = Params { beta_ecn: 0.85, ..Params::default() };
            let mut cubic = Cubic::new(params, &init());
            cubic.window.cwnd = 1000;
            cubic.on_congestion(Time::ZERO, &event);
            cubic.window.ssthresh
        };
        assert_eq!(cut(Event::Loss { in_flight: 900 }), 700);
        assert_eq!(cut(Event::Ecn { in_flight: 900 }), 849);
    }

    /// Until the first loss the window grows by 5 % per round trip, once out of slow start.
    #[test]
    fn first_epoch_grows_by_a_twentieth() {
        let mut path = Path::<Cubic>::new(Params::default(), Span::from_millis(100));
        (path.control.window.cwnd, path.control.window.ssthresh) = (1000, 1000);
        path.rounds(5);
        let ratio = (f64::from(path.cwnd()) / 1000.0).powf(0.2);
        assert!((ratio - 1.05).abs() < 0.005, "{ratio}");
    }

    /// A timeout resets the maximum in Linux, but not in ns-3.
    #[test]
    fn timeout_resets_the_curve() {
        let growth = |version| {
            let params = Params { version, ..Params::default() };
            let mut path = after_cut(params, 1000, 100);
            path.time_out();
            path.control.window.ssthresh = 100;
            while path.cwnd() < 100 {
                path.rounds(1);
            }
            let before = path.cwnd();
            path.rounds(3);
            f64::from(path.cwnd()) / f64::from(before)
        };
        assert!((1.14..1.18).contains(&growth(Stack::Linux6)), "5 % per round trip");
        assert!(growth(Stack::Ns3) > 1.3, "towards the former maximum");
    }

    #[test]
    fn hystart_spares_the_buffer() {
        let lost = |hystart| {
            let params = Params { hystart, ..Params::default() };
            let mut path = Path::<Cubic>::new(params, Span::from_millis(100));
            (path.rate, path.buffer) = (Some(2000.0), 200);
            while path.control.window.in_slow_start() {
                path.step();
            }
            path.rounds(2);
            path.last.total_lost
        };
        assert_eq!(lost(SlowStartExit::Linux), 0);
        // HyStart++ grows on at a quarter of the pace for five rounds: too far for this buffer.
        let (cautious, plain) = (lost(SlowStartExit::PlusPlus), lost(SlowStartExit::Off));
        assert!(cautious < plain * 3 / 4, "{cautious} {plain}");
    }
}
