//! The catalogue: every member of every open kind, with its documentation and parameters.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use crate::edge::medium;
use crate::registry::{Catalogue, Entry, Kind};
use crate::section::multicast;
use crate::{cc, gnat, node, queue, sliq, spec, topology, traffic, transport, wifi};

/// Sojourn's own members of every open kind.
pub fn builtin() -> &'static Arc<Catalogue> {
    static BUILTIN: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(own()));
    &BUILTIN
}

/// A catalogue with Sojourn's own members, to add others to.
pub fn own() -> Catalogue {
    wifi::add(sliq::add(gnat::add(core())))
}

/// The members of the core: without any wing.
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

/// Every member of `catalogue` as JSON: for each kind (`ccas`, `queues`, ...) a list of
/// `{name, summary, source, documentation, parameters: [{name, type, default, description}]}` and
/// what else is known of members of that kind.
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

/// A type in the words of the documentation.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<(String, Value)> {
        let catalogue = to_json(builtin());
        let kinds = catalogue.as_object().unwrap();
        let members = kinds.values().flat_map(|members| members.as_array().unwrap());
        members
            .flat_map(|member| {
                let name = member["name"].as_str().unwrap().to_owned();
                let parameters = member["parameters"].as_array().unwrap().clone();
                parameters.into_iter().map(move |parameter| (name.clone(), parameter))
            })
            .collect()
    }

    #[test]
    fn every_parameter_is_described_and_typed() {
        for (member, parameter) in rows() {
            let description = parameter["description"].as_str().unwrap();
            assert!(description.len() > 10, "{member}: {parameter}");
            assert_ne!(parameter["type"], "any", "{member}: {parameter}");
        }
    }

    #[test]
    fn every_member_has_a_summary_of_one_line() {
        for members in to_json(builtin()).as_object().unwrap().values() {
            assert!(!members.as_array().unwrap().is_empty());
            for member in members.as_array().unwrap() {
                let summary = member["summary"].as_str().unwrap();
                assert!((10..=200).contains(&summary.len()), "{}: {summary}", member["name"]);
                assert!(!summary.contains('\n'));
            }
        }
    }

    #[test]
    fn every_control_and_discipline_names_its_source() {
        let catalogue = to_json(builtin());
        let members = ["ccas", "queues"].iter().flat_map(|k| catalogue[k].as_array().unwrap());
        let without = members.filter(|member| member["source"].is_null());
        // Instruments follow nobody.
        assert!(without.map(|member| &member["name"]).eq(["fixed-window", "fixed-rate"].iter()));
    }

    #[test]
    fn an_initial_does_not_end_the_source() {
        let scalable = to_json(builtin())["ccas"].as_array().unwrap()[4].clone();
        assert_eq!(scalable["name"], "scalable");
        let source = scalable["source"].as_str().unwrap();
        assert!(source.contains("T. Kelly, ") && source.ends_with("CCR 2003."), "{source}");
    }

    #[test]
    fn quantities_are_named_by_what_they_measure() {
        let find = |member: &str, name: &str| {
            let mut rows = rows().into_iter();
            rows.find(|(m, row)| m == member && row["name"] == name).unwrap().1
        };
        assert_eq!(find("cbr", "rate")["type"], "rate");
        assert_eq!(find("cbr", "rate")["default"], "1 Mbit/s");
        assert_eq!(find("fifo", "limit")["type"], "queue size");
        assert_eq!(find("on-off", "times")["type"], "fixed | exponential");
        assert_eq!(find("dumbbell", "access_rate")["type"], "rate");
        assert_eq!(find("reno", "beta")["default"], 0.5);
    }
}
