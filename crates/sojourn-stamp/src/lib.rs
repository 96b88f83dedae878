//! Build scripts use this crate to hash the sources that affect results, so that a result can name the
//! build that produced it. It is no part of a running program.
//!
//! A crate that simulates contains the hash of its own sources ([`emit`]), so that a program
//! contains those of all its crates. Third-party crates for random draws and arithmetic are identified by
//! their versions in `Cargo.lock` ([`emit_locked`]).
//! `python/sojourn/checkout.py` computes the same for a checkout without a build.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use blake2::digest::consts::U8;
use blake2::{Blake2b, Digest};

/// Third-party crates whose version affects the numbers of a run. Crates that read and write
/// scenarios are not among them: a run's key contains the canonical form itself.
const DRAWN: [&str; 5] = ["libm", "rand", "rand_core", "rand_xoshiro", "reed-solomon-erasure"];
/// The crate that every program contains, from which the dependencies in a lock lead to the others.
const ROOT: &str = "sojourn-python";

/// Sets `env!("SOJOURN_SOURCES")`, the hash of its sources, for the crate that is built.
pub fn emit() {
    println!("cargo::rustc-env=SOJOURN_SOURCES={}", sources(&directory("CARGO_MANIFEST_DIR")));
    println!("cargo::rerun-if-changed=Cargo.toml");
    println!("cargo::rerun-if-changed=src");
}

/// Sets `env!("SOJOURN_LOCKED")` for the crate that is built: the versions of the third-party
/// crates that simulating crates draw and compute with, in the lock of the workspace that is built;
/// empty if no lock is found.
///
/// Cargo does not report that workspace. It is searched for above the target directory, which is in
/// its own workspace for a program outside the checkout, and then above this crate, which is right
/// where the checkout itself is built into another directory. A program with its target directory
/// elsewhere gets the checkout's versions: its build is named by its file, not by these.
pub fn emit_locked() {
    let lock = lock(&directory("OUT_DIR"), &directory("CARGO_MANIFEST_DIR"));
    if let Some((path, _)) = &lock {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let versions = lock.map(|(_, versions)| versions).unwrap_or_default();
    println!("cargo::rustc-env=SOJOURN_LOCKED={versions}");
}

/// A hash of the manifest and all Rust sources of the crate in this directory, with their names.
///
/// # Panics
/// One of them cannot be read.
pub fn sources(directory: &Path) -> String {
    let mut files = vec![directory.join("Cargo.toml")];
    collect(&directory.join("src"), &mut files);
    files.sort();
    let mut digest = Blake2b::<U8>::new();
    for file in &files {
        let name = file.strip_prefix(directory).unwrap_or(file).to_string_lossy();
        let content = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name.as_bytes());
        digest.update((content.len() as u64).to_le_bytes());
        digest.update(content);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A directory that Cargo passes to build scripts.
fn directory(variable: &str) -> PathBuf {
    env::var_os(variable).unwrap_or_else(|| panic!("{variable}: only Cargo sets it")).into()
}

/// All Rust sources below `directory`.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let entries =
        fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The lock of the workspace that is built, and the versions that it has: `target` is somewhere in its
/// target directory, and `package` is the directory of a crate beside `ROOT`.
fn lock(target: &Path, package: &Path) -> Option<(PathBuf, String)> {
    let mut above = target.ancestors().chain(package.ancestors());
    above.find_map(|root| {
        let crates = root.join("crates");
        if crates.join(ROOT).is_dir() && package.parent() != Some(crates.as_path()) {
            return None; // another checkout, into whose target directory this one is built
        }
        let path = root.join("Cargo.lock");
        let versions = locked(&fs::read_to_string(&path).ok()?)?;
        Some((path, versions))
    })
}

/// `NAME VERSION CHECKSUM` of the third-party crates that simulating crates draw and compute with,
/// in the lock's order, which is by name; `None` if the lock belongs to another project. Only our
/// crates and these are followed: one lock may have several versions of a crate, such as the one
/// that the tests' random cases are drawn with.
fn locked(lock: &str) -> Option<String> {
    let sections = lock.split("[[").filter_map(|section| section.strip_prefix("package]]"));
    let packages: Vec<_> = sections.map(Package::read).collect();
    let mut found = BTreeSet::new();
    let mut waiting = vec![ROOT];
    while let Some(wanted) = waiting.pop() {
        for (at, package) in packages.iter().enumerate() {
            if package.is(wanted) && found.insert(at) {
                waiting.extend(package.dependencies.iter().copied().filter(|name| decides(name)));
            }
        }
    }
    if found.is_empty() {
        return None;
    }
    let found = found.into_iter().map(|at| &packages[at]);
    let drawn = found.filter(|package| DRAWN.contains(&package.name));
    Some(drawn.map(Package::told).collect::<Vec<_>>().join(", "))
}

/// Whether a dependency is one of our crates or one whose version affects the numbers of a run.
fn decides(dependency: &str) -> bool {
    let name = dependency.split(' ').next().unwrap_or_default();
    name.starts_with("sojourn-") || DRAWN.contains(&name)
}

/// A package of a lock, which Cargo writes with one value or dependency a line.
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    /// Its checksum, or the commit that it is from; empty for a crate in a directory.
    content: &'a str,
    /// Names; with the version where the lock has several.
    dependencies: Vec<&'a str>,
}

impl<'a> Package<'a> {
    fn read(text: &'a str) -> Self {
        let value = |key: &str| {
            let start = format!("{key} = \"");
            text.lines().find_map(|line| between(line, &start, "\""))
        };
        Package {
            name: value("name").unwrap_or_default(),
            version: value("version").unwrap_or_default(),
            content: value("checksum").or_else(|| value("source")).unwrap_or_default(),
            dependencies: text.lines().filter_map(|line| between(line, " \"", "\",")).collect(),
        }
    }

    fn told(&self) -> String {
        format!("{} {} {}", self.name, self.version, self.content)
    }

    /// Whether it is the one that a dependency names.
    fn is(&self, wanted: &str) -> bool {
        let mut words = wanted.split(' ');
        words.next() == Some(self.name) && words.next().is_none_or(|it| it == self.version)
    }
}

/// The part of a line between `start` and `end`, if it begins and ends with these.
fn between<'a>(line: &'a str, start: &str, end: &str) -> Option<&'a str> {
    line.strip_prefix(start)?.strip_suffix(end)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const LOCK: &str = r#"# This file is automatically @generated by Cargo.
