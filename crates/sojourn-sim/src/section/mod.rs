//! Sections of scenarios that wings add: keys of the scenario's table and of a flow's table, so
//! that the reader of scenarios names no wing.
//!
//! The catalogue has sections as it has members of the open kinds. Their keys are removed from the
//! document before serde reads it, and read by their section; canonical forms and the schema have
//! them at the places that the section declares.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arrivals;
use crate::error::FieldError;
use crate::reading;
use crate::registry::{Catalogue, Entry, Kind, Listing, NoFacts, NoParams};
use crate::spec::own::{self, Keys, Place};
use crate::spec::{FlowSpec, Transport};
use crate::topology::Plan;

mod file;
mod gift;
pub mod multicast;

pub use file::ScenarioSpec;
pub use gift::Gift;

/// A section that a wing adds to scenarios.
pub trait Section: 'static {
    /// Keys of the scenario's table.
    type OfScenario: Keys;
    /// Keys of a flow's table.
    type OfFlow: Keys;

    /// Moves the scenario's keys to the flows: the canonical form has them there alone.
    ///
    /// # Errors
    /// Names the field from the root.
    fn arrange(_own: Self::OfScenario, _flows: &mut [FlowSpec]) -> Result<(), FieldError> {
        Ok(())
    }

    /// Checks a flow's keys together with its transport.
    ///
    /// # Errors
    /// Names the field, relative to the flow.
    fn check_flow(
        _own: &Self::OfFlow,
        _flow: &FlowSpec,
        _transport: &Entry<Transport>,
    ) -> Result<(), FieldError> {
        Ok(())
    }

    /// Adds the values of nodes and flows for a run on this network.
    ///
    /// # Errors
    /// Names the field from the root.
    fn give(_scenario: &ScenarioSpec, _plan: &Plan, _gift: &mut Gift) -> Result<(), FieldError> {
        Ok(())
    }
}

/// Sections, by name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sections {}

impl Kind for Sections {
    const NAME: &'static str = "section";
    const PLURAL: &'static str = "sections";
    const TITLE: &'static str = "section";
    const EXAMPLE: &'static str = "stream";
    type Facts = NoFacts;
    type Make = Hooks;
}

type Table = Map<String, Value>;
type Check = Result<(), FieldError>;

/// Functions of a section.
#[derive(Clone, Copy)]
pub struct Hooks {
    /// Places of the keys of a scenario, and of a flow.
    places: [&'static [Place]; 2],
    schemas: fn() -> [Value; 2],
    read: fn(Table, &mut FlowSpec) -> Check,
    arrange: fn(Table, &mut [FlowSpec]) -> Check,
    check_flow: fn(&FlowSpec, &Entry<Transport>) -> Check,
    give: fn(&ScenarioSpec, &Plan, &mut Gift) -> Check,
}

/// The catalogue's entry of a section.
pub fn entry<S: Section>(name: &'static str) -> Entry<Sections> {
    let hooks = Hooks {
        places: [S::OfScenario::PLACES, S::OfFlow::PLACES],
        schemas: || [schema::<S::OfScenario>(), schema::<S::OfFlow>()],
        read: |table, flow| {
            flow.bring(&typed::<S::OfFlow>(table)?);
            Ok(())
        },
        arrange: |table, flows| S::arrange(typed(table)?, flows),
        check_flow: |flow, transport| S::check_flow(&flow.own.get(), flow, transport),
        give: S::give,
    };
    Entry { listing: Listing::new::<NoParams>(name, ""), facts: NoFacts {}, make: hooks }
}

fn schema<T: Keys>() -> Value {
    schemars::schema_for!(T).to_value()
}

fn typed<T: Keys>(table: Table) -> Result<T, FieldError> {
    reading::read(&Value::Object(table))
}

fn hooks(catalogue: &Catalogue) -> impl Iterator<Item = &Hooks> {
    catalogue.members::<Sections>().iter().map(|entry| &entry.make)
}

/// The sections' keys that were removed from a document: for each section those of the scenario and
/// of each flow; `None` where the document has no such key.
pub struct Taken<'a> {
    catalogue: &'a Catalogue,
    tables: Vec<(Table, Vec<Table>)>,
}

