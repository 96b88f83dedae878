//! The kept inputs of a target, for tests.

use std::fs;
use std::path::Path;

/// Passes each of them through the target's check.
pub(crate) fn each(target: &str, check: fn(&[u8])) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = fs::read_dir(&kept).unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
    let mut count = 0;
    for entry in files {
        let file = entry.unwrap().path();
        println!("{}", file.display()); // shown if the check fails
        check(&fs::read(&file).unwrap());
        count += 1;
    }
    assert!(count > 0, "{} is empty", kept.display());
}
