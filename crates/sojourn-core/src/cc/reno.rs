//! NewReno: additive increase of one segment per round trip, halving on congestion.
//!
//! Model: Linux `net/ipv4/tcp_cong.c` (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh`) and RFC 5681.
//! With `beta_ecn` above one half it is NewReno with Alternative Backoff with ECN (RFC 8511):
//! a mark cuts the window to `beta_ecn` of itself, a loss still halves it.
//!
//! Deviations from RFC 5681, all of them Linux's: the threshold is half the *window*, not half the
//! data in flight; slow start counts every acknowledged segment (RFC 3465 without its limit of
//! two); growth stops while the window is not what limits sending.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::Window;
use super::{AckSample, CongestionControl, Control, ControlInit, Event, Registered};
use crate::error::FieldError;
use crate::units::Time;

/// Parameters of NewReno.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Share of the window kept after a loss.
    pub beta: f64,
    /// Share of the window kept after an ECN mark (RFC 8511 recommends 0.8).
    pub beta_ecn: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params { beta: 0.5, beta_ecn: 0.5 }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        super::check_share("beta", self.beta)?;
        super::check_share("beta_ecn", self.beta_ecn)
    }
}

/// NewReno.
#[derive(Debug)]
pub struct Reno {
    params: Params,
    window: Window,
}

impl Registered for Reno {
    type Params = Params;

    fn new(params: Params, init: &ControlInit) -> Self {
        Reno { params, window: Window::new(init.initial_window) }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, _now: Time, ack: &AckSample) {
        if ack.may_grow && ack.cwnd_limited {
            self.window.reno_growth(ack.acked);
        }
    }

    fn on_congestion(&mut self, _now: Time, event: &Event) {
        let keep = match event {
            Event::Ecn { .. } => self.params.beta_ecn,
            _ => self.params.beta,
        };
        self.window.on_event(event, |window| ((f64::from(window.cwnd) * keep) as u32).max(2));
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn save(&mut self) {
        self.window.save();
    }

    fn undo(&mut self, _now: Time) {
        self.window.undo();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_on_loss_and_keeps_beta_on_mark() {
        let cut = |event: Event| {
            let mut window = Window::new(100);
            let mut reno = Reno { params: Params { beta_ecn: 0.8, ..Params::default() }, window };
            reno.on_congestion(Time::ZERO, &event);
            window = reno.window;
            window.ssthresh
        };
        assert_eq!(cut(Event::Loss { in_flight: 100 }), 50);
        assert_eq!(cut(Event::Ecn { in_flight: 100 }), 80);
    }
}
