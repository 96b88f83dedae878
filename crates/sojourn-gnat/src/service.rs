//! Service of an overlay for a flow: its utility, its priority, and the deadline of its packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_base::error::FieldError;
use sojourn_base::quantity::Percent;
use sojourn_base::registry::named;
use sojourn_base::units::{Rate, Span};

named! {
    /// Utility of a flow's rate.
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

impl Utility {
    /// Whether a flow is worth nothing below its rate, so that supervisory control may turn it off.
    pub(crate) fn is_inelastic(self) -> bool {
        match self {
            Utility::Strap => true,
            Utility::Log | Utility::Flog => false,
        }
    }

    /// Whether supervisory control watches its flows; those with a floor turn themselves off.
    pub(crate) fn is_supervised(self) -> bool {
        match self {
            Utility::Log | Utility::Strap => true,
            Utility::Flog => false,
        }
    }

    /// Whether the proxies of TCP can admit by it.
    pub(crate) fn takes_tcp(self) -> bool {
        match self {
            Utility::Log => true,
            Utility::Strap | Utility::Flog => false,
        }
    }
}

/// A priority and the time from which it holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityStep {
    /// When.
    pub at: Span,
    /// The priority.
    pub value: f64,
}

/// Service of an overlay for a flow. Between two overlay nodes, the overlay carries only flows with
/// a service; it forwards others along their routes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceSpec {
    /// Utility of the flow's rate: `log` (default), `strap` or `flog`.
    pub utility: Utility,
    /// Weight of its utility.
    pub priority: f64,
    /// Priorities that hold from given times on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priority_schedule: Vec<PriorityStep>,
    /// Of `log` and `flog`: the utility is `priority ln(steepness rate + 1)`, rate in bit/s.
    pub steepness: f64,
    /// Largest rate at which it is admitted.
    pub ceiling: Rate,
    /// Of `flog`: below this rate it is turned off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<Rate>,
    /// Time from the admission of a packet within which it must arrive; with a deadline, the flow
    /// is latency-sensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// Of `strap`: share of its packets that may be lost.
    pub loss_tolerance: Percent,
    /// Multicast group: datagrams of the flows with the same group, `label` and `from` are one stream,
    /// admitted once and delivered to the `to` of each flow that is on at that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Service of an overlay for flows with these ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortService {
    /// A port, or the first and the last: `5001`, `30777-30778`.
    pub ports: String,
    /// The service.
    pub service: ServiceSpec,
}

impl PortService {
    /// The first and the last port; `None` if they are none.
    pub fn range(&self) -> Option<(u16, u16)> {
        let (first, last) = self.ports.split_once('-').unwrap_or((&self.ports, &self.ports));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last).then_some((first, last))
    }
}

impl Default for ServiceSpec {
    fn default() -> Self {
        ServiceSpec {
            utility: Utility::Log,
            priority: 1.0,
            priority_schedule: Vec::new(),
            steepness: 20.0,
            ceiling: Rate::from_bps(10_000_000),
            floor: None,
            deadline: None,
            loss_tolerance: Percent::new(20.0),
            group: None,
        }
    }
}

impl ServiceSpec {
    /// Checks the numbers.
    ///
    /// # Errors
    /// A number is out of range: names the key, relative to the service.
    pub fn validate(&self) -> Result<(), FieldError> {
        let positive = |field: &str, value: f64| {
            if value > 0.0 && value <= 1e9 {
                return Ok(());
            }
            Err(FieldError::new(field, format!("{value} given; allowed: above 0, up to 1e9")))
        };
        positive("priority", self.priority)?;
        positive("steepness", self.steepness)?;
        let steps = &self.priority_schedule;
        steps.iter().try_for_each(|step| positive("priority_schedule", step.value))?;
        if let Some(pair) = steps.windows(2).find(|pair| pair[1].at <= pair[0].at) {
            let message =
                format!("{} given after {}; allowed: increasing times", pair[1].at, pair[0].at);
            return Err(FieldError::new("priority_schedule", message));
        }
        if self.floor.is_some() && self.utility != Utility::Flog {
            return Err(FieldError::new(
                "floor",
                "given without utility flog; only that utility has a floor",
            ));
        }
        if self.group.is_some() && self.deadline.is_some() {
            return Err(FieldError::new(
                "deadline",
                "given with a group; only flows without a group have a deadline",
            ));
        }
        if self.deadline == Some(Span::ZERO) {
            return Err(FieldError::new("deadline", "0 ms given; allowed: above 0 ms"));
        }
        Ok(())
    }
}
