//! What may change in a node's configuration while it runs: where neighbours are, their keys, and
//! the services of flows.

use std::path::Path;

use serde_json::{Map, Value};
use sojourn_base::error::FieldError;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::spec::Flow;

use super::{Config, Error, PeerConfig};
use crate::{FlowKeys, ServiceSpec};

/// What is to change in a running node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Neighbours with another key or address: as they were, and as they are to be.
    pub peers: Vec<(PeerConfig, PeerConfig)>,
    /// Flows with another service, by their number in the scenario.
    pub services: Vec<(u32, ServiceSpec)>,
}

/// What differs between two configurations of a node, each with its scenario.
///
/// # Errors
/// Names the field that cannot change while a node runs.
pub fn changes(old: (&Config, &Scenario), new: (&Config, &Scenario)) -> Result<Changes, Error> {
    let of_file = |path: &Path| {
        let path = path.to_owned();
        move |error| Error::Config { path, error }
    };
    own_fields(old.0, new.0).map_err(of_file(&new.0.file))?;
    let peers = peers(old.0, new.0).map_err(of_file(&new.0.file))?;
    let services = services(old.1, new.1).map_err(of_file(&new.0.overlay))?;
    Ok(Changes { peers, services })
}

/// That a field cannot be another one.
fn refused(field: impl Into<String>, old: impl AsRef<str>, new: impl AsRef<str>) -> FieldError {
    let (old, new) = (old.as_ref(), new.as_ref());
    let message = format!("{new} given where the running node has {old}; start it anew for this");
    FieldError::new(field, message)
}

fn own_fields(old: &Config, new: &Config) -> Result<(), FieldError> {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
    let fields = |config: &Config| {
        [
            ("node", config.node.clone()),
            ("listen", config.listen.to_string()),
            ("key", config.key.display().to_string()),
            ("emulate", config.emulate.to_string()),
            ("status", or_none(config.status.as_ref().map(|path| path.display().to_string()))),
            ("metrics", or_none(config.metrics.map(|address| address.to_string()))),
        ]
    };
    let mut fields = fields(old).into_iter().zip(fields(new));
    match fields.find(|((_, old), (_, new))| old != new) {
        Some(((field, old), (_, new))) => Err(refused(field, old, new)),
        None => Ok(()),
    }
}

fn peers(old: &Config, new: &Config) -> Result<Vec<(PeerConfig, PeerConfig)>, FieldError> {
    let names = |config: &Config| {
        let mut names: Vec<_> = config.peers.iter().map(|peer| peer.node.clone()).collect();
        names.sort();
        names
    };
    let [were, are] = [names(old), names(new)];
    if were != are {
        return Err(refused("peers", were.join(", "), are.join(", ")));
    }
    let changed = old.peers.iter().filter_map(|was| {
        let is = new.peers.iter().find(|peer| peer.node == was.node)?;
        (is != was).then(|| (was.clone(), is.clone()))
    });
    Ok(changed.collect())
}

fn services(old: &Scenario, new: &Scenario) -> Result<Vec<(u32, ServiceSpec)>, FieldError> {
    if let Some(error) = difference("", &lasting(old), &lasting(new)) {
        return Err(error);
    }
    let (old, new) = (old.flows_expanded(), new.flows_expanded());
    let service = |flow: &Flow<'_>| flow.spec.own.get::<FlowKeys>().service;
    let changed = old.iter().zip(&new).filter_map(|(was, is)| {
        let (was, service) = (service(was), service(is)?);
        (was.as_ref() != Some(&service)).then_some((is.id, service))
    });
    Ok(changed.collect())
}

/// A scenario's canonical form without what may change.
fn lasting(scenario: &Scenario) -> Value {
    let mut value = scenario.to_json();
    for flow in value["flows"].as_array_mut().into_iter().flatten() {
        if let Some(service) = flow.get_mut("service").and_then(Value::as_object_mut) {
            service.retain(|key, _| key == "group");
        }
    }
    value
}

/// The first difference between two values of a field.
fn difference(field: &str, old: &Value, new: &Value) -> Option<FieldError> {
    let below =
        |key: &str| if field.is_empty() { key.to_owned() } else { format!("{field}.{key}") };
    match (old, new) {
        (Value::Object(was), Value::Object(is)) => {
            let more = is.keys().filter(|key| !was.contains_key(*key));
            let value =
                |of: &Map<String, Value>, key: &str| of.get(key).cloned().unwrap_or(Value::Null);
            let mut keys = was.keys().chain(more);
            keys.find_map(|key| difference(&below(key), &value(was, key), &value(is, key)))
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            let mut pairs = was.iter().zip(is).enumerate();
            pairs.find_map(|(at, (was, is))| difference(&below(&at.to_string()), was, is))
        }
        _ if old == new => None,
        _ => Some(refused(field, brief(old), brief(new))),
    }
}

/// A value in a few words.
fn brief(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Array(entries) => format!("{} entries", entries.len()),
        Value::Object(_) => "a table".to_owned(),
        value => value.to_string(),
    }
}
