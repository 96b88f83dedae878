//! Types of a scenario file; depends on no other part of the scenario.
//!
//! [`Spec`] is a member of an open kind as a file names it: `"reno"`, or
//! `{ kind = "cubic", fast_convergence = false }`.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::error::{FieldError, quoted};
use crate::registry::{Catalogue, Kind, Listing};

mod buffer;
mod date;
mod gro;
pub mod limits;
mod names;
pub mod own;
mod pacing;
mod pcap;
mod qlog;
mod toml;

pub use self::toml::toml_to_json;
pub use buffer::BufferSize;
pub use date::Date;
pub use gro::Gro;
pub use names::{
    AccessCategory, EcnMode, FlowDirection, HostQueue, QlogVersion, Recorded, Stack, TcpMetrics,
};
pub use pacing::Pacing;
pub use pcap::PcapSpec;
pub use qlog::QlogSpec;

/// A member's name and its parameters. After [`Spec::resolve`], the name is the canonical one and
/// every parameter has a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec<K> {
    /// Name of the member; until [`Spec::resolve`] empty, where the table leaves it to
    /// [`Kind::DEFAULT`].
    pub kind: String,
    /// Its parameters.
    pub params: Map<String, Value>,
    of: PhantomData<fn() -> K>,
}

impl<K: Kind> Spec<K> {
    /// The member `kind` with these parameters.
    pub fn new(kind: &str, params: Map<String, Value>) -> Self {
        Spec { kind: kind.to_owned(), params, of: PhantomData }
    }

    /// The member `kind` with default parameters.
    pub fn named(kind: &str) -> Self {
        Spec::new(kind, Map::new())
    }

    /// Makes the name canonical and fills in every parameter.
    ///
    /// # Errors
    /// If there is no such member, or a parameter is unknown, of the wrong type or out of range.
    pub fn resolve(&mut self, catalogue: &Catalogue) -> Result<(), FieldError> {
        let left = K::DEFAULT.filter(|_| self.kind.is_empty());
        let kind = left.unwrap_or(&self.kind);
        let listing = &catalogue.find::<K>(kind)?.listing;
        let canonical = (listing.canonical)(&self.params, catalogue).map_err(|mut error| {
            if left.is_some() {
                error.message = format!("{}; without kind it is a {kind}", error.message);
            }
            error
        })?;
        if let Value::Object(params) = canonical {
            self.params = params;
        }
        listing.name.clone_into(&mut self.kind);
        Ok(())
    }
}

impl<'de, K: Kind> Deserialize<'de> for Spec<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let example = K::EXAMPLE;
        let expected = || format!("expected a name, or a table such as {{ kind = \"{example}\" }}");
        match Value::deserialize(deserializer)? {
            Value::String(kind) if !kind.is_empty() => Ok(Spec::named(&kind)),
            Value::Object(mut params) => match params.shift_remove("kind") {
                Some(Value::String(kind)) if !kind.is_empty() => Ok(Spec::new(&kind, params)),
                Some(other) => {
                    let given = other.to_string();
                    Err(D::Error::custom(format!("kind is {}; {}", quoted(&given), expected())))
                }
                None if K::DEFAULT.is_some() && !params.is_empty() => Ok(Spec::new("", params)),
                None => Err(D::Error::custom(format!("kind is missing; {}", expected()))),
            },
            other => {
                let given = other.to_string();
                Err(D::Error::custom(format!("{} given; {}", quoted(&given), expected())))
            }
        }
    }
}

impl<K: Kind> Serialize for Spec<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if K::BY_NAME && self.params.is_empty() {
            return serializer.serialize_str(&self.kind);
        }
        let mut map = serializer.serialize_map(Some(1 + self.params.len()))?;
        map.serialize_entry("kind", &self.kind)?;
        for (key, value) in &self.params {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<K: Kind> JsonSchema for Spec<K> {
    fn schema_name() -> Cow<'static, str> {
        K::NAME.into()
    }

    /// A placeholder: the members are those of a catalogue, see [`schema_of`].
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"] })
    }
}

/// The schema of a [`Spec`] of this kind, with the members of `catalogue`.
pub fn schema_of<K: Kind>(catalogue: &Catalogue) -> Value {
    let tables = catalogue.members::<K>().iter().map(|entry| {
        let named = K::DEFAULT != Some(entry.listing.name);
        table_schema(&entry.listing, named)
    });
    let name = json!({ "type": "string", "enum": catalogue.names::<K>() });
    let choices: Vec<_> = std::iter::once(name).chain(tables).collect();
    json!({ "oneOf": choices })
}

/// The schema of a member's table: its parameters and the fixed `kind`, which must be `named` unless
/// the member is the default.
fn table_schema(listing: &Listing, named: bool) -> Value {
    let mut schema = (listing.schema)();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut all = Map::from_iter([("kind".to_owned(), json!({ "const": listing.name }))]);
    all.extend(properties);
    let mut required: Vec<_> = named.then(|| json!("kind")).into_iter().collect();
    required.extend(schema["required"].as_array().into_iter().flatten().cloned());
    if let Some(table) = schema.as_object_mut() {
        table.shift_remove("$schema");
        table.insert("title".to_owned(), json!(listing.name));
        table.insert("description".to_owned(), json!(listing.summary()));
        table.insert("properties".to_owned(), Value::Object(all));
        table.insert("required".to_owned(), Value::Array(required));
    }
    schema
}
