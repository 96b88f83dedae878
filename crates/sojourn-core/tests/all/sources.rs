//! What is built names the sources as they are.

use std::path::Path;

#[test]
fn the_crates_name_the_sources_that_they_were_built_from() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (name, told) in [sojourn_base::SOURCES, sojourn_core::SOURCES] {
        assert_eq!(told, sojourn_stamp::sources(&crates.join(name)), "{name}");
    }
}
