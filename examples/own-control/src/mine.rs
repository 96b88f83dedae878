//! Mine: Reno that keeps more of its window after congestion.
//!
//! Model: additive increase, multiplicative decrease, with a factor of 0.7 in place of 0.5.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_core::FieldError;
use sojourn_core::cc::law::{WindowLaw, Windowed};
use sojourn_core::cc::window::Window;
use sojourn_core::cc::{AckSample, ControlInit, Event};
use sojourn_core::units::Time;

/// Parameters of the control.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Share of the window kept after congestion.
    pub beta: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params { beta: 0.7 }
    }
}

impl sojourn_core::registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        if (0.1..1.0).contains(&self.beta) {
            return Ok(());
        }
        Err(FieldError::new("beta", format!("{} given; allowed: 0.1 to below 1", self.beta)))
    }
}

/// The control.
pub type Mine = Windowed<Law>;

/// The law of its window.
#[derive(Debug)]
pub struct Law {
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
