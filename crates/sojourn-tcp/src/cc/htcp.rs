//! H-TCP: the longer since the last congestion, the faster the window grows; the cut follows the
//! ratio of the lowest to the maximum RTT.
//!
//! Model: Linux `net/ipv4/tcp_htcp.c`; Leith, Shorten, "H-TCP: TCP for
//! high-speed and long-distance networks", PFLDnet 2004. With D the seconds since the last
//! congestion, alpha = 2 (1 - beta) f where f is 1 up to D = 1, then 1 + 10 (D-1) + ((D-1)/2)^2,
//! scaled by RTT / 100 ms within 1/10 and 2 (`rtt_scaling`). The share kept, beta, is minRTT / maxRTT
//! within 0.5 and 0.8, but 0.5 when the throughput changed by more than a fifth since the last
//! congestion (`bandwidth_switch`), at the first congestion and for minRTT up to 10 ms.
//!
//! The arithmetic is the kernel's: fixed point with 7 bits, RTTs in ticks rounded up, f in whole
//! steps. Ticks are 1 ms (HZ = 1000), in `linux-4.9` 4 ms, so that minRTT has to be more than 12 ms
//! there. The undo of `linux-4.9`, as in kernels before 4.14, returns to the threshold over beta,
//! that of later ones to the window itself.
//!
//! Observes: `alpha` (segments per round trip), `beta` (share of the window kept),
//! `last_congestion` (s of simulated time), `min_rtt` and `max_rtt` (s), with `bandwidth_switch`
//! `max_throughput` (segments/s).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::jiffies::Ticks;
use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, CaState, ControlInit, Event, Measured, SenderView};
use crate::observe::Observer;
use crate::spec::Stack;
use crate::units::{Span, Time};

/// 1.0 in fixed point.
const ONE: u64 = 1 << 7;
const BETA_MIN: u64 = 1 << 6;
const BETA_MAX: u64 = 102;
/// Largest increase of the maximum RTT per update; it limits outliers.
const LARGEST_RISE: Span = Span::from_millis(20);
/// Minimum RTT above which beta adapts.
const SHORTEST_RTT: Span = Span::from_millis(10);

/// Parameters of H-TCP.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version of ticks and undo: `linux-6` or `linux-4.9`. Default: the flow's `stack`.
    pub version: Stack,
    /// Scale growth with the RTT, so that flows of different RTTs are fairer to each other.
    pub rtt_scaling: bool,
    /// Halve when the throughput has changed much since the last congestion.
    pub bandwidth_switch: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params { version: Stack::Linux6, rtt_scaling: true, bandwidth_switch: true }
    }
}

impl crate::registry::Params for Params {}

/// State that a reduction changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct Undo {
    last_congestion: u64,
    max_rtt: u64,
    old_max_bandwidth: u64,
}

/// H-TCP. Times are in ticks, bandwidths in segments per second.
pub type HTcp = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    params: Params,
    ticks: Ticks,
    alpha: u64,
    beta: u64,
    /// Whether beta may adapt: not at the first congestion.
    adaptive: bool,
    acked: u32,
    packets: u32,
    min_rtt: u64,
    max_rtt: u64,
    last_congestion: u64,
    undo: Option<Undo>,
    bandwidth: u64,
    max_bandwidth: u64,
    old_max_bandwidth: u64,
    /// `None` at first: the kernel then counts from boot, long ago.
    measured_at: Option<u64>,
}

