//! The scenario: what a file says, checked, with every default filled in.
//!
//! [`Scenario::from_toml`] and [`Scenario::from_json`] refuse what cannot be run, naming the field,
//! what was given and what is allowed. [`Scenario::to_json`] is the canonical form: two files that
//! mean the same have the same, and it reads back to itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::FieldError;
use crate::topology::{self, Plan};
use crate::units::Span;

mod buffer;
mod flow;
mod limits;
mod link;
mod names;
#[cfg(test)]
mod properties;
#[cfg(test)]
pub(crate) mod random;
#[cfg(test)]
mod refusals;
mod resolve;
mod rtt;
mod spec;
mod toml;
mod validate;

pub use self::toml::toml_to_json;
pub use buffer::BufferSize;
pub use flow::{Flow, FlowSpec};
pub use link::LinkSpec;
pub use names::{FlowDirection, HostQueue, Stack, Transport};
pub use spec::{Cca, Kind, Queue, Spec, Topology, Traffic};

/// A network, the flows on it and what to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Names the results.
    #[serde(default = "default_name")]
    pub name: String,
    /// Simulated time.
    pub duration: Span,
    /// Seed of all random draws.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Endpoints' era.
    #[serde(default)]
    pub stack: Stack,
    /// Length of a sample.
    #[serde(default = "default_sample_interval")]
    pub sample_interval: Span,
    /// Samples before this are left out of metrics.
    #[serde(default)]
    pub warmup: Span,
    /// The network.
    pub topology: Spec<Topology>,
    /// The flows.
    pub flows: Vec<FlowSpec>,
}

fn default_name() -> String {
    "scenario".to_owned()
}

fn default_seed() -> u64 {
    1
}

fn default_sample_interval() -> Span {
    Span::from_millis(100)
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// If the text is not TOML (with line and column), or as [`Scenario::from_json`].
    pub fn from_toml(text: &str) -> Result<Scenario, FieldError> {
        Scenario::from_json(&toml_to_json(text)?)
    }

    /// Reads a scenario from the JSON equivalent of a file, or from the canonical form.
    ///
    /// # Errors
    /// Names the field, what was given and what is allowed.
    pub fn from_json(value: &Value) -> Result<Scenario, FieldError> {
        let mut scenario: Scenario = serde_path_to_error::deserialize(value)
            .map_err(|error| FieldError::from_serde(&error))?;
        resolve::resolve(&mut scenario)?;
        validate::check(&scenario)?;
        Ok(scenario)
    }

    /// What can be run and is seldom meant, field by field.
    pub fn warnings(&self) -> Vec<FieldError> {
        rtt::warnings(self)
    }

    /// The canonical form: every default filled in, names and quantities in one spelling, `count`
    /// kept.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a scenario serialises")
    }

    /// The flows of the run, `count` expanded.
    pub fn flows_expanded(&self) -> Vec<Flow<'_>> {
        let copies = self.flows.iter().enumerate();
        let copies = copies.flat_map(|(entry, spec)| (0..spec.count).map(move |_| (entry, spec)));
        copies.zip(0..).map(|((entry, spec), id)| Flow { id, entry, spec }).collect()
    }

    /// The network that the topology makes for the flows.
    ///
    /// # Errors
    /// If a flow's hosts or route do not fit; never for a scenario that was read.
    pub fn plan(&self) -> Result<Plan, FieldError> {
        let entry = topology::find(&self.topology.kind).map_err(|e| e.within("topology"))?;
        entry.build(&self.topology.params, &self.flows_expanded())
    }
}

/// The JSON schema of scenario files.
pub fn json_schema() -> Value {
    schemars::schema_for!(Scenario).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("example.toml");

    #[test]
    fn canonical_form_reads_back_to_itself() {
        let scenario = Scenario::from_toml(EXAMPLE).unwrap();
        let canonical = scenario.to_json();
        assert_eq!(canonical["flows"][0]["stop"], "15 s");
        assert_eq!(canonical["flows"][0]["cca"]["beta"], 0.5);
        assert_eq!(canonical["flows"][1]["cca"]["fast_convergence"], false);
        assert_eq!(canonical["topology"]["bottleneck"]["device_queue"], "0 packets");
        assert_eq!(Scenario::from_json(&canonical).unwrap().to_json(), canonical);
    }

    #[test]
    fn count_expands_in_the_order_of_the_file() {
        let scenario = Scenario::from_toml(EXAMPLE).unwrap();
        let entries: Vec<_> = scenario.flows_expanded().iter().map(|f| (f.id, f.entry)).collect();
        assert_eq!(entries, [(0, 0), (1, 1), (2, 1), (3, 1)]);
    }
}
