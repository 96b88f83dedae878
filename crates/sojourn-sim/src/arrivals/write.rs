//! The canonical form of entries, and their JSON schema.

use serde_json::{Map, Value, json};

use super::read::{KEY, OF_ENTRY, OF_FLOWS};
use super::{ArrivalKeys, ArrivalsSpec};
use crate::spec::FlowSpec;

type Table = Map<String, Value>;

/// Adds the entries to the canonical form of their scenario.
pub(crate) fn write(entries: &[ArrivalsSpec], document: &mut Value) {
    if !entries.is_empty() {
        document[KEY] = entries.iter().map(entry).collect();
    }
}

/// An entry: what all variants share stands in its table, the rest in those of its mix.
fn entry(entry: &ArrivalsSpec) -> Value {
    let mut table = object(json!(entry.keys));
    let variants: Vec<(f64, Table)> =
        entry.variants().into_iter().map(|(weight, flow)| (weight, flow_table(flow))).collect();
    let (_, first) = &variants[0];
    let is_shared = |key: &str| variants.iter().all(|(_, flow)| flow.get(key) == first.get(key));
    let shared: Table = first.clone().into_iter().filter(|(key, _)| is_shared(key)).collect();
    let own = |(weight, flow): &(f64, Table)| {
        let mut own = Map::from_iter([("weight".to_owned(), json!(weight))]);
        own.extend(flow.clone().into_iter().filter(|(key, _)| !shared.contains_key(key)));
        Value::Object(own)
    };
    let mix: Vec<Value> = variants.iter().map(own).collect();
    table.extend(shared.clone());
    if !entry.mix.is_empty() {
        table.insert("mix".to_owned(), Value::Array(mix));
    }
    Value::Object(table)
}

/// The keys of a flow that arrivals have.
fn flow_table(flow: &FlowSpec) -> Table {
    let mut table = object(json!(flow));
    table.retain(|key, _| key != "label" && !OF_FLOWS.contains(&key.as_str()));
    table
}

fn object(value: Value) -> Table {
    match value {
        Value::Object(table) => table,
        _ => Map::new(),
    }
}

/// Adds the entries to the schema of scenarios, in which flows have no keys of sections yet.
pub(crate) fn describe(schema: &mut Value) {
    let own = schemars::schema_for!(ArrivalKeys).to_value();
    let flow = object(schema["$defs"]["FlowSpec"]["properties"].clone());
    let without = |keys: &[&[&str]]| -> Table {
        let is_kept = |key: &str| keys.iter().all(|keys| !keys.contains(&key));
        flow.clone().into_iter().filter(|(key, _)| is_kept(key)).collect()
    };
    let mut variant = object(json!({ "weight": {
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 1.0,
        "description": "Share of the transfers, relative to the weights of the others.",
    } }));
    variant.extend(without(&[OF_FLOWS, OF_ENTRY]));
    let mut entry = object(own["properties"].clone());
    entry.extend(without(&[OF_FLOWS, ArrivalKeys::NAMES]));
    entry.insert(
        "mix".to_owned(),
        json!({
            "type": "array",
            "items": { "type": "object", "properties": variant, "additionalProperties": false },
            "description": "Variants of the connections, chosen by weight: tables with a weight, 1 by \
                default, and any keys of a flow, which replace the entry's.",
        }),
    );
    let definition = json!({
        "type": "object",
        "description": "Transfers that come and go.",
        "properties": entry,
        "additionalProperties": false,
    });
    schema["$defs"]["ArrivalsSpec"] = definition;
    schema["properties"][KEY] = json!({
        "type": "array",
        "items": { "$ref": "#/$defs/ArrivalsSpec" },
        "description": "Transfers that come and go.",
    });
}
