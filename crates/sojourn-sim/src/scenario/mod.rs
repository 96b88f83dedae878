//! The scenario: what a file says, checked, with every default filled in.
//!
//! [`Scenario::from_toml`] and [`Scenario::from_json`] refuse what cannot be run, naming the field,
//! what was given and what is allowed. [`Scenario::to_json`] is the canonical form: two files that
//! mean the same have the same, and it reads back to itself.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::arrivals::{self, Offer};
use crate::error::FieldError;
use crate::registry::{Catalogue, Kind};
use crate::section::{self, Gift};
use crate::spec::{self, toml_to_json};
use crate::topology::Plan;

mod pcap;
mod programs;
mod receivers;
#[cfg(test)]
mod refusals;
mod resolve;
mod rtt;
mod validate;

pub use crate::section::ScenarioSpec;
pub use programs::Site;

/// A scenario that can be run: what its file says, with every default filled in, the network that
/// its topology makes of that, and the catalogue in which its names mean something.
#[derive(Clone)]
pub struct Scenario {
    spec: ScenarioSpec,
    plan: Arc<Plan>,
    offers: Arc<[Offer]>,
    catalogue: Arc<Catalogue>,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

impl Deref for Scenario {
    type Target = ScenarioSpec;

    fn deref(&self) -> &ScenarioSpec {
        &self.spec
    }
}

impl Scenario {
    /// Reads a scenario file whose names are those of `catalogue`.
    ///
    /// # Errors
    /// If the text is not TOML (with line and column), or as [`Scenario::from_json`].
    pub fn from_toml(text: &str, catalogue: &Arc<Catalogue>) -> Result<Scenario, FieldError> {
        Scenario::from_json(&toml_to_json(text)?, catalogue)
    }

    /// Reads a scenario whose names are those of `catalogue` from the JSON equivalent of a file, or
    /// from the canonical form.
    ///
    /// # Errors
    /// Names the field, what was given and what is allowed.
    pub fn from_json(value: &Value, catalogue: &Arc<Catalogue>) -> Result<Scenario, FieldError> {
        let (value, entries) = arrivals::take(value)?;
        let (rest, taken) = section::take(&value, catalogue);
        let mut spec: ScenarioSpec = taken.read(&rest)?;
        spec.arrivals = arrivals::read(entries)?;
        taken.give(&mut spec.flows)?;
        receivers::expand(&mut spec.flows)?;
        resolve::resolve(&mut spec, catalogue)?;
        validate::check(&spec, catalogue)?;
        let plan = plan(&spec, catalogue)?;
        validate::check_plan(&spec, &plan, catalogue)?;
        let (entries, flows) = (&spec.arrivals, spec.flow_count());
        let offers = arrivals::offers(entries, flows, spec.duration, &plan, catalogue)?;
        arrivals::check_offers(entries, &offers, spec.duration)?;
        let (plan, catalogue) = (Arc::new(plan), Arc::clone(catalogue));
        Ok(Scenario { spec, plan, offers: offers.into(), catalogue })
    }

    /// The same with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Scenario {
        self.spec.seed = seed;
        self
    }

    /// Settings that can be run but are seldom intended, by field.
    pub fn warnings(&self) -> Vec<FieldError> {
        let mut warnings = rtt::warnings(self);
        if !self.spec.arrivals.is_empty() {
            let (entries, flows) = (&self.spec.arrivals, self.spec.flows_expanded());
            warnings.extend(arrivals::warnings(entries, &self.offers, &flows, &self.plan));
        }
        warnings
    }

    /// The canonical form: every default filled in, names and quantities in one spelling, `count`
    /// kept.
    pub fn to_json(&self) -> Value {
        let mut value = serde_json::to_value(&self.spec).expect("a scenario serialises");
        let tables = value["flows"].as_array_mut().into_iter().flatten();
        for (table, flow) in tables.filter_map(Value::as_object_mut).zip(&self.spec.flows) {
            flow.own.write(table);
        }
        arrivals::write(&self.spec.arrivals, &mut value);
        value
    }

