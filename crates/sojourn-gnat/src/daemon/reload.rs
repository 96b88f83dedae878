//! What may change in a node's configuration while it runs: where neighbours are, their keys, and
//! the services of flows.

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
    own_fields(old.0, new.0).map_err(Error::config(&new.0.file))?;
    let peers = peers(old.0, new.0).map_err(Error::config(&new.0.file))?;
    let services = services(old.1, new.1).map_err(Error::config(&new.0.overlay))?;
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
    if old.applications != new.applications {
        let message = "others given than the running node has; start it anew for this";
        return Err(FieldError::new("applications", message));
    }
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

#[cfg(test)]
mod tests {
    use sojourn_sliq::secure::Secret;

    use super::*;
    use crate::catalogue::builtin;
    use crate::daemon::config::ApplicationsConfig;

    const SCENARIO: &str = r#"
duration = "10 s"
[topology]
kind = "graph"
nodes = [{ id = "a", kind = "overlay" }, { id = "b", kind = "overlay" }]
[[topology.links]]
id = "ab"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "5 ms"
[[flows]]
transport = "udp"
from = "a"
to = "b"
traffic = { kind = "cbr", rate = "1 Mbit/s" }
service = { priority = 1 }
[[flows]]
count = 2
transport = "udp"
from = "b"
to = "a"
traffic = { kind = "cbr", rate = "1 Mbit/s" }
service = { priority = 2 }
"#;

    fn peer(node: &str, key: u8, address: Option<u8>) -> PeerConfig {
        PeerConfig {
            node: node.to_owned(),
            key: Secret::from_bytes([key; 32]).public(),
            address: address.map(|last| ([192, 0, 2, last], 7100).into()),
        }
    }

    fn config(peers: Vec<PeerConfig>) -> Config {
        Config {
            file: "a.toml".into(),
            node: "a".to_owned(),
            overlay: "scenario.toml".into(),
            listen: ([127, 0, 0, 1], 7100).into(),
            key: "a.key".into(),
            emulate: false,
            status: None,
            metrics: None,
            applications: None,
            peers,
        }
    }

    /// The changes where text of the scenario is replaced.
    fn with_scenario(from: &str, to: &str) -> Result<Changes, String> {
        let text = SCENARIO.replacen(from, to, 1);
        assert_ne!(text, SCENARIO);
        let [old, new] =
            [SCENARIO, &text].map(|text| Scenario::from_toml(text, builtin()).unwrap());
        let config = config(Vec::new());
        changes((&config, &old), (&config, &new)).map_err(|error| error.to_string())
    }

    /// The changes where something of the configuration is.
    fn with_config(change: impl FnOnce(&mut Config)) -> Result<Changes, String> {
        let old = config(vec![peer("b", 1, Some(1)), peer("c", 2, None)]);
        let mut new = old.clone();
        change(&mut new);
        let scenario = Scenario::from_toml(SCENARIO, builtin()).unwrap();
        changes((&old, &scenario), (&new, &scenario)).map_err(|error| error.to_string())
    }

    #[test]
    fn addresses_and_keys_of_neighbours_change() {
        let swapped = with_config(|config| config.peers.swap(0, 1)).unwrap();
        assert_eq!(swapped, Changes::default());
        let [key, address] = [peer("b", 3, Some(1)), peer("c", 2, Some(9))];
        let changes =
            with_config(|config| config.peers = vec![key.clone(), address.clone()]).unwrap();
        let peers = vec![(peer("b", 1, Some(1)), key), (peer("c", 2, None), address)];
        assert_eq!(changes, Changes { peers, services: Vec::new() });
    }

    #[test]
    fn services_of_flows_change() {
        let changes =
            with_scenario("priority = 2", "priority = 4, ceiling = \"2 Mbit/s\"").unwrap();
        let flows: Vec<_> = changes.services.iter().map(|(flow, _)| *flow).collect();
        assert_eq!((flows, changes.peers), (vec![1, 2], Vec::new()));
        assert_eq!(changes.services[1].1.priority, 4.0);
        let same = with_scenario("priority = 2", "priority = 2.0").unwrap();
        assert_eq!(same, Changes::default());
    }

    #[test]
    fn what_else_changes_is_refused_by_its_name() {
        let why = |change: fn(&mut Config)| with_config(change).unwrap_err();
        for (message, expected) in [
            (
                why(|config| config.listen.set_port(7200)),
                "a.toml: listen: 127.0.0.1:7200 given where the running node has 127.0.0.1:7100; \
                 start it anew for this",
            ),
            (
                why(|config| config.metrics = Some(([127, 0, 0, 1], 9464).into())),
                "a.toml: metrics: 127.0.0.1:9464 given where the running node has none; start it \
                 anew for this",
            ),
            (
                why(|config| config.peers.truncate(1)),
                "a.toml: peers: b given where the running node has b, c; start it anew for this",
            ),
            (
                with_scenario("\"10 Mbit/s\"", "\"20 Mbit/s\"").unwrap_err(),
                "scenario.toml: topology.links.0.rate: \"20 Mbit/s\" given where the running node \
                 has \"10 Mbit/s\"; start it anew for this",
            ),
            (
                with_scenario("service = { priority = 1 }", "").unwrap_err(),
                "scenario.toml: flows.0.service: none given where the running node has a table; \
                 start it anew for this",
            ),
            (
                with_scenario("{ id = \"b\"", "{ id = \"c\", kind = \"overlay\" }, { id = \"b\"")
                    .unwrap_err(),
                "scenario.toml: topology.nodes: 3 entries given where the running node has 2 \
                 entries; start it anew for this",
            ),
        ] {
            assert_eq!(message, expected);
        }
        let programs = |config: &mut Config| {
            config.applications = Some(ApplicationsConfig {
                device: "sojourn0".to_owned(),
                members: Vec::new(),
                groups: Vec::new(),
                services: Vec::new(),
            });
        };
        assert_eq!(
            why(programs),
            "a.toml: applications: others given than the running node has; start it anew for this"
        );
        assert!(why(|config| config.node = "b".to_owned()).starts_with("a.toml: node: b given"));
        assert!(why(|config| config.key = "b.key".into()).starts_with("a.toml: key: b.key given"));
    }
}
