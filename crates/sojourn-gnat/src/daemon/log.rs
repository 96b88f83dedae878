//! What happens, as lines of JSON on standard error. Strangers' datagrams are counted, never told
//! one by one, so that nobody fills a disk from outside.

use std::io::{self, Write};
use std::time::SystemTime;

use humantime::format_rfc3339_micros;
use serde_json::{Map, Value};

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

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
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

    /// Tells an event, with fields: a line with `time` (RFC 3339, UTC), `level`, `node`, `event` and
    /// these. That nobody reads it does not end a node.
    #[allow(clippy::disallowed_methods)] // here the real time comes in
    pub fn tell(&self, level: Level, event: &str, fields: &[(&str, Value)]) {
        let line = self.line(SystemTime::now(), level, event, fields);
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }

    fn line(&self, at: SystemTime, level: Level, event: &str, fields: &[(&str, Value)]) -> String {
        let head = [
            ("time", format_rfc3339_micros(at).to_string().into()),
            ("level", level.name().into()),
            ("node", self.node.as_str().into()),
            ("event", event.into()),
        ];
        let fields = head.into_iter().chain(fields.iter().cloned());
        let line: Map<_, _> = fields.map(|(name, value)| (name.to_owned(), value)).collect();
        format!("{}\n", Value::from(line))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_a_line_of_json() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_790_000_000_000_001);
        let fields = [("neighbour", json!("b\n\"")), ("peers", json!(2))];
        let line = Log::of("a").line(at, Level::Warning, "reload", &fields);
        assert_eq!(
            line,
            "{\"time\":\"2026-09-21T14:13:20.000001Z\",\"level\":\"warning\",\"node\":\"a\",\
             \"event\":\"reload\",\"neighbour\":\"b\\n\\\"\",\"peers\":2}\n"
        );
    }
}