    /// What each entry of `arrivals` offers to the network.
    pub fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// The parts of the network to which results refer: those of [`Plan::to_json`], whose `paths`
    /// are those of the flows, and where there are any, `arrivals`.
    pub fn network(&self) -> Value {
        let mut network = self.plan.to_json();
        if let Some(paths) = network["paths"].as_array_mut() {
            paths.truncate(self.spec.flow_count());
        }
        if !self.spec.arrivals.is_empty() {
            let (entries, flows) = (&self.spec.arrivals, self.spec.flow_count());
            network["arrivals"] = arrivals::told(entries, flows, &self.offers, &self.plan);
        }
        network
    }

    /// Where each of its programs runs.
    pub fn sites(&self) -> Vec<Site> {
        let (flows, plan) = (self.spec.flow_count(), &self.plan);
        let site = |program: &spec::ProgramSpec| programs::site(&program.host, flows, plan);
        let sites = self.spec.programs.iter().map(site).collect::<Option<_>>();
        sites.expect("programs without a host were refused")
    }

    /// For each flow, whether a program is at either end: it is a way for programs, then.
    pub fn carried(&self) -> Vec<bool> {
        programs::carried(&self.spec, &self.plan)
    }

    /// The network that the topology makes for the flows.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The sections' values for the nodes and flows of one run. They hold state of the run, so
    /// every run needs new ones.
    ///
    /// # Errors Never for a scenario that was validated.
    pub fn gift(&self) -> Result<Gift, FieldError> {
        section::give(&self.spec, &self.plan, &self.catalogue)
    }

    /// The same, to be kept.
    pub(crate) fn shared_catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// The catalogue it was read with.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }
}

fn plan(spec: &ScenarioSpec, catalogue: &Catalogue) -> Result<Plan, FieldError> {
    let topology = &spec.topology;
    let entry =
        catalogue.find::<spec::Topology>(&topology.kind).map_err(|e| e.within("topology"))?;
    (entry.make)(&topology.params, &spec.paths(), catalogue)
}

/// The JSON schema of scenario files, with the members of `catalogue`.
pub fn json_schema(catalogue: &Catalogue) -> Value {
    fn define<K: Kind>(definitions: &mut Map<String, Value>, catalogue: &Catalogue) {
        definitions.insert(K::NAME.to_owned(), spec::schema_of::<K>(catalogue));
    }
    let mut schema = schemars::schema_for!(ScenarioSpec).to_value();
    arrivals::describe(&mut schema);
    section::describe(&mut schema, catalogue);
    if let Some(definitions) = schema["$defs"].as_object_mut() {
        define::<spec::Cca>(definitions, catalogue);
        define::<spec::Queue>(definitions, catalogue);
        define::<spec::Traffic>(definitions, catalogue);
        define::<spec::Topology>(definitions, catalogue);
        define::<spec::Transport>(definitions, catalogue);
        define::<spec::Node>(definitions, catalogue);
        define::<spec::Medium>(definitions, catalogue);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::builtin;

    const EXAMPLE: &str = include_str!("example.toml");

    #[test]
    fn canonical_form_reads_back_to_itself() {
        let scenario = Scenario::from_toml(EXAMPLE, builtin()).unwrap();
        let canonical = scenario.to_json();
        assert_eq!(canonical["flows"][0]["stop"], "15 s");
        assert_eq!(canonical["flows"][0]["cca"]["beta"], 0.5);
        assert_eq!(canonical["flows"][1]["cca"]["fast_convergence"], false);
        assert_eq!(canonical["topology"]["bottleneck"]["device_queue"], "0 packets");
        assert_eq!(Scenario::from_json(&canonical, builtin()).unwrap().to_json(), canonical);
    }

    #[test]
    fn a_queue_without_kind_is_a_fifo() {
        let silent = EXAMPLE.replace("kind = \"fifo\", ", "");
        assert_ne!(silent, EXAMPLE);
        let canonical = |text: &str| Scenario::from_toml(text, builtin()).unwrap().to_json();
        assert_eq!(canonical(&silent), canonical(EXAMPLE));
    }

    #[test]
    fn count_expands_in_the_order_of_the_file() {
        let scenario = Scenario::from_toml(EXAMPLE, builtin()).unwrap();
        let entries: Vec<_> = scenario.flows_expanded().iter().map(|f| (f.id, f.entry)).collect();
        assert_eq!(entries, [(0, 0), (1, 1), (2, 1), (3, 1)]);
    }
}