impl Law {
    fn measure_rtt(&mut self, state: CaState, rtt: u64) {
        if self.min_rtt > rtt || self.min_rtt == 0 {
            self.min_rtt = rtt;
        }
        if state == CaState::Open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if self.max_rtt < rtt && rtt <= self.max_rtt + self.ticks.covering(LARGEST_RISE) {
                self.max_rtt = rtt;
            }
        }
    }

    fn measure_throughput(&mut self, view: &SenderView, now: u64, acked: u32) {
        if !matches!(view.state, CaState::Open | CaState::Disorder) {
            self.packets = 0;
            self.measured_at = Some(now);
            return;
        }
        self.packets += acked;
        let alpha = ((self.alpha >> 7) as u32).max(1);
        let elapsed = self.measured_at.map(|at| now - at);
        let enough = self.packets >= view.cwnd.wrapping_sub(alpha);
        let short = elapsed.is_some_and(|elapsed| elapsed < self.min_rtt);
        if !enough || self.min_rtt == 0 || short {
            return;
        }
        let per_second = |elapsed| u64::from(self.packets) * self.ticks.hz / elapsed;
        let sample = elapsed.map_or(0, per_second);
        if (now - self.last_congestion) / self.min_rtt <= 3 {
            // Just after a cut: restart the measurement.
            self.bandwidth = sample;
            self.max_bandwidth = sample;
        } else {
            self.bandwidth = (3 * self.bandwidth + sample) / 4;
            self.max_bandwidth = self.max_bandwidth.max(self.bandwidth);
        }
        self.packets = 0;
        self.measured_at = Some(now);
    }

    fn update_beta(&mut self) {
        if self.params.bandwidth_switch {
            let old = std::mem::replace(&mut self.old_max_bandwidth, self.max_bandwidth);
            if !(4 * old..=6 * old).contains(&(5 * self.max_bandwidth)) {
                self.beta = BETA_MIN;
                self.adaptive = false;
                return;
            }
        }
        let long = self.min_rtt > self.ticks.covering(SHORTEST_RTT);
        if self.adaptive && long && self.max_rtt > 0 {
            self.beta = ((self.min_rtt << 7) / self.max_rtt).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta = BETA_MIN;
            self.adaptive = true;
        }
    }

    fn update_alpha(&mut self, now: u64) {
        let hz = self.ticks.hz;
        let since = now - self.last_congestion;
        let mut factor = 1;
        if since > hz {
            let beyond = since - hz;
            factor = 1 + (10 * beyond + (beyond / 2) * (beyond / 2) / hz) / hz;
        }
        if self.params.rtt_scaling && self.min_rtt > 0 {
            let scale = ((hz << 3) / (10 * self.min_rtt)).clamp(1 << 2, 10 << 3);
            factor = ((factor << 3) / scale).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
    }

    /// Computes alpha and beta at a congestion event; the maximum RTT decays slowly afterwards.
    fn update(&mut self, now: u64) {
        self.update_beta();
        self.update_alpha(now);
        if self.min_rtt > 0 && self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 95 / 100;
        }
    }

    /// Entering CWR, Recovery or Loss.
    fn begin_epoch(&mut self, now: u64) {
        self.undo = Some(Undo {
            last_congestion: self.last_congestion,
            max_rtt: self.max_rtt,
            old_max_bandwidth: self.old_max_bandwidth,
        });
        self.last_congestion = now;
    }

    fn grow(&mut self, window: &mut Window, now: u64) {
        if (u64::from(window.count) * self.alpha) >> 7 >= u64::from(window.cwnd) {
            window.cwnd += 1;
            window.count = 0;
            self.update_alpha(now);
        } else {
            window.count += self.acked;
        }
        self.acked = 1;
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;
    const KEEPS_WINDOW: bool = true;
    const STEPS: bool = true;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law {
            params,
            ticks: Ticks::of(params.version),
            alpha: ONE,
            beta: BETA_MIN,
            adaptive: false,
            acked: 1,
            packets: 0,
            min_rtt: 0,
            max_rtt: 0,
            last_congestion: 0,
            undo: None,
            bandwidth: 0,
            max_bandwidth: 0,
            old_max_bandwidth: 0,
            measured_at: None,
        }
    }

    fn on_measured(
        &mut self,
        _window: &mut Window,
        now: Time,
        measured: &Measured,
        view: &SenderView,
    ) {
        if view.state == CaState::Open {
            self.acked = measured.cum_acked;
        }
        if let Some(rtt) = measured.rtt.filter(|rtt| rtt.as_micros() > 0) {
            self.measure_rtt(view.state, self.ticks.covering(rtt));
        }
        if self.params.bandwidth_switch {
            self.measure_throughput(view, self.ticks.at(now), measured.cum_acked);
        }
    }

    fn on_ack(&mut self, window: &mut Window, now: Time, ack: &AckSample) {
        if !(ack.may_grow && ack.cwnd_limited) {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.acked);
        } else {
            self.grow(window, self.ticks.at(now));
        }
    }

    fn on_established(&mut self, _window: &mut Window, now: Time, _rtt: Span) {
        self.last_congestion = self.ticks.at(now);
    }

    fn ssthresh(&mut self, window: &Window, now: Time, _event: &Event) -> u32 {
        self.update(self.ticks.at(now));
        (((u64::from(window.cwnd) * self.beta) >> 7) as u32).max(2)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
        let now = self.ticks.at(now);
        match event {
            Event::Loss { .. } | Event::Ecn { .. } | Event::Rto { .. } => self.begin_epoch(now),
            Event::Recovered if self.undo.take().is_some() => self.last_congestion = now,
            _ => {}
        }
    }

    fn undo(&mut self, window: &mut Window) {
        match self.params.version {
            Stack::Linux49 => {
                window.undo_to(((u64::from(window.ssthresh) << 7) / self.beta) as u32)
            }
            _ => window.undo(),
        }
        if let Some(undo) = self.undo.take() {
            self.last_congestion = undo.last_congestion;
            self.max_rtt = undo.max_rtt;
            self.old_max_bandwidth = undo.old_max_bandwidth;
        }
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        let seconds = |ticks| self.ticks.seconds(ticks);
        out("alpha", (self.alpha as f64 / ONE as f64).into());
        out("beta", (self.beta as f64 / ONE as f64).into());
        out("last_congestion", seconds(self.last_congestion).into());
        if self.min_rtt > 0 {
            out("min_rtt", seconds(self.min_rtt).into());
            out("max_rtt", seconds(self.max_rtt).into());
        }
        if self.params.bandwidth_switch {
            out("max_throughput", (self.max_bandwidth as f64).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Path, init};
    use super::*;

    fn alpha_after(ms: u64, min_rtt: u64, params: Params) -> f64 {
        let mut htcp = Law::new(params, &init());
        (htcp.min_rtt, htcp.beta) = (min_rtt, BETA_MIN);
        htcp.update_alpha(ms);
        htcp.alpha as f64 / ONE as f64
    }

    /// The paper's growth function; f has whole steps in the kernel, alpha = f at beta = 0.5.
    #[test]
    fn alpha_follows_the_time_since_congestion() {
        let plain = Params { rtt_scaling: false, ..Params::default() };
        for ms in [0u64, 500, 1000, 1500, 2000, 5000, 20_000] {
            let d = ms as f64 / 1000.0 - 1.0;
            let f = if d > 0.0 { 1.0 + 10.0 * d + (d / 2.0).powi(2) } else { 1.0 };
            let got = alpha_after(ms, 100, plain);
            assert!(got <= f && got > f - 1.0, "{ms}: {got} {f}");
            // 100 ms is the reference: scaling changes nothing there.
            assert_eq!(got, alpha_after(ms, 100, Params::default()));
        }
    }

    #[test]
    fn alpha_scales_with_the_round_trip_between_a_tenth_and_two() {
        let ratio = |rtt| {
            alpha_after(20_000, rtt, Params::default())
                / alpha_after(20_000, 100, Params::default())
        };
        for (rtt, expected) in [(50, 0.5), (200, 2.0), (400, 2.0), (10, 0.1), (1, 0.1)] {
            assert!((ratio(rtt) - expected).abs() < 0.02, "{rtt}: {}", ratio(rtt));
        }
    }

    /// beta = minRTT / maxRTT within 0.5 and 0.8, once two congestions at equal throughput passed.
    #[test]
    fn backoff_follows_the_rtt_ratio() {
        for (max_rtt, share) in [(100, 0.8), (133, 0.75), (160, 0.625), (400, 0.5)] {
            let mut htcp = Law::new(Params::default(), &init());
            (htcp.min_rtt, htcp.max_rtt, htcp.max_bandwidth) = (100, max_rtt, 1000);
            htcp.update_beta();
            assert_eq!(htcp.beta, BETA_MIN, "throughput changed");
            htcp.update_beta();
            assert_eq!(htcp.beta, BETA_MIN, "first congestion of this throughput");
            htcp.update_beta();
            assert!((htcp.beta as f64 / 128.0 - share).abs() < 0.01, "{max_rtt}: {}", htcp.beta);
        }
    }

    /// Ticks of 4 ms: 30 ms are 8 of them, and after two seconds f is 11 as with ticks of 1 ms; the
    /// undo returns to the threshold over beta.
    #[test]
    fn the_kernel_of_2016_has_coarse_ticks_and_its_own_undo() {
        let params = Params { version: Stack::Linux49, ..Params::default() };
        let mut htcp = Law::new(params, &init());
        let rtt = Some(Span::from_millis(30));
        let measured = Measured { rtt, ..Measured::default() };
        htcp.on_measured(&mut Window::new(10), Time::ZERO, &measured, &SenderView::default());
        assert_eq!(htcp.min_rtt, 8);
        (htcp.min_rtt, htcp.beta) = (25, BETA_MIN);
        htcp.update_alpha(2 * 250);
        assert_eq!(htcp.alpha, 11 * ONE);
        htcp.beta = BETA_MAX;
        let mut window = Window::new(50);
        window.ssthresh = 79;
        htcp.undo(&mut window);
        assert_eq!(window.cwnd, 99, "79 / 0.797");
    }

    #[test]
    fn short_round_trips_and_changed_throughput_halve() {
        let mut htcp = Law::new(Params::default(), &init());
        (htcp.min_rtt, htcp.max_rtt, htcp.max_bandwidth) = (10, 12, 1000);
        (0..5).for_each(|_| htcp.update_beta());
        assert_eq!(htcp.beta, BETA_MIN);
        (htcp.min_rtt, htcp.max_rtt) = (100, 120);
        htcp.update_beta();
        assert!(htcp.beta > BETA_MIN);
        htcp.max_bandwidth = 1300;
        htcp.update_beta();
        assert_eq!(htcp.beta, BETA_MIN);
    }

    /// On a path with a queue of half a BDP the window is cut to about minRTT / maxRTT = 2/3 and
    /// so keeps the link busy.
    #[test]
    fn backoff_empties_the_queue_but_not_the_link() {
        let mut path = Path::<HTcp>::new(Params::default(), Span::from_millis(100));
        (path.rate, path.buffer) = (Some(2000.0), 100);
        path.run(Span::from_secs(60));
        let before = path.delivered();
        path.run(Span::from_secs(60));
        let share = (path.delivered() - before) as f64 / 120_000.0;
        assert!(share > 0.97, "{share}");
        assert!(
            (0.6..0.72).contains(&(path.control.law.beta as f64 / 128.0)),
            "{}",
            path.control.law.beta
        );
    }
}
