//! A program in a scenario, which is no part of Sojourn: what a kernel's hosts run.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::error::quoted;
use crate::units::Span;

/// A program on a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    /// Where it runs: an end of a flow by its number, such as `flow-2.sender` or `flow-2.receiver`
    /// (without a number flow 0's), or the node of a flow's end, which then is one host for all the
    /// flows that end there. A flow with a program at either end is a route: it sends nothing itself.
    pub host: String,
    /// A text for `/bin/sh`, or a list: the program and its arguments.
    pub command: Line,
    /// When it starts.
    #[serde(default)]
    pub start: Span,
    /// Whether the run ends when this program and all others like it have ended. Without any, it
    /// lasts its `duration`.
    #[serde(default)]
    pub wait: bool,
}

/// What a program is started by.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// A text for a shell.
    Shell(String),
    /// The program and its arguments.
    Words(Vec<String>),
}

const EXPECTED: &str = "a text for the shell, or a list of a program and its arguments, such as \
                        [\"curl\", \"http://receiver/\"]";

impl Line {
    /// The program and its arguments: those of the shell for a text.
    pub fn words(&self) -> Vec<String> {
        match self {
            Line::Shell(text) => ["/bin/sh", "-c", text].map(str::to_owned).to_vec(),
            Line::Words(words) => words.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = |given: &Value| {
            let given = given.to_string();
            D::Error::custom(format!("{} given; expected {EXPECTED}", quoted(&given)))
        };
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Line::Shell(text)),
            Value::Array(words) => {
                let word =
                    |word: &Value| word.as_str().map(str::to_owned).ok_or_else(|| wrong(word));
                words.iter().map(word).collect::<Result<_, _>>().map(Line::Words)
            }
            other => Err(wrong(&other)),
        }
    }
}

impl JsonSchema for Line {
    fn schema_name() -> Cow<'static, str> {
        "line".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = json_schema!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
        json_schema!({ "anyOf": [{ "type": "string" }, words] })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::reading::read;

    #[test]
    fn a_command_is_a_text_or_a_list_and_stays_what_it_is() {
        for (command, words) in [
            (json!("a | b"), vec!["/bin/sh", "-c", "a | b"]),
            (json!(["curl", "-s", ""]), vec!["curl", "-s", ""]),
        ] {
            let given = json!({ "host": "sender", "command": command });
            let program: ProgramSpec = read(&given).unwrap();
            assert_eq!(program.command.words(), words);
            let canonical = serde_json::to_value(&program).unwrap();
            assert_eq!(canonical["command"], command);
            assert_eq!((&canonical["start"], &canonical["wait"]), (&json!("0 s"), &json!(false)));
            assert_eq!(read::<ProgramSpec>(&canonical).unwrap(), program);
        }
    }

    #[test]
    fn what_is_no_command_is_refused_by_field() {
        for (command, given) in [(json!(7), "7"), (json!(["a", 1]), "1"), (json!({}), "{}")] {
            let program = json!({ "host": "sender", "command": command });
            let why = read::<ProgramSpec>(&program).unwrap_err().to_string();
            let start = format!("command: {given} given; expected a text for the shell, or a list");
            assert!(why.starts_with(&start), "{why}");
        }
        let why = read::<ProgramSpec>(&json!({ "host": "sender" })).unwrap_err().to_string();
        assert_eq!(why, "command: is missing");
    }
}
