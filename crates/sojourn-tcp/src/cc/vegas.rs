//! Vegas: keeps between `alpha` and `beta` segments waiting in the network.
//!
//! Model: Linux `net/ipv4/tcp_vegas.c`; Brakmo, Peterson, "TCP Vegas: end
//! to end congestion avoidance on a global Internet", JSAC 1995. Once per round trip with at least
//! three RTT samples, the segments waiting are estimated as W (RTT - base) / base, where RTT is the
//! round's lowest and base the lowest ever: fewer than `alpha` adds a segment to the window, more
//! than `beta` takes one away; in slow start, more than `gamma` ends it at W base / RTT + 1. Loss
//! and marks are answered as Reno does, and growth is Reno's outside the Open state.
//!
//! `linux-4.9` leaves the threshold one below the window, later kernels at the window.
//!
//! Deviations from the paper, all of them Linux's: slow start doubles every round trip, not every
//! other; the estimate divides by base, not by RTT; loss recovery is the sender's. As in Linux, the
//! window changes whether or not it limits sending, and an idle period resets the base RTT. Because
//! the round's minimum RTT is that of its first ACKs, slow start reaches about three times the
//! bandwidth-delay product if the buffer holds that much.
//!
//! Observes: `diff`, the segments waiting in the network (of the last round judged); `base_rtt` and
//! `round_min_rtt`, the lowest ever and of this round (s).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::round_rtt::RoundRtt;
use super::window::Window;
use super::{AckSample, ControlInit, Event};
use crate::error::FieldError;
use crate::observe::Observer;
use crate::spec::Stack;
use crate::units::Time;

/// Parameters of Vegas, in segments that wait in the network.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Version of the threshold: `linux-6` or `linux-4.9`. Default: the flow's `stack`.
    pub version: Stack,
    /// Segments waiting in the network below which the window grows.
    pub alpha: u32,
    /// Segments waiting above which the window shrinks.
    pub beta: u32,
    /// Segments waiting above which slow start ends.
    pub gamma: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { version: Stack::Linux6, alpha: 2, beta: 4, gamma: 1 }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if self.alpha > self.beta {
            let message = format!("{} is above beta, which is {}", self.alpha, self.beta);
            return Err(FieldError::new("alpha", message));
        }
        Ok(())
    }
}

/// Vegas.
pub type Vegas = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
    params: Params,
    rtts: RoundRtt,
    /// Segments waiting in the network in the last round that was judged.
    diff: Option<u32>,
}

impl Law {
    /// Once per round trip.
    fn adjust(&mut self, window: &mut Window, ack: &AckSample) {
        let (base, rtt) = (u64::from(self.rtts.base), u64::from(self.rtts.lowest));
        let cwnd = window.cwnd;
        let waiting = (u64::from(cwnd) * (rtt - base) / base) as u32;
        self.diff = Some(waiting);
        if window.in_slow_start() {
            if waiting > self.params.gamma {
                let without_queue = (u64::from(cwnd) * base / rtt) as u32;
                window.cwnd = cwnd.min(without_queue + 1);
                self.leave_slow_start(window);
            } else {
                window.slow_start(ack.acked);
            }
        } else if waiting > self.params.beta {
            window.cwnd -= 1;
            self.leave_slow_start(window);
        } else if waiting < self.params.alpha {
            window.cwnd += 1;
        }
        window.cwnd = window.cwnd.max(2);
        window.ssthresh = window.current_ssthresh();
    }

    /// Lowers the threshold so that the window is not below it (`tcp_vegas_ssthresh`).
    fn leave_slow_start(&self, window: &mut Window) {
        let below = u32::from(self.params.version == Stack::Linux49);
        window.ssthresh = window.ssthresh.min(window.cwnd.saturating_sub(below));
    }
}

/// Reno's growth, where the delay gives no information.
fn reno(window: &mut Window, ack: &AckSample) {
    if ack.cwnd_limited {
        window.reno_growth(ack.acked);
    }
}

impl WindowLaw for Law {
    type Params = Params;
    const FOLLOWS_STACK: bool = true;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law { params, rtts: RoundRtt::default(), diff: None }
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        self.rtts.on_ack(ack);
        if !ack.may_grow {
            return;
        }
        if !self.rtts.enabled {
            reno(window, ack);
        } else if self.rtts.round_ended(ack) {
            if self.rtts.samples > 2 {
                self.adjust(window, ack);
            } else {
                reno(window, ack);
            }
            self.rtts.begin_round();
        } else if window.in_slow_start() {
            window.slow_start(ack.acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        (window.cwnd / 2).max(2)
    }

    fn on_event(&mut self, window: &mut Window, now: Time, event: &Event) {
        window.on_event(event, |window| self.ssthresh(window, now, event));
        self.rtts.on_event(event);
    }

    fn observe(&self, _window: &Window, out: &mut Observer<'_>) {
        self.rtts.observe(out);
        if let Some(diff) = self.diff {
            out("diff", diff.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Path;
    use super::*;
    use crate::units::Span;

    /// The paper's equilibrium: between alpha and beta segments wait, the link is full, none lost.
    #[test]
    fn keeps_between_alpha_and_beta_segments_in_the_queue() {
        for (rate, rtt) in [(500.0, 20), (2000.0, 50), (5000.0, 100)] {
            for params in [Params::default(), Params { alpha: 6, beta: 9, ..Params::default() }] {
                let mut path = Path::<Vegas>::new(params, Span::from_millis(rtt));
                let bdp = rate * rtt as f64 / 1000.0;
                (path.rate, path.buffer) = (Some(rate), bdp as u32);
                path.run(Span::from_secs(100));
                let window = f64::from(path.cwnd());
                let (low, high) = (f64::from(params.alpha), f64::from(params.beta));
                assert!(
                    (bdp + low - 1.0..=bdp + high + 2.0).contains(&window),
                    "{params:?}: {window} at a BDP of {bdp}"
                );
                let before = path.delivered();
                path.run(Span::from_secs(10));
                assert!((path.delivered() - before) as f64 > 9.99 * rate);
            }
        }
    }

    /// Measured on the round's first ACKs, the queue is detected only when the window is three
    /// times the bandwidth-delay product of 100 segments, but still without a loss.
    #[test]
    fn slow_start_ends_without_loss() {
        let mut path = Path::<Vegas>::new(Params::default(), Span::from_millis(50));
        path.rate = Some(2000.0);
        while path.control.window.in_slow_start() {
            path.step();
        }
        assert!((300..=320).contains(&path.cwnd()), "{}", path.cwnd());
    }

    /// The threshold follows the window down, in 4.9 to one below it.
    #[test]
    fn threshold_follows_the_window_down() {
        for (version, below) in [(Stack::Linux6, 0), (Stack::Linux49, 1)] {
            let params = Params { version, ..Params::default() };
            let mut path = Path::<Vegas>::new(params, Span::from_millis(50));
            path.rate = Some(2000.0);
            while path.control.window.in_slow_start() {
                path.step();
            }
            assert_eq!(path.control.window.ssthresh + below, path.cwnd());
        }
    }

    #[test]
    fn halves_on_loss() {
        let mut path = Path::<Vegas>::new(Params::default(), Span::from_millis(50));
        path.rate = Some(2000.0);
        path.run(Span::from_secs(20));
        let before = path.cwnd();
        path.lose_one();
        assert!(path.cwnd().abs_diff(before / 2) <= 1, "{before} {}", path.cwnd());
    }
}
