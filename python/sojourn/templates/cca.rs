//! KIND: one sentence that says what it does.
//!
//! Model: where it is specified (paper, RFC section, source file and version).
//!
//! Deviations from it: none known. List every one here; this header is the documentation page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::Window;
use super::{AckSample, CongestionControl, ControlInit, Decision, Event, Registered};
use crate::error::FieldError;
use crate::units::Time;

/// Parameters of KIND.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Share of the window kept after congestion.
    pub beta: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params { beta: 0.5 }
    }
}

impl crate::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        super::check_share("beta", self.beta)
    }
}

/// KIND.
#[derive(Debug)]
pub struct KIND {
    params: Params,
    window: Window,
}

impl Registered for KIND {
    type Params = Params;

    fn new(params: Params, init: &ControlInit) -> Self {
        KIND { params, window: Window::new(init.initial_window) }
    }
}

impl CongestionControl for KIND {
    fn on_ack(&mut self, _now: Time, ack: &AckSample) {
        if ack.may_grow && ack.cwnd_limited {
            self.window.reno_growth(ack.acked);
        }
    }

    fn on_congestion(&mut self, _now: Time, event: &Event) {
        let keep = self.params.beta;
        self.window.on_event(event, |window| ((f64::from(window.cwnd) * keep) as u32).max(2));
    }

    fn decision(&self) -> Decision {
        self.window.decision()
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
    use super::super::testing::init;
    use super::*;

    #[test]
    fn congestion_keeps_beta_of_the_window() {
        let mut control = KIND::new(Params::default(), &init());
        control.window.cwnd = 100;
        control.on_congestion(Time::ZERO, &Event::Loss { in_flight: 100 });
        assert_eq!(control.window.ssthresh, 50);
    }
}
