//! What is built names the sources as they are.

use std::path::Path;

#[test]
fn the_crate_names_the_sources_that_it_was_built_from() {
    let now = sojourn_stamp::sources(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert_eq!(sojourn_core::SOURCES, ("sojourn-core", now.as_str()));
}
