//! The `process` of an entry as a scenario writes it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Incast, Listed, Modulated};
use crate::arrivals::choice;
use crate::error::FieldError;
use crate::reading;
use crate::registry::NoParams;

const NAMES: &[&str] = &["poisson", "deterministic", "closed", "file", "modulated", "incast"];

/// When transfers, or sessions, arrive.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ProcessSpec {
    /// At exponential intervals.
    #[default]
    Poisson,
    /// At equal intervals.
    Deterministic,
    /// A user's next one arrives a think time after the last one ended.
    Closed,
    /// As listed.
    File(Listed),
    /// At exponential intervals of a rate that changes.
    Modulated(Modulated),
    /// In groups.
    Incast(Incast),
}

impl ProcessSpec {
    /// Reads a name, or a table with `kind`.
    pub(in crate::arrivals) fn read(value: &Value) -> Result<Self, FieldError> {
        let (name, rest) = choice::split(value, "process", NAMES)?;
        let plain = |process| reading::read::<NoParams>(&rest).map(|_| process);
        match name {
            "file" => reading::read(&rest).map(ProcessSpec::File),
            "modulated" => reading::read(&rest).map(ProcessSpec::Modulated),
            "incast" => reading::read(&rest).map(ProcessSpec::Incast),
            "deterministic" => plain(ProcessSpec::Deterministic),
            "closed" => plain(ProcessSpec::Closed),
            _ => plain(ProcessSpec::Poisson),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            ProcessSpec::Poisson => "poisson",
            ProcessSpec::Deterministic => "deterministic",
            ProcessSpec::Closed => "closed",
            ProcessSpec::File(_) => "file",
            ProcessSpec::Modulated(_) => "modulated",
            ProcessSpec::Incast(_) => "incast",
        }
    }

    /// The list of a `file`.
    pub fn listed(&self) -> Option<&Listed> {
        match self {
            ProcessSpec::File(list) => Some(list),
            _ => None,
        }
    }

    /// Whether arrivals wait for the end of transfers.
    pub fn is_closed(&self) -> bool {
        matches!(self, ProcessSpec::Closed)
    }

    /// Checks the process's own keys; the field is relative to the process.
    pub(in crate::arrivals) fn validate(&self) -> Result<(), FieldError> {
        match self {
            ProcessSpec::Poisson | ProcessSpec::Deterministic | ProcessSpec::Closed => Ok(()),
            ProcessSpec::File(list) => list.validate(),
            ProcessSpec::Modulated(modulated) => modulated.validate(),
            ProcessSpec::Incast(incast) => incast.validate(),
        }
    }
}

impl Serialize for ProcessSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ProcessSpec::File(list) => choice::tagged(serializer, self.name(), list),
            ProcessSpec::Modulated(modulated) => choice::tagged(serializer, self.name(), modulated),
            ProcessSpec::Incast(incast) => choice::tagged(serializer, self.name(), incast),
            _ => serializer.serialize_str(self.name()),
        }
    }
}

impl JsonSchema for ProcessSpec {
    fn schema_name() -> Cow<'static, str> {
        "arrival_process".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        choice::schema(
            choice::names(&NAMES[..3]),
            vec![
                choice::table::<Listed>(generator, "file"),
                choice::table::<Modulated>(generator, "modulated"),
                choice::table::<Incast>(generator, "incast"),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn processes_are_written_as_they_are_read() {
        for value in [
            json!("poisson"),
            json!("deterministic"),
            json!("closed"),
            json!({ "kind": "file", "time": [0.0, 0.5], "size": [10, 20], "pair": [0, 0] }),
            json!({ "kind": "file", "time": [0.25] }),
            json!({ "kind": "modulated", "states": [{ "factor": 2.0, "time": "200 ms" }] }),
            json!({ "kind": "incast", "senders": 32, "jitter": "0 s" }),
        ] {
            let read = ProcessSpec::read(&value).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), value);
        }
        let table = ProcessSpec::read(&json!({ "kind": "Poisson" })).unwrap();
        assert_eq!(table, ProcessSpec::Poisson);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (value, expected) in [
            (json!("poison"), "unknown process 'poison'; did you mean 'poisson'? allowed: "),
            (json!({ "kind": "closed", "users": 3 }), "users: unknown key 'users'; allowed: "),
            (json!({ "kind": "incast" }), "senders: is missing"),
            (json!(3), "3 given; expected a name, or a table with kind, of: poisson, "),
            (json!({}), "kind is missing; expected a name, or a table with kind, of: poisson, "),
        ] {
            let told = ProcessSpec::read(&value).unwrap_err().to_string();
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
