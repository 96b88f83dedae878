//! What only the command line does: sweeps, records, programs, files beside the scenario's.

use serde_json::Value;
use sojourn_base::error::FieldError;

/// How a run is done there.
pub(crate) const RUN: &str = "download the file, then run: sojourn run playground.toml";
const SWEEP: &str = "download the file, then run: sojourn sweep playground.toml";
const KERNEL: &str = "download the file, then run: sojourn run --backend kernel playground.toml";

/// Keys of the file's root, what they are, and how to do it.
const KEYS: [(&str, &str, &str); 3] = [
    ("sweep", "a sweep is many runs", SWEEP),
    ("record", "records are files", RUN),
    ("programs", "programs run on a kernel in virtual time", KERNEL),
];
/// Kinds of tables that name code which is no part of the page.
const KINDS: [(&str, &str); 5] =
    [("python", RUN), ("library", RUN), ("bpf", RUN), ("linux", RUN), ("kernel", KERNEL)];
/// Keys that name a file, wherever they are.
const FILES: [&str; 2] = ["file", "path"];

/// Refuses what a page has not, and says how the command line does it.
pub(crate) fn check(file: &Value) -> Result<(), (FieldError, &'static str)> {
    for (key, what, how) in KEYS {
        let given = file.get(key);
        if given.is_some_and(|given| given.as_array().is_none_or(|list| !list.is_empty())) {
            let message = format!("given, but {what}; a page does one run and keeps no files");
            return Err((FieldError::new(key, message), how));
        }
    }
    outside(file)
}

/// Refuses code and files from elsewhere in a table or a list; the field is relative to it.
fn outside(value: &Value) -> Result<(), (FieldError, &'static str)> {
    let within =
        |key: &str, child: &Value| outside(child).map_err(|(error, how)| (error.within(key), how));
    match value {
        Value::Object(table) => {
            let kind = table.get("kind").and_then(Value::as_str).unwrap_or_default();
            if let Some((_, how)) = KINDS.iter().find(|(name, _)| *name == kind) {
                let message =
                    format!("'{kind}' given, which is code from outside; a page has none");
                return Err((FieldError::new("kind", message), how));
            }
            let named = |key: &&&str| table.get(**key).is_some_and(Value::is_string);
            if let Some(key) = FILES.iter().find(named) {
                let message = "names a file, and a page reads none";
                return Err((FieldError::new(*key, message), RUN));
            }
            table.iter().try_for_each(|(key, child)| within(key, child))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, child)| within(&index.to_string(), child)),
        _ => Ok(()),
    }
}
