//! The kept inputs of fuzz targets keep the targets' laws.

#[path = "../../../../fuzz/checks/canonical.rs"]
mod canonical;
#[path = "../../../../fuzz/checks/kept.rs"]
mod kept;
#[path = "../../../../fuzz/checks/link.rs"]
mod link;
#[path = "../../../../fuzz/checks/scenario.rs"]
mod scenario;
#[path = "../../../../fuzz/checks/script.rs"]
mod script;

#[test]
fn canonical_keeps_its_law() {
    kept::each("canonical", canonical::check);
}

#[test]
fn link_keeps_its_law() {
    kept::each("link", link::check);
}

#[test]
fn scenario_keeps_its_law() {
    kept::each("scenario", scenario::check);
}

#[test]
fn script_keeps_its_law() {
    kept::each("script", script::check);
}
