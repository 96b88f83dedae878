//! Media in scenarios: an entry of `media`, which links name, or a table within a link.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::registry::Catalogue;
use crate::spec::{Medium, Spec};

/// An entry of `media`: `id`, `kind` and the keys of that kind.
#[derive(Clone, Debug, PartialEq)]
pub struct MediumSpec {
    /// Name by which links refer to it.
    pub id: String,
    /// Its kind and parameters.
    pub kind: Spec<Medium>,
}

/// The medium of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkMedium {
    /// The entry of `media` of this name.
    Named(String),
    /// A medium of the link's own.
    Own(Spec<Medium>),
}

impl LinkMedium {
    /// Fills in the parameters of a medium that is defined within the link.
    ///
    /// # Errors
    /// If there is no such kind, or a parameter is wrong.
    pub fn resolve(&mut self, catalogue: &Catalogue) -> Result<(), FieldError> {
        match self {
            LinkMedium::Named(_) => Ok(()),
            LinkMedium::Own(spec) => spec.resolve(catalogue),
        }
    }
}

const ENTRY: &str = "expected a table such as { id = \"air\", kind = \"NAME\" }, where NAME is listed \
                     by: sojourn list media";
const OF_LINK: &str = "expected the id of an entry of media, or a table such as \
                       { kind = \"NAME\" }, where NAME is listed by: sojourn list media";

impl<'de> Deserialize<'de> for MediumSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Value::Object(mut keys) = Value::deserialize(deserializer)? else {
            return Err(D::Error::custom(ENTRY));
        };
        let Some(Value::String(id)) = keys.shift_remove("id") else {
            return Err(D::Error::custom(format!("id is missing; {ENTRY}")));
        };
        let kind = Spec::deserialize(Value::Object(keys)).map_err(D::Error::custom)?;
        Ok(MediumSpec { id, kind })
    }
}

impl Serialize for MediumSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = [("id", &self.id), ("kind", &self.kind.kind)];
        let named = named.map(|(key, name)| (key.to_owned(), Value::String(name.clone())));
        let mut keys = Map::from_iter(named);
        keys.extend(self.kind.params.clone());
        keys.serialize(serializer)
    }
}

impl JsonSchema for MediumSpec {
    fn schema_name() -> Cow<'static, str> {
        "medium_entry".into()
    }

    fn inline_schema() -> bool {
        true
    }

    /// A placeholder: the members are those of a catalogue.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "required": ["id", "kind"] })
    }
}

impl<'de> Deserialize<'de> for LinkMedium {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(id) => Ok(LinkMedium::Named(id)),
            table @ Value::Object(_) => {
                Spec::deserialize(table).map(LinkMedium::Own).map_err(D::Error::custom)
            }
            other => Err(D::Error::custom(format!("{other} given; {OF_LINK}"))),
        }
    }
}

impl Serialize for LinkMedium {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            LinkMedium::Named(id) => serializer.serialize_str(id),
            LinkMedium::Own(spec) => spec.serialize(serializer),
        }
    }
}

impl JsonSchema for LinkMedium {
    fn schema_name() -> Cow<'static, str> {
        "link_medium".into()
    }

    fn inline_schema() -> bool {
        true
    }

    /// A name, or the table of a member.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"] })
    }
}
