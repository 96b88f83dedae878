//! The kept inputs of fuzz targets keep the targets' laws.

#[path = "../../../fuzz/checks/connection.rs"]
mod connection;
#[path = "../../../fuzz/checks/kept.rs"]
mod kept;
#[path = "../../../fuzz/checks/secure.rs"]
mod secure;
#[path = "../../../fuzz/checks/sliq.rs"]
mod sliq;
#[path = "../../../fuzz/checks/wire.rs"]
mod wire;

#[test]
fn connection_keeps_its_law() {
    kept::each("connection", connection::check);
}

#[test]
fn secure_keeps_its_law() {
    kept::each("secure", |bytes| {
        secure::check(bytes);
    });
}

#[test]
fn sliq_keeps_its_law() {
    kept::each("sliq", sliq::check);
}

#[test]
fn wire_keeps_its_law() {
    kept::each("wire", wire::check);
}
