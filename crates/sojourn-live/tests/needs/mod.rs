//! Tests that need something a machine may lack are skipped there, with a message.

use std::io::{Write, stderr};
use std::{env, thread};

use sojourn_base::error::FieldError;

/// Skips the running test, because there is no capability of this name (`tests/capabilities.py` of
/// the package lists all), for the reason `error`. Written past the harness, which shows nothing of
/// a test that passes, in a line that `.ci/run` repeats at its end.
///
/// # Panics
/// Where `SOJOURN_REQUIRE` names the capability: it has been probed, and exists.
pub(crate) fn needs(capability: &str, error: &FieldError) {
    let required = env::var("SOJOURN_REQUIRE").unwrap_or_default();
    let there = required.split(' ').any(|name| name == capability);
    assert!(!there, "this machine has {capability}, but: {error}");
    let test = thread::current();
    let name = test.name().unwrap_or("a test");
    let package = env!("CARGO_PKG_NAME");
    let line = format!("\nskipped: {package} {name}: needs {capability}: {error}\n");
    stderr().write_all(line.as_bytes()).unwrap();
}
