//! The congestion controls of a flow: one, or for some transports several at once.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{Cca, Spec};

/// One control or several, in the order of preference: `"reno"`, `{ kind = "reno" }`, or a list of
/// such. One is written without a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Controls(Vec<Spec<Cca>>);

impl From<Spec<Cca>> for Controls {
    fn from(control: Spec<Cca>) -> Self {
        Controls(vec![control])
    }
}

impl Controls {
    /// The control, if there is only one.
    pub fn only(&self) -> Option<&Spec<Cca>> {
        match self.0.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// All of them, in the order of preference.
    pub fn iter(&self) -> impl Iterator<Item = &Spec<Cca>> {
        self.0.iter()
    }

    /// All of them, in the order of preference.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Spec<Cca>> {
        self.0.iter_mut()
    }

    /// The path of the control number `index` below the key `cca`.
    pub fn path(&self, index: usize) -> String {
        if self.0.len() == 1 { "cca".to_owned() } else { format!("cca.{index}") }
    }
}

impl<'de> Deserialize<'de> for Controls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let read = |value: Value| Spec::<Cca>::deserialize(value).map_err(D::Error::custom);
        match Value::deserialize(deserializer)? {
            Value::Array(list) if list.is_empty() => {
                Err(D::Error::custom("is empty; name a congestion control, such as \"reno\""))
            }
            Value::Array(list) => {
                list.into_iter().map(read).collect::<Result<_, _>>().map(Controls)
            }
            one => read(one).map(|control| Controls(vec![control])),
        }
    }
}

impl Serialize for Controls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.only() {
            Some(only) => only.serialize(serializer),
            None => self.0.serialize(serializer),
        }
    }
}

impl JsonSchema for Controls {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Controls".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Spec<Cca>>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}