/// Removes the sections' keys from a document; returns the rest. A document without such keys is
/// not copied.
pub fn take<'a, 'b>(value: &'b Value, catalogue: &'a Catalogue) -> (Cow<'b, Value>, Taken<'a>) {
    let has_any =
        |table: &Value, places: &[Place]| places.iter().any(|(key, _)| table.get(key).is_some());
    let flows = value.get("flows").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_concerned = hooks(catalogue).any(|Hooks { places: [of_scenario, of_flow], .. }| {
        has_any(value, of_scenario) || flows.iter().any(|flow| has_any(flow, of_flow))
    });
    if !is_concerned {
        return (Cow::Borrowed(value), Taken { catalogue, tables: Vec::new() });
    }
    let mut rest = value.clone();
    let tables = hooks(catalogue).map(|Hooks { places: [of_scenario, of_flow], .. }| {
        let own = remove(&mut rest, of_scenario);
        let flows = rest.get_mut("flows").and_then(Value::as_array_mut).into_iter().flatten();
        (own, flows.map(|flow| remove(flow, of_flow)).collect())
    });
    let tables = tables.collect();
    (Cow::Owned(rest), Taken { catalogue, tables })
}

fn remove(table: &mut Value, places: &[Place]) -> Table {
    let Some(table) = table.as_object_mut() else { return Map::new() };
    let keys = places.iter().map(|(key, _)| *key);
    keys.filter_map(|key| Some((key.to_owned(), table.shift_remove(key)?))).collect()
}

impl Taken<'_> {
    /// Reads the rest; errors list the sections' keys among those that are allowed.
    ///
    /// # Errors
    /// Names the field.
    pub fn read<T: DeserializeOwned>(&self, rest: &Value) -> Result<T, FieldError> {
        reading::read_among(rest, |table, keys| {
            let which = match table.split('.').collect::<Vec<_>>()[..] {
                [""] => 0,
                ["flows", _] => 1,
                _ => return,
            };
            for (key, before) in hooks(self.catalogue).flat_map(|hooks| hooks.places[which]) {
                let at = keys.iter().position(|known| Some(*known) == *before);
                keys.insert(at.unwrap_or(keys.len()), key);
            }
            if which == 0 {
                keys.push(arrivals::KEY);
            }
        })
    }

    /// Sets the keys of the flows, of which there are as many as in the document.
    ///
    /// # Errors
    /// Names the field.
    pub fn give(self, flows: &mut [FlowSpec]) -> Result<(), FieldError> {
        let sections = hooks(self.catalogue).zip(self.tables);
        let read = sections.map(|(hooks, (own, tables))| {
            for (index, table) in tables.into_iter().enumerate().filter(|(_, t)| !t.is_empty()) {
                (hooks.read)(table, &mut flows[index])
                    .map_err(|error| error.within(&format!("flows.{index}")))?;
            }
            Ok((hooks, own))
        });
        let read = read.collect::<Result<Vec<_>, FieldError>>()?;
        read.into_iter().try_for_each(|(hooks, own)| (hooks.arrange)(own, flows))
    }
}

/// Checks a flow's keys of all sections.
///
/// # Errors
/// Names the field, relative to the flow.
pub fn check_flow(
    flow: &FlowSpec,
    transport: &Entry<Transport>,
    catalogue: &Catalogue,
) -> Result<(), FieldError> {
    hooks(catalogue).try_for_each(|hooks| (hooks.check_flow)(flow, transport))
}

/// The values of all sections for a run of a scenario.
///
/// # Errors
/// If it cannot be run on this network.
pub fn give(
    scenario: &ScenarioSpec,
    plan: &Plan,
    catalogue: &Catalogue,
) -> Result<Gift, FieldError> {
    let mut gift = Gift::default();
    hooks(catalogue).try_for_each(|hooks| (hooks.give)(scenario, plan, &mut gift))?;
    Ok(gift)
}

/// Adds the sections' keys to the schema of scenarios.
pub fn describe(schema: &mut Value, catalogue: &Catalogue) {
    for hooks in hooks(catalogue) {
        let [mut of_scenario, mut of_flow] = (hooks.schemas)();
        let [scenarios, flows] = hooks.places;
        add_keys(&mut schema["properties"], scenarios, &mut of_scenario);
        add_keys(&mut schema["$defs"]["FlowSpec"]["properties"], flows, &mut of_flow);
        for mut theirs in [of_scenario, of_flow] {
            let Some(definitions) = theirs["$defs"].as_object_mut() else { continue };
            for (name, definition) in std::mem::take(definitions) {
                schema["$defs"][name] = definition;
            }
        }
    }
}

fn add_keys(properties: &mut Value, places: &[Place], schema: &mut Value) {
    let Some(properties) = properties.as_object_mut() else { return };
    for place in places {
        own::insert(properties, *place, schema["properties"][place.0].take());
    }
}
