//! A member of an open kind as a scenario names it: `"reno"`, or
//! `{ kind = "cubic", fast_convergence = false }`.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::error::FieldError;
use crate::registry::Listing;

/// An open kind: what a [`Spec`] may name.
pub trait Kind: 'static {
    /// Its name in the schema.
    const NAME: &'static str;

    /// Its members.
    fn members() -> impl Iterator<Item = &'static Listing>;

    /// The member called `name`.
    ///
    /// # Errors
    /// Lists the known names and suggests the nearest.
    fn find(name: &str) -> Result<&'static Listing, FieldError>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $($path:ident)::+ $members:ident;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum $kind {}

        impl Kind for $kind {
            const NAME: &'static str = $name;

            fn members() -> impl Iterator<Item = &'static Listing> {
                $($path)::+::$members.iter().map(|entry| &entry.listing)
            }

            fn find(name: &str) -> Result<&'static Listing, FieldError> {
                Ok(&$($path)::+::find(name)?.listing)
            }
        })*
    };
}

kinds! {
    /// Congestion controls.
    Cca "cca" crate::cc CONTROLS;
    /// Queue disciplines.
    Queue "queue" crate::queue QUEUES;
    /// Traffic models.
    Traffic "traffic" crate::traffic TRAFFIC;
    /// Topologies.
    Topology "topology" crate::topology TOPOLOGIES;
}

/// A member's name and its parameters. After [`Spec::resolve`], the name is the canonical one and
/// every parameter has a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec<K> {
    /// Name of the member.
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

    /// The member `kind` with its default parameters.
    pub fn named(kind: &str) -> Self {
        Spec::new(kind, Map::new())
    }

    /// Makes the name canonical and fills in every parameter.
    ///
    /// # Errors
    /// If there is no such member, or a parameter is unknown, of the wrong type or out of range.
    pub fn resolve(&mut self) -> Result<(), FieldError> {
        let listing = K::find(&self.kind)?;
        if let Value::Object(params) = (listing.canonical)(&self.params)? {
            self.params = params;
        }
        listing.name.clone_into(&mut self.kind);
        Ok(())
    }
}

impl<'de, K: Kind> Deserialize<'de> for Spec<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected =
            || format!("expected a name, or a table such as {{ kind = \"{}\" }}", first::<K>());
        match Value::deserialize(deserializer)? {
            Value::String(kind) => Ok(Spec::named(&kind)),
            Value::Object(mut params) => match params.shift_remove("kind") {
                Some(Value::String(kind)) => Ok(Spec::new(&kind, params)),
                Some(other) => Err(D::Error::custom(format!("kind is {other}; {}", expected()))),
                None => Err(D::Error::custom(format!("kind is missing; {}", expected()))),
            },
            other => Err(D::Error::custom(format!("{other} given; {}", expected()))),
        }
    }
}

fn first<K: Kind>() -> &'static str {
    K::members().next().map_or("", |listing| listing.name)
}

impl<K: Kind> Serialize for Spec<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
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

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = K::members().map(|listing| listing.name).collect();
        let tables = K::members().map(table_schema);
        let choices: Vec<_> =
            std::iter::once(json!({ "type": "string", "enum": names })).chain(tables).collect();
        json_schema!({ "oneOf": choices })
    }
}

/// The schema of a member's table: its parameters and the fixed `kind`.
fn table_schema(listing: &Listing) -> Value {
    let mut schema = (listing.schema)();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut all = Map::from_iter([("kind".to_owned(), json!({ "const": listing.name }))]);
    all.extend(properties);
    let mut required = vec![json!("kind")];
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
