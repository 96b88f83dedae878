//! Values that are written as a name, or as a table with `kind`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::error::{FieldError, quoted};
use crate::registry::same_name;

/// Takes a key out of its table and reads it.
pub(super) fn taken<T>(
    table: &mut Map<String, Value>,
    key: &str,
    read: impl FnOnce(&Value) -> Result<T, FieldError>,
) -> Result<Option<T>, FieldError> {
    let value = table.shift_remove(key);
    value.map(|value| read(&value)).transpose().map_err(|error| error.within(key))
}

/// Splits a value into one of `names`, which messages call a `title`, and the rest of its table.
pub(super) fn split(
    value: &Value,
    title: &str,
    names: &[&'static str],
) -> Result<(&'static str, Value), FieldError> {
    let expected = || format!("expected a name, or a table with kind, of: {}", names.join(", "));
    let wrong = |what: String| Err(FieldError::new("", format!("{what}; {}", expected())));
    let (name, rest) = match value {
        Value::String(name) => (name.clone(), Map::new()),
        Value::Object(table) => {
            let mut rest = table.clone();
            match rest.shift_remove("kind") {
                Some(Value::String(name)) => (name, rest),
                Some(other) => return wrong(format!("kind is {}", quoted(&other.to_string()))),
                None => return wrong("kind is missing".to_owned()),
            }
        }
        other => return wrong(format!("{} given", quoted(&other.to_string()))),
    };
    let known = names.iter().find(|known| same_name(&name, known));
    let known = known.ok_or_else(|| FieldError::unknown_name("", title, &name, names))?;
    Ok((*known, Value::Object(rest)))
}

/// Writes a table with its `kind`.
pub(super) fn tagged<S: Serializer, T: Serialize>(
    serializer: S,
    kind: &'static str,
    params: &T,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Tagged<'a, T> {
        kind: &'static str,
        #[serde(flatten)]
        params: &'a T,
    }
    Tagged { kind, params }.serialize(serializer)
}

/// The schema of names.
pub(super) fn names(names: &[&str]) -> Value {
    json!({ "type": "string", "enum": names })
}

/// The schema of the table of one kind.
pub(super) fn table<T: JsonSchema>(generator: &mut SchemaGenerator, kind: &str) -> Value {
    let mut schema = T::json_schema(generator).to_value();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut all = Map::from_iter([("kind".to_owned(), json!({ "const": kind }))]);
    all.extend(properties);
    schema["properties"] = Value::Object(all);
    schema["required"] = std::iter::once(json!("kind")).chain(required).collect();
    schema
}

/// The schema of a value that is `plain`, or one of several tables.
pub(super) fn schema(plain: Value, tables: Vec<Value>) -> Schema {
    let choices: Vec<Value> = std::iter::once(plain).chain(tables).collect();
    json_schema!({ "oneOf": choices })
}
