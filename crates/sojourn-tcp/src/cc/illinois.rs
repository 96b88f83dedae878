//! Illinois: loss determines when the window is cut, delay determines how fast it grows and how far
//! it is cut.
//!
//! Model: Linux `net/ipv4/tcp_illinois.c`, the same in 4.9 and 6.x; Liu, Basar, Srikant,
//! "TCP-Illinois: a loss- and delay-based congestion control algorithm for high-speed networks",
//! 2008. Once per round trip, with da the average and dm the largest queueing delay: alpha is 10 up
//! to dm / 100, then falls hyperbolically to 0.3 at dm; the share given up is 1/8 up to dm / 10, 1/2
//! from 8/10 dm on, linear between. Below `win_thresh` segments and after a timeout it is Reno.
//! Once delay has been above dm / 100, alpha returns to 10 only after `theta` rounds below.
//!
//! The arithmetic is the kernel's (alpha in 1/128, the share in 1/64). As there, the lowest and
//! highest RTT are never forgotten, and the first round begins with alpha = 10.
//!
//! Observes: `alpha` (segments per round trip), `beta` (share of the window given up), `base_rtt`,
//! and the queueing delays `average_delay` (d_a, of this round so far) and `max_delay` (d_m) (s).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, ControlInit, Event};
use crate::observe::Observer;
use crate::units::Time;

const ALPHA_ONE: u64 = 1 << 7;
const ALPHA_MIN: u64 = 3 * ALPHA_ONE / 10;
const ALPHA_MAX: u64 = 10 * ALPHA_ONE;
/// RTTs are capped at this, in microseconds (3.4 s; `RTT_MAX`).
const LONGEST_RTT: u64 = u32::MAX as u64 / ALPHA_MAX;
const BETA_ONE: u64 = 1 << 6;
const BETA_MIN: u64 = BETA_ONE / 8;
const BETA_MAX: u64 = BETA_ONE / 2;

/// Parameters of Illinois.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Smaller windows, in segments, behave like Reno.
    pub win_thresh: u32,
    /// Rounds of low delay before alpha returns to its maximum.
    pub theta: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { win_thresh: 15, theta: 5 }
    }
}

impl crate::registry::Params for Params {}

/// Illinois. RTTs are in microseconds.
pub type Illinois = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    params: Params,
    alpha: u64,
    beta: u64,
    base_rtt: u64,
    max_rtt: u64,
    rtt_sum: u64,
    rtt_count: u64,
    round_end: u32,
    next: u32,
    /// Segments that the last ACK covered.
    covered: u32,
    was_above: bool,
    low_rounds: u32,
}

impl Law {
    fn measure(&mut self, ack: &AckSample) {
        self.next = ack.next;
        self.covered = ack.cum_acked;
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_micros().min(LONGEST_RTT);
            self.base_rtt = self.base_rtt.min(rtt);
            self.max_rtt = self.max_rtt.max(rtt);
            self.rtt_sum += rtt;
            self.rtt_count += 1;
        }
    }

    fn begin_round(&mut self) {
        self.round_end = self.next;
        self.rtt_sum = 0;
        self.rtt_count = 0;
    }

    /// Once per round trip.
    fn update(&mut self, cwnd: u32) {
        if cwnd < self.params.win_thresh {
            self.alpha = ALPHA_ONE;
            self.beta = BETA_MAX;
        } else if let Some(mean) = self.rtt_sum.checked_div(self.rtt_count) {
            let most = self.max_rtt - self.base_rtt;
            let average = mean - self.base_rtt;
            self.alpha = self.alpha_at(average, most);
            self.beta = beta_at(average, most);
        }
        self.begin_round();
    }

    /// Segments of growth per round trip, in 1/128.
    fn alpha_at(&mut self, average: u64, most: u64) -> u64 {
        let low = most / 100;
        if average <= low {
            if !self.was_above {
                return ALPHA_MAX;
            }
            self.low_rounds += 1;
            if self.low_rounds < self.params.theta {
                return self.alpha;
            }
            self.low_rounds = 0;
            self.was_above = false;
            return ALPHA_MAX;
        }
        self.was_above = true;
        let (most, average) = (most - low, average - low);
        most * ALPHA_MAX / (most + average * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN)
    }

    fn grow(&mut self, window: &mut Window) {
        window.count += self.covered;
        self.covered = 1;
        let cwnd = u64::from(window.cwnd);
        let growth = (u64::from(window.count) * self.alpha) >> 7;
        if growth >= cwnd {
            window.cwnd += (growth / cwnd) as u32;
            window.count = 0;
        }
    }
}

