//! A build contains the hashes of the sources as they are.

use std::path::Path;

#[test]
fn the_crates_name_the_sources_that_they_were_built_from() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let all = [
        sojourn_base::SOURCES,
        sojourn_gnat::SOURCES,
        sojourn_net::SOURCES,
        sojourn_sim::SOURCES,
        sojourn_sliq::SOURCES,
        sojourn_tcp::SOURCES,
        sojourn_wifi::SOURCES,
    ];
    for (name, told) in all {
        assert_eq!(told, sojourn_stamp::sources(&crates.join(name)), "{name}");
    }
}