version = 4

[[package]]
name = "libm"
version = "0.2.16"
source = "registry"
checksum = "aa"

[[package]]
name = "proptest"
version = "1.11.0"
dependencies = [
 "rand 0.9.5",
]

[[package]]
name = "rand"
version = "0.9.5"
checksum = "bb"

[[package]]
name = "rand"
version = "0.10.3"
source = "git+https://example.org/rand#cc"

[[package]]
name = "rand_xoshiro"
version = "0.8.1"
checksum = "dd"

[[package]]
name = "sojourn-sim"
version = "0.1.0"
dependencies = [
 "libm",
 "proptest",
 "rand 0.10.3",
]

[[package]]
name = "sojourn-python"
version = "0.1.0"
dependencies = [
 "sojourn-sim",
]
"#;

    #[test]
    fn what_our_crates_draw_with_is_told_and_nothing_else_of_its_name() {
        let told = "libm 0.2.16 aa, rand 0.10.3 git+https://example.org/rand#cc";
        assert_eq!(locked(LOCK).as_deref(), Some(told));
    }

    #[test]
    fn a_lock_of_something_else_is_none() {
        assert_eq!(locked(""), None);
        assert_eq!(locked(&LOCK.replace("sojourn-python", "another")), None);
    }

    /// A checkout, a program beside it, and a directory with no lock above it.
    struct Places {
        all: TempDir,
        package: PathBuf,
    }

    impl Places {
        fn new() -> Self {
            let all = TempDir::new().unwrap();
            for place in ["checkout", "program"] {
                fs::create_dir_all(all.path().join(place)).unwrap();
                fs::write(all.path().join(place).join("Cargo.lock"), LOCK).unwrap();
            }
            let package = all.path().join("checkout/crates/sojourn-python");
            fs::create_dir_all(&package).unwrap();
            Places { all, package }
        }

        fn at(&self, path: &str) -> PathBuf {
            self.all.path().join(path)
        }

        /// The lock in use for a build into `target`.
        fn lock(&self, target: &str) -> PathBuf {
            lock(&self.at(target), &self.package).unwrap().0
        }
    }

    #[test]
    fn the_lock_is_that_of_what_is_built() {
        let places = Places::new();
        let (checkout, program) = (places.at("checkout"), places.at("program"));
        assert_eq!(places.lock("program/target/debug"), program.join("Cargo.lock"));
        assert_eq!(places.lock("checkout/target/debug"), checkout.join("Cargo.lock"));
        assert_eq!(places.lock("elsewhere/debug"), checkout.join("Cargo.lock"));
        let beside = places.at("checkout/crates/sojourn-wasm");
        assert_eq!(lock(&places.at("elsewhere"), &beside).unwrap().0, checkout.join("Cargo.lock"));
    }

    #[test]
    fn another_checkout_with_the_target_directory_does_not_count() {
        let places = Places::new();
        fs::create_dir_all(places.at("program/crates/sojourn-python")).unwrap();
        assert_eq!(places.lock("program/target/debug"), places.at("checkout/Cargo.lock"));
    }
}
