//! The tables of keys in `docs/reference/scenario.md` agree with the schema.
//!
//! With `BLESS=1` in the environment they are rewritten.

use std::fmt::Write as _;
use std::{env, fs};

use serde_json::{Value, json};
use sojourn_base::registry::Kind;
use sojourn_catalogue::builtin;
use sojourn_sim::catalogue::{parameters, to_json};
use sojourn_sim::scenario::{Scenario, json_schema};
use sojourn_sim::spec::{Topology, Traffic};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/scenario.md");

/// The schema of the table of a member.
fn member<K: Kind>(name: &str) -> Option<Value> {
    builtin().find::<K>(name).ok().map(|entry| (entry.listing.schema)())
}

/// The schema of the table that a heading's marker names.
fn table(name: &str) -> Value {
    let root = json_schema(builtin());
    match name {
        "scenario" => root,
        "flow" => root["$defs"]["FlowSpec"].clone(),
        "arrivals" => own_keys(&root["$defs"]["ArrivalsSpec"], &table("flow")),
        "program" => root["$defs"]["ProgramSpec"].clone(),
        "service" => root["$defs"]["ServiceSpec"].clone(),
        "link" => member::<Topology>("dumbbell").unwrap()["properties"]["bottleneck"].clone(),
        "graph link" => own_keys(&table("graph")["properties"]["links"]["items"], &table("link")),
        _ if member::<Topology>(name).is_some() => member::<Topology>(name).unwrap(),
        _ => match name.rsplit_once('.') {
            Some((parent, key)) => nested(&table(parent), key),
            None => member::<Traffic>(name).unwrap(),
        },
    }
}

/// The table under a key of a table, or one kind of a table that has several.
fn nested(parent: &Value, key: &str) -> Value {
    if let Some(kinds) = parent["oneOf"].as_array() {
        let of_kind = |table: &&Value| table["properties"]["kind"]["const"] == key;
        return kinds.iter().find(of_kind).expect("a kind").clone();
    }
    let property = &parent["properties"][key];
    let table = property["anyOf"].get(0).unwrap_or(property);
    table.get("items").unwrap_or(table).clone()
}

/// A schema without the properties that `common` has too.
fn own_keys(schema: &Value, common: &Value) -> Value {
    let mut own = schema.clone();
    let properties = own["properties"].as_object_mut().unwrap();
    properties.retain(|key, _| common["properties"].get(key).is_none());
    own
}

fn markdown(schema: &Value) -> String {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut text = String::from("| key | type | default | meaning |\n| --- | --- | --- | --- |\n");
    for row in parameters(schema).into_iter().filter(|row| row["name"] != "kind") {
        let cell = |key: &str| row[key].as_str().unwrap_or_default().replace('|', "\\|");
        let default = match &row["default"] {
            _ if required.contains(&row["name"]) => "required".to_owned(),
            Value::Object(table) if table.contains_key("kind") => {
                format!("`{}`", table["kind"].as_str().unwrap())
            }
            Value::Null | Value::Object(_) => String::new(),
            Value::String(default) => format!("`{default}`"),
            default => format!("`{default}`"),
        };
        let (name, kind, meaning) = (cell("name"), cell("type"), cell("description"));
        writeln!(text, "| `{name}` | {kind} | {default} | {meaning} |").unwrap();
    }
    text
}

/// The page with every table between `<!-- keys: NAME -->` and `<!-- end -->` written anew.
fn refreshed(page: &str) -> String {
    let mut parts = page.split("<!-- keys: ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").expect("the marker ends");
        let (_, rest) = rest.split_once("<!-- end -->").expect("the table ends");
        write!(text, "<!-- keys: {name} -->\n\n{}\n<!-- end -->{rest}", markdown(&table(name)))
            .unwrap();
    }
    text
}

#[test]
fn tables_say_what_the_schema_says() {
    let page = fs::read_to_string(PAGE).unwrap();
    let fresh = refreshed(&page);
    if env::var_os("BLESS").is_some() {
        fs::write(PAGE, &fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/reference/scenario.md is stale; run this test with BLESS=1");
    }
}

#[test]
fn every_topology_and_traffic_model_has_its_table() {
    let page = fs::read_to_string(PAGE).unwrap();
    for kind in ["traffic", "topologies"] {
        for member in to_json(builtin())[kind].as_array().unwrap() {
            let name = member["name"].as_str().unwrap();
            let documented = page.contains(&format!("<!-- keys: {name} -->"));
            assert!(documented || member["parameters"] == json!([]), "{name} has no table");
        }
    }
}

#[test]
fn every_example_of_the_page_is_a_valid_scenario() {
    let page = fs::read_to_string(PAGE).unwrap();
    let examples: Vec<&str> = page
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|example| example.contains("duration"))
        .collect();
    assert!(examples.len() >= 3);
    for example in examples {
        if let Err(why) = Scenario::from_toml(example, builtin()) {
            panic!("{why}\nin\n{example}");
        }
    }
}
