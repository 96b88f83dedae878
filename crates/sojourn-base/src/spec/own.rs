//! Flow keys of wings.
//!
//! A wing may add keys to flows, such as a stream's reliability. Its section of the scenario
//! declares them, so that `FlowSpec` names none of them: it holds them in canonical form, and the
//! wing reads them.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A key, and the key before which it stands in canonical forms and in the schema; without the
/// latter it stands at the end.
pub type Place = (&'static str, Option<&'static str>);

/// Keys of a table of the scenario file; a key that is not given is not written (`#[serde(default,
/// deny_unknown_fields)]`).
pub trait Keys: Serialize + DeserializeOwned + JsonSchema + Default {
    /// Place of each key.
    const PLACES: &'static [Place];

    /// The multicast group of a flow, if the keys give one.
    fn group(&self) -> Option<&str> {
        None
    }
}

impl Keys for crate::registry::NoParams {
    const PLACES: &'static [Place] = &[];
}

/// Values of such keys, in canonical form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Own(Vec<(Place, Value)>);

impl Own {
    /// The values of the keys `T`.
    pub fn get<T: Keys>(&self) -> T {
        let theirs = self.0.iter().filter(|(place, _)| T::PLACES.contains(place));
        let table = theirs.map(|((key, _), value)| ((*key).to_owned(), value.clone()));
        serde_json::from_value(Value::Object(table.collect())).expect("what was written is read")
    }

    /// Sets the values of the keys `T`.
    pub fn set<T: Keys>(&mut self, keys: &T) {
        self.0.retain(|(place, _)| !T::PLACES.contains(place));
        let mut table = serde_json::to_value(keys).expect("keys serialise");
        let given = T::PLACES.iter().filter_map(|place| {
            let value = table.get_mut(place.0)?.take();
            Some((*place, value))
        });
        self.0.extend(given);
    }

    /// Writes the keys into their table.
    pub fn write(&self, table: &mut Map<String, Value>) {
        for (place, value) in &self.0 {
            insert(table, *place, value.clone());
        }
    }
}

/// Inserts a value at its key's place.
pub fn insert(table: &mut Map<String, Value>, (key, before): Place, value: Value) {
    let at = table.keys().position(|known| Some(known.as_str()) == before);
    table.shift_insert(at.unwrap_or(table.len()), key.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    struct Two {
        #[serde(skip_serializing_if = "Option::is_none")]
        first: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        last: Option<u8>,
    }

    impl Keys for Two {
        const PLACES: &'static [Place] = &[("first", Some("b")), ("last", None)];
    }

    #[test]
    fn keys_are_read_as_written_and_stand_at_their_places() {
        let mut own = Own::default();
        assert_eq!(own.get::<Two>(), Two::default());
        own.set(&Two { first: Some(1), last: Some(2) });
        own.set(&Two { first: Some(3), last: Some(4) });
        assert_eq!(own.get::<Two>(), Two { first: Some(3), last: Some(4) });
        let Value::Object(mut table) = json!({"a": 0, "b": 0}) else { unreachable!() };
        own.write(&mut table);
        assert_eq!(Value::Object(table).to_string(), r#"{"a":0,"first":3,"b":0,"last":4}"#);
    }
}
