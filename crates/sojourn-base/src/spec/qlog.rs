//! How a run's qlog is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::QlogVersion;

/// How a run's qlog is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QlogSpec {
    /// Version of the format.
    pub version: QlogVersion,
}
