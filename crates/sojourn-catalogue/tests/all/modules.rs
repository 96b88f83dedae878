//! No module of a crate uses one that uses it, by whatever way round.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What simulates. A crate gives on the modules of those below it, so that they are named alike.
const CRATES: [&str; 7] = ["base", "net", "tcp", "sim", "wifi", "sliq", "gnat"];

fn sources(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../sojourn-{name}/src"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Modules in files of their own that are there for tests only.
fn test_modules(file: &Path, text: &str) -> Vec<PathBuf> {
    let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("mod" | "lib") => file.parent().unwrap().to_owned(),
        _ => file.with_extension(""),
    };
    let attributed = text.split("#[cfg(test)]").skip(1);
    let lines = attributed.filter_map(|rest| {
        rest.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("#["))
    });
    let named = lines.filter_map(|line| line.strip_suffix(';')?.split("mod ").nth(1));
    named.map(|name| folder.join(name)).collect()
}

/// Whether a line does no more than give on an open kind from the module of its trait, as `spec`
/// does, so that all that a scenario names is found in one place.
fn gives_on_a_kind(line: &str) -> bool {
    line.starts_with("pub use crate::") && line.contains("::kind::")
}

/// The text without the module of tests at its end, without comments, and without what it only
/// gives on.
fn code(text: &str) -> String {
    let end = text.match_indices("#[cfg(test)]").find(|(at, _)| {
        let rest = text[*at..].lines().find(|line| !line.trim().starts_with("#["));
        rest.is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
    });
    let text = end.map_or(text, |(at, _)| &text[..at]);
    let says = |line: &&str| !line.trim().starts_with("//") && !gives_on_a_kind(line);
    text.lines().filter(says).collect::<Vec<_>>().join("\n")
}

/// The top-level modules that a text names: `crate::one::..`, `crate::{one, two}`.
fn named(code: &str) -> BTreeSet<String> {
    let lists = code.split("crate::").skip(1).map(|rest| match rest.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap(),
        None => rest.split(',').next().unwrap(),
    });
    let words = lists.flat_map(|list| list.split(',')).map(|item| {
        item.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned()
    });
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

/// For each top-level module of a crate those that it uses.
fn uses(name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (own, used) in uses_of(&sources(name)) {
        uses.entry(own).or_default().extend(used);
    }
    uses
}

/// For each source of a crate its top-level module, and those that it uses.
fn uses_of(root: &Path) -> Vec<(String, BTreeSet<String>)> {
    let is_source = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("lib.rs")
    };
    let read = |path: PathBuf| (fs::read_to_string(&path).unwrap(), path);
    let files: Vec<_> = files(root).into_iter().filter(is_source).map(read).collect();
    let for_tests: Vec<_> =
        files.iter().flat_map(|(text, path)| test_modules(path, text)).collect();
    let is_test =
        |path: &Path| for_tests.iter().any(|test| path.with_extension("").starts_with(test));
    let sources = files.iter().filter(|(_, path)| !is_test(path)).map(|(text, path)| {
        let own = path.strip_prefix(root).unwrap().with_extension("");
        let own = own.iter().next().unwrap().to_str().unwrap();
        let used = named(&code(text)).into_iter().filter(|used| used != own);
        (own.to_owned(), used.collect())
    });
    sources.collect()
}

#[test]
fn modules_do_not_use_each_other_in_circles() {
    assert!(uses("net").len() > 5 && uses("net")["net"].contains("edge"));
    assert!(uses("sim").len() > 5 && uses("sim")["sim"].contains("scenario"));
    for name in CRATES {
        let mut uses = uses(name);
        // What uses nothing that is left is on no circle.
        loop {
            let left: BTreeSet<String> = uses.keys().cloned().collect();
            uses.retain(|_, used| used.iter().any(|used| left.contains(used)));
            if uses.len() == left.len() {
                break;
            }
        }
        assert!(uses.is_empty(), "{name}: these are on circles, or use such: {uses:#?}");
    }
}
