//! Hashes the core's sources, so that a result can name the engine that produced it.

use std::fs;
use std::path::{Path, PathBuf};

use blake2::digest::consts::U8;
use blake2::{Blake2b, Digest};

fn main() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sojourn-core");
    let mut files = vec![core.join("Cargo.toml")];
    collect(&core.join("src"), &mut files);
    files.sort();
    let mut digest = Blake2b::<U8>::new();
    for file in &files {
        let name = file.strip_prefix(&core).unwrap_or(file).to_string_lossy();
        let content = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name.as_bytes());
        digest.update((content.len() as u64).to_le_bytes());
        digest.update(content);
    }
    let hash: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=SOJOURN_ENGINE_BUILD={}-{hash}", env!("CARGO_PKG_VERSION"));
    let python = pyo3_build_config::get();
    println!("cargo::rustc-env=SOJOURN_PYTHON={}", python.executable().unwrap_or("python3"));
    println!("cargo::rerun-if-env-changed=PYO3_PYTHON");
    println!("cargo::rerun-if-changed={}", core.join("src").display());
    println!("cargo::rerun-if-changed={}", core.join("Cargo.toml").display());
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
