//! What the agent inside a kernel is told of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// A run, as the agent asks for it.
#[derive(Debug, Deserialize)]
pub(super) struct Description {
    /// The scenario.
    pub scenario: Value,
    /// Where its programs run, if it has any.
    pub place: Option<Place>,
}

/// Where programs run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Place {
    /// The directory of the machine in which they start, which their hosts share.
    pub cwd: PathBuf,
    /// Their environment.
    pub env: BTreeMap<String, String>,
    /// The directory of the machine to which files are copied that they have written there, if they
    /// are kept.
    pub files: Option<PathBuf>,
    /// Most bytes of these.
    pub keep: u64,
}

/// The text of a description, of the JSON of its parts.
pub(super) fn description(scenario: &str, place: Option<&str>) -> String {
    format!("{{\"scenario\":{scenario},\"place\":{}}}", place.unwrap_or("null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_as_it_is_written() {
        let place = r#"{"cwd":"/a","env":{"HOME":"/tmp"},"files":null,"keep":5}"#;
        for place in [Some(place), None] {
            let text = description("{\"duration\":\"1 s\"}", place);
            let read: Description = serde_json::from_str(&text).unwrap();
            assert_eq!(read.scenario["duration"], "1 s");
            assert_eq!(read.place.is_some(), place.is_some());
            if let Some(place) = read.place {
                assert_eq!((place.cwd, place.files, place.keep), ("/a".into(), None, 5));
                assert_eq!(place.env["HOME"], "/tmp");
            }
        }
    }
}
