//! The kept inputs of fuzz targets keep the targets' laws.

#[path = "../../../fuzz/checks/cargo.rs"]
mod cargo;
#[path = "../../../fuzz/checks/kept.rs"]
mod kept;
#[path = "../../../fuzz/checks/overlay.rs"]
mod overlay;

#[test]
fn cargo_keeps_its_law() {
    kept::each("cargo", cargo::check);
}

#[test]
fn overlay_keeps_its_law() {
    kept::each("overlay", |bytes| {
        overlay::check(bytes);
    });
}
