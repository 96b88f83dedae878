//! The kept inputs of fuzz targets keep the targets' laws.

#[path = "../../../fuzz/checks/capture.rs"]
mod capture;
#[path = "../../../fuzz/checks/kept.rs"]
mod kept;

#[test]
fn capture_keeps_its_law() {
    kept::each("capture", capture::check);
}
