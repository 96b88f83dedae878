//! Reads typed values from JSON; errors name the field and use the scenario's terms.
//!
//! Serde reports errors by calling the deserialiser's error type ([`serde::de::Error`]), so that no
//! message need be parsed. `serde_path_to_error` gives the path.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde_json::{Map, Value};

use crate::error::{FieldError, quoted};

/// Reads `value`.
///
/// # Errors
/// Names the field, what is wrong with it and what is allowed.
pub fn read<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, FieldError> {
    read_among(value, |_, _| {})
}

/// Reads a table. Where nothing is wrong no path is tracked, which takes most of the time: connections
/// that come read the parameters of their controls, each its own.
///
/// # Errors
/// As [`read`].
pub fn read_keys<T: DeserializeOwned>(keys: &Map<String, Value>) -> Result<T, FieldError> {
    let plain = keys.iter().map(|(key, value)| (key.as_str(), Json(value)));
    T::deserialize(MapDeserializer::new(plain))
        .or_else(|_: Wrong| read(&Value::Object(keys.clone())))
}

/// Like [`read`], where the table at the path that is given has more keys than `T` knows.
///
/// # Errors
/// As [`read`].
pub fn read_among<'de, T: Deserialize<'de>>(
    value: &'de Value,
    more: impl FnOnce(&str, &mut Vec<&str>),
) -> Result<T, FieldError> {
    serde_path_to_error::deserialize(Json(value)).map_err(|error| {
        let path = error.path().to_string().replace('[', ".").replace(']', "");
        let path = if path == "." { String::new() } else { path };
        error.into_inner().at(&path, more)
    })
}

/// What is wrong with a value.
#[derive(Debug)]
enum Wrong {
    Key(String, &'static [&'static str]),
    Name(String, &'static [&'static str]),
    Missing(&'static str),
    Other(String),
}

impl Wrong {
    fn at(self, path: &str, more: impl FnOnce(&str, &mut Vec<&str>)) -> FieldError {
        match self {
            Wrong::Key(key, known) => {
                let mut known = known.to_vec();
                more(path.rsplit_once('.').map_or("", |(table, _)| table), &mut known);
                FieldError::unknown_name(path, "key", &key, &known)
            }
            Wrong::Name(name, known) => FieldError::unknown_name(path, "name", &name, known),
            Wrong::Missing(key) => FieldError::new(key, "is missing").within(path),
            Wrong::Other(message) => FieldError::new(path, message),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A value that is read by way of another error type loses its path.
        f.write_str(&match self {
            Wrong::Key(key, known) => FieldError::unknown_name("", "key", key, known).message,
            Wrong::Name(name, known) => FieldError::unknown_name("", "name", name, known).message,
            Wrong::Missing(key) => format!("{key} is missing"),
            Wrong::Other(message) => message.clone(),
        })
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Wrong::Other(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Wrong::Other(format!("invalid type: {}, expected {expected}", told(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Wrong::Other(format!("invalid value: {}, expected {expected}", told(found)))
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Wrong::Key(key.to_owned(), known)
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Wrong::Name(name.to_owned(), known)
    }

    fn missing_field(key: &'static str) -> Self {
        Wrong::Missing(key)
    }
}

/// A value as an error quotes it.
fn told(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Unit => "null".to_owned(),
        Unexpected::Str(text) => Unexpected::Str(&quoted(text)).to_string(),
        found => found.to_string(),
    }
}

/// A JSON value that is deserialised with errors of type [`Wrong`].
#[derive(Clone, Copy)]
struct Json<'de>(&'de Value);

impl<'de> IntoDeserializer<'de, Wrong> for Json<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Json<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(value) => match (value.as_u64(), value.as_i64(), value.as_f64()) {
                (Some(value), ..) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (.., value) => visitor.visit_f64(value.unwrap_or(f64::NAN)),
            },
            Value::String(value) => visitor.visit_borrowed_str(value),
            Value::Array(values) => {
                let mut values = SeqDeserializer::new(values.iter().map(Json));
                let read = visitor.visit_seq(&mut values)?;
                values.end().map(|()| read)
            }
            Value::Object(keys) => {
                let keys = keys.iter().map(|(key, value)| (key.as_str(), Json(value)));
                let mut keys = MapDeserializer::new(keys);
                let read = visitor.visit_map(&mut keys)?;
                keys.end().map(|()| read)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(name.as_str().into_deserializer()),
            Value::Object(keys) if keys.len() == 1 => {
                let keys = keys.iter().map(|(key, value)| (key.as_str(), Json(value)));
                visitor.visit_enum(MapAccessDeserializer::new(MapDeserializer::new(keys)))
            }
            _ => Err(de::Error::custom("expected a name, or a table with one key")),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Road {
        lanes: u8,
        surface: Option<Surface>,
        #[serde(default)]
        houses: Vec<f64>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Surface {
        Gravel,
        Stone { size: u8 },
    }

    #[test]
    fn values_are_read_as_serde_json_reads_them() {
        for value in [
            json!({"lanes": 2}),
            json!({"lanes": 2, "surface": null, "houses": [1, 2.5, -3]}),
            json!({"lanes": 2, "surface": "gravel"}),
            json!({"lanes": 2, "surface": {"stone": {"size": 3}}}),
            json!([2, "gravel", []]),
        ] {
            let expected: Road = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(read::<Road>(&value), Ok(expected));
        }
    }

    #[test]
    fn what_is_wrong_is_told_in_our_words() {
        for (value, field, message) in [
            (json!({}), "lanes", "is missing"),
            (json!({"lanes": 2, "houses": [1, "x"]}), "houses.1", "invalid type: string \"x\""),
            (
                json!({"lanes": "x".repeat(300)}),
                "lanes",
                format!("invalid type: string \"{}... (300 characters)\"", "x".repeat(200))
                    .as_str(),
            ),
            (json!({"lanes": null}), "lanes", "invalid type: null, expected u8"),
            (json!({"lanes": 300}), "lanes", "invalid value: integer `300`, expected u8"),
            (json!({"lane": 2}), "lane", "unknown key 'lane'; did you mean 'lanes'?"),
            (json!({"lanes": 2, "surface": "grass"}), "surface", "unknown name 'grass'"),
            (json!({"lanes": 2, "surface": {"stone": {}}}), "surface.stone.size", "is missing"),
            (json!({"lanes": 2, "surface": 4}), "surface", "expected a name, or a table"),
        ] {
            let error = read::<Road>(&value).unwrap_err();
            assert_eq!(error.field, field, "{error}");
            assert!(error.message.starts_with(message), "{error}");
        }
    }
}
