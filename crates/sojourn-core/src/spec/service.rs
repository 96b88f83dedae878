//! What an overlay is to do for a flow: its utility, its priority, until when its packets are due.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::FieldError;
use crate::quantity::Percent;
use crate::registry::named;
use crate::units::{Rate, Span};

named! {
    /// What a flow gains from its rate.
    #[derive(Default)]
    Utility, "utility" {
        /// Elastic: priority times the logarithm of the rate.
        #[default]
        Log = "log",
        /// Inelastic: priority if it gets all of its rate, else nothing.
        Strap = "strap",
        /// Elastic down to a floor, below which it is turned off.
        Flog = "flog",
    }
}

/// What an overlay is to do for a flow. Between two overlay nodes, only flows with a service are the
/// overlay's; it passes others on along their routes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceSpec {
    /// What the flow gains from its rate: `log` (default), `strap` or `flog`.
    pub utility: Utility,
    /// Weight of its utility.
    pub priority: f64,
    /// Of `log` and `flog`: the utility is `priority ln(steepness rate + 1)`, rate in bit/s.
    pub steepness: f64,
    /// Most that it is admitted at.
    pub ceiling: Rate,
    /// Of `flog`: below this rate it is turned off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<Rate>,
    /// Time to go of each packet: it is worthless later, and the flow is latency-sensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// Of `strap`: share of its packets that it can do without.
    pub loss_tolerance: Percent,
}

impl Default for ServiceSpec {
    fn default() -> Self {
        ServiceSpec {
            utility: Utility::Log,
            priority: 1.0,
            steepness: 20.0,
            ceiling: Rate::from_bps(10_000_000),
            floor: None,
            deadline: None,
            loss_tolerance: Percent::new(20.0),
        }
    }
}

impl ServiceSpec {
    /// Checks the numbers.
    ///
    /// # Errors
    /// Names the key, relative to the service.
    pub fn validate(&self) -> Result<(), FieldError> {
        let positive = |field: &str, value: f64| {
            if value > 0.0 && value <= 1e9 {
                return Ok(());
            }
            Err(FieldError::new(field, format!("{value} given; allowed: above 0, up to 1e9")))
        };
        positive("priority", self.priority)?;
        positive("steepness", self.steepness)?;
        if self.floor.is_some() && self.utility != Utility::Flog {
            return Err(FieldError::new("floor", "given without utility flog, which alone has one"));
        }
        if self.deadline == Some(Span::ZERO) {
            return Err(FieldError::new("deadline", "0 ms given; allowed: above 0 ms"));
        }
        Ok(())
    }
}
