//! The kept inputs of fuzz targets keep the targets' laws.

#[path = "../../../fuzz/checks/cargo.rs"]
mod cargo;
#[path = "../../../fuzz/checks/kept.rs"]
mod kept;

#[test]
fn cargo_keeps_its_law() {
    kept::each("cargo", cargo::check);
}
