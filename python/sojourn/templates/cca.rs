//! KIND: one sentence that says what it does.
//!
//! Model: where it is specified (paper, RFC section, source file and version).
//!
//! Deviations from it: none known. List every one here; this header is the documentation page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::law::{WindowLaw, Windowed};
use super::window::Window;
use super::{AckSample, ControlInit, Event};
use crate::error::FieldError;
use crate::units::Time;

/// Parameters of KIND.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Params {
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
pub(super) type KIND = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub(super) struct Law {
    params: Params,
}

impl WindowLaw for Law {
    type Params = Params;

    fn new(params: Params, _init: &ControlInit) -> Self {
        Law { params }
    }

    fn on_ack(&mut self, window: &mut Window, _now: Time, ack: &AckSample) {
        if ack.may_grow && ack.cwnd_limited {
            window.reno_growth(ack.acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _now: Time, _event: &Event) -> u32 {
        ((f64::from(window.cwnd) * self.params.beta) as u32).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::init;
    use super::*;
    use crate::cc::{CongestionControl, Registered};

    #[test]
    fn congestion_keeps_beta_of_the_window() {
        let mut control = KIND::new(Params::default(), &init());
        control.window.cwnd = 100;
        control.on_congestion(Time::ZERO, &Event::Loss { in_flight: 100 });
        assert_eq!(control.window.ssthresh, 50);
    }
}
