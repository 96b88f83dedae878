//! What happens, as lines of JSON on standard error. SKELETON

use serde_json::Value;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// As it should be.
    Info,
    /// Somebody may want to look.
    Warning,
    /// The node ends.
    Error,
}

/// The log of a node.
#[derive(Clone, Debug)]
pub struct Log {
    node: String,
}

impl Log {
    /// That of a node.
    pub fn of(node: &str) -> Self {
        Log { node: node.to_owned() }
    }

    /// Tells an event, with fields.
    pub fn tell(&self, _level: Level, event: &str, fields: &[(&str, Value)]) {
        eprintln!("{} {event} {fields:?}", self.node);
    }
}
