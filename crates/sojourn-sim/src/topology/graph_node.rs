//! A node of a graph in a scenario file.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::spec::{Node, Spec};

/// A name, or a table such as `{ id = "r1", kind = "router" }`.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphNode {
    /// Its name.
    pub id: String,
    /// Its kind; a plain router or host by default.
    pub kind: Option<Spec<Node>>,
}

impl GraphNode {
    /// A plain node.
    pub fn plain(id: &str) -> Self {
        GraphNode { id: id.to_owned(), kind: None }
    }
}

const EXPECTED: &str = "expected a name, or a table such as { id = \"r1\", kind = \"router\" }";

impl<'de> Deserialize<'de> for GraphNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(id) => Ok(GraphNode::plain(&id)),
            Value::Object(mut keys) => match keys.shift_remove("id") {
                Some(Value::String(id)) => {
                    let kind = match keys.is_empty() {
                        true => None,
                        false => {
                            Some(Spec::deserialize(Value::Object(keys)).map_err(D::Error::custom)?)
                        }
                    };
                    Ok(GraphNode { id, kind })
                }
                Some(other) => Err(D::Error::custom(format!("id is {other}; {EXPECTED}"))),
                None => Err(D::Error::custom(format!("id is missing; {EXPECTED}"))),
            },
            other => Err(D::Error::custom(format!("{other} given; {EXPECTED}"))),
        }
    }
}

impl Serialize for GraphNode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(Spec { kind, params, .. }) = &self.kind else {
            return serializer.serialize_str(&self.id);
        };
        let named = [("id", &self.id), ("kind", kind)];
        let named = named.map(|(key, name)| (key.to_owned(), Value::String(name.clone())));
        let mut keys = Map::from_iter(named);
        keys.extend(params.clone());
        keys.serialize(serializer)
    }
}

impl JsonSchema for GraphNode {
    fn schema_name() -> Cow<'static, str> {
        "graph_node".into()
    }

    fn inline_schema() -> bool {
        true
    }

    /// A placeholder: the members are those of a catalogue.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"] })
    }
}
