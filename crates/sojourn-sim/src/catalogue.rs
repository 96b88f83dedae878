//! The catalogue: every member of every open kind, with its documentation and parameters.

use serde_json::{Map, Value, json};

use crate::edge::medium;
use crate::registry::{Catalogue, Entry, Kind};
use crate::section::multicast;
use crate::{cc, node, queue, spec, topology, traffic, transport};

/// The members of the core, without any wing.
pub fn core() -> Catalogue {
    Catalogue::empty()
        .with(cc::members())
        .with(queue::members())
        .with(traffic::members())
        .with(topology::members())
        .with(transport::members())
        .with(node::members())
        .with(medium::members())
        .with(vec![multicast::section()])
}

/// The catalogue with which tests read scenarios.
#[cfg(test)]
pub fn builtin() -> &'static std::sync::Arc<Catalogue> {
    static CORE: std::sync::LazyLock<std::sync::Arc<Catalogue>> =
        std::sync::LazyLock::new(|| std::sync::Arc::new(core()));
    &CORE
}

/// Every member of `catalogue` as JSON: for each kind (`ccas`, `queues`, ...) a list of `{name,
/// summary, source, documentation, parameters: [{name, type, default, description}]}` and the facts
/// about members of that kind.
pub fn to_json(catalogue: &Catalogue) -> Value {
    let mut kinds = Map::new();
    add::<spec::Cca>(&mut kinds, catalogue);
    add::<spec::Queue>(&mut kinds, catalogue);
    add::<spec::Traffic>(&mut kinds, catalogue);
    add::<spec::Topology>(&mut kinds, catalogue);
    add::<spec::Transport>(&mut kinds, catalogue);
    add::<spec::Node>(&mut kinds, catalogue);
    add::<spec::Medium>(&mut kinds, catalogue);
    Value::Object(kinds)
}

fn add<K: Kind>(kinds: &mut Map<String, Value>, catalogue: &Catalogue) {
    let members = catalogue.members::<K>().iter().map(member);
    kinds.insert(K::PLURAL.to_owned(), members.collect());
}

fn member<K: Kind>(entry: &Entry<K>) -> Value {
    let listing = &entry.listing;
    let mut member = json!({
        "name": listing.name,
        "summary": listing.summary(),
        "source": listing.model(),
        "documentation": listing.documentation(),
        "parameters": parameters(&(listing.schema)()),
    });
    if let (Value::Object(member), Ok(Value::Object(facts))) =
        (&mut member, serde_json::to_value(&entry.facts))
    {
        member.extend(facts);
    }
    member
}

/// One row for each property of a table's schema.
pub fn parameters(schema: &Value) -> Vec<Value> {
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    properties.iter().map(|(name, property)| parameter(name, property)).collect()
}

fn parameter(name: &str, property: &Value) -> Value {
    let description = property["description"].as_str().unwrap_or_default().replace('\n', " ");
    json!({
        "name": name,
        "type": type_name(property),
        "default": property["default"],
        "description": description,
    })
}

/// Name of a type in the documentation.
fn type_name(property: &Value) -> String {
    if let Some(choices) = property["enum"].as_array() {
        let name = |choice: &Value| choice.as_str().map_or(choice.to_string(), str::to_owned);
        let given = choices.iter().filter(|choice| !choice.is_null());
        return given.map(name).collect::<Vec<_>>().join(" | ");
    }
    if let Some(alternatives) = property["anyOf"].as_array() {
        let names = alternatives.iter().map(type_name).filter(|name| name != "null");
        return names.collect::<Vec<_>>().join(" or ");
    }
    if let Some(definition) = property["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        // Open kinds are defined once, under their lower-case names.
        let kind = definition.starts_with(char::is_lowercase);
        return if kind { "name or table" } else { "table" }.to_owned();
    }
    if let Some(choices) = property["oneOf"].as_array() {
        let names: Vec<_> = choices.iter().filter_map(|choice| choice["const"].as_str()).collect();
        return match names.len() {
            n if n == choices.len() => names.join(" | "),
            _ if choices.iter().all(|choice| choice["type"] == "object") => "table".to_owned(),
            _ => "name or table".to_owned(),
        };
    }
    let plain = match &property["type"] {
        // The placeholder of a member of an open kind.
        Value::Array(types) if ["string", "object"].iter().all(|t| types.contains(&json!(t))) => {
            return "name or table".to_owned();
        }
        Value::Array(types) => types.iter().find_map(|t| t.as_str().filter(|t| *t != "null")),
        plain => plain.as_str(),
    };
    match (plain, property["format"].as_str()) {
        (Some("string"), Some(quantity)) => quantity.to_owned(),
        (Some("array"), _) => format!("list of {}", type_name(&property["items"])),
        (Some("object"), _) => "table".to_owned(),
        (Some(plain), _) => plain.to_owned(),
        (None, _) => "any".to_owned(),
    }
}