/// Share of the window to give up, in 1/64.
fn beta_at(average: u64, most: u64) -> u64 {
    let (low, high) = (most / 10, 8 * most / 10);
    if average <= low {
        BETA_MIN
    } else if average >= high || high <= low {
        BETA_MAX
    } else {
        (BETA_MIN * high + (BETA_MAX - BETA_MIN) * average - BETA_MAX * low) / (high - low)
    }
}

impl WindowLaw for Law {
    type Params = Params;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law {
            params,
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            base_rtt: u64::MAX,
            max_rtt: 0,
            rtt_sum: 0,
            rtt_count: 0,
            round_end: 1,
            next: 1,
            covered: 0,
            was_above: false,
            low_rounds: 0,
        }
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        self.measure(ack);
        if !ack.may_grow {
            return;
        }
        if ack.una > self.round_end {
            self.update(window.cwnd);
        }
        if !ack.cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.acked);
        } else {
            self.grow(window);
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        (window.cwnd - (u64::from(window.cwnd) * self.beta / BETA_ONE) as u32).max(2)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
        if let Event::Rto { .. } = event {
            self.alpha = ALPHA_ONE;
            self.beta = BETA_MAX;
            self.low_rounds = 0;
            self.was_above = false;
            self.begin_round();
        }
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        let seconds = |micros: u64| micros as f64 / 1e6;
        out("alpha", (self.alpha as f64 / ALPHA_ONE as f64).into());
        out("beta", (self.beta as f64 / BETA_ONE as f64).into());
        if self.max_rtt > 0 {
            out("base_rtt", seconds(self.base_rtt).into());
            out("max_delay", seconds(self.max_rtt - self.base_rtt).into());
        }
        if let Some(mean) = self.rtt_sum.checked_div(self.rtt_count) {
            out("average_delay", seconds(mean - self.base_rtt).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Path, init};
    use super::*;
    use crate::units::Span;

    const MOST: u64 = 100_000;

    /// The paper's alpha(da) = k1 / (k2 + da) with alpha(d1) = 10 and alpha(dm) = 0.3.
    #[test]
    fn alpha_is_the_papers_hyperbola() {
        let (d1, dm) = (MOST as f64 / 100.0, MOST as f64);
        let k1 = (dm - d1) * 0.3 * 10.0 / (10.0 - 0.3);
        let k2 = (dm - d1) * 0.3 / (10.0 - 0.3) - d1;
        let mut illinois = Law::new(Params::default(), &init());
        for average in [1_500, 5_000, 20_000, 50_000, 80_000, 100_000] {
            let expected = k1 / (k2 + average as f64);
            let got = illinois.alpha_at(average, MOST) as f64 / ALPHA_ONE as f64;
            assert!((got - expected).abs() < 0.01 + 0.02 * expected, "{average}: {got} {expected}");
        }
    }

    #[test]
    fn beta_is_the_papers_broken_line() {
        for (average, share) in
            [(0, 0.125), (10_000, 0.125), (45_000, 0.3125), (80_000, 0.5), (100_000, 0.5)]
        {
            let got = beta_at(average, MOST) as f64 / BETA_ONE as f64;
            assert!((got - share).abs() <= 1.0 / 64.0, "{average}: {got}");
        }
    }

    #[test]
    fn alpha_returns_to_its_maximum_after_theta_quiet_rounds() {
        let mut illinois = Law::new(Params::default(), &init());
        illinois.alpha = illinois.alpha_at(50_000, MOST);
        let low = illinois.alpha;
        for _ in 0..4 {
            assert_eq!(illinois.alpha_at(0, MOST), low);
        }
        assert_eq!(illinois.alpha_at(0, MOST), ALPHA_MAX);
    }

    #[test]
    fn grows_by_alpha_per_round_and_keeps_the_link_busy() {
        let mut path = Path::<Illinois>::new(Params::default(), Span::from_millis(100));
        (path.rate, path.buffer) = (Some(5000.0), 250);
        path.run(Span::from_secs(100));
        let before = path.delivered();
        path.run(Span::from_secs(100));
        assert!((path.delivered() - before) as f64 > 0.97 * 500_000.0);

        let mut path = Path::<Illinois>::new(Params::default(), Span::from_millis(100));
        path.lose_at(500);
        let before = path.cwnd();
        path.rounds(10);
        let growth = f64::from(path.cwnd() - before) / 10.0;
        assert!((growth - 10.0).abs() < 0.7, "{growth}");
    }
}
