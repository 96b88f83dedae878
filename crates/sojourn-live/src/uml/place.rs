//! What the agent inside a kernel is told of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
    /// A directory of the machine that they see empty, if it is below that one: it changes while they
    /// run, as their results' does.
    pub hidden: Option<PathBuf>,
    /// Their environment.
    pub env: BTreeMap<String, String>,
    /// The directory of the machine to which files are copied that they have written there, if they
    /// are kept.
    pub files: Option<PathBuf>,
    /// Most bytes of these.
    pub keep: u64,
}

impl Place {
    /// The hidden directory, relative to that in which programs start, if it is below it.
    pub(super) fn hidden_below(&self) -> Option<&Path> {
        let below = self.hidden.as_deref()?.strip_prefix(&self.cwd).ok()?;
        (!below.as_os_str().is_empty()).then_some(below)
    }
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
                assert_eq!((place.env["HOME"].as_str(), place.hidden), ("/tmp", None));
            }
        }
    }

    #[test]
    fn only_what_is_below_is_hidden() {
        let (env, files) = (BTreeMap::new(), None);
        let mut place = Place { cwd: "/a/b".into(), hidden: None, env, files, keep: 5 };
        assert_eq!(place.hidden_below(), None);
        for (hidden, below) in [
            ("/a/b/results/x", Some(Path::new("results/x"))),
            ("/a/b", None),
            ("/a", None),
            ("/a/bc", None),
            ("/elsewhere", None),
        ] {
            place.hidden = Some(hidden.into());
            assert_eq!(place.hidden_below(), below, "{hidden}");
        }
    }
}
