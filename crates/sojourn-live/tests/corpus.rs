//! The kept inputs of fuzz targets keep the targets' laws.
#![cfg(target_os = "linux")]

#[path = "../../../fuzz/checks/agent.rs"]
mod agent;
#[path = "../../../fuzz/checks/kept.rs"]
mod kept;
#[path = "../../../fuzz/checks/packet.rs"]
mod packet;

#[test]
fn agent_keeps_its_law() {
    kept::each("agent", agent::check);
}

#[test]
fn packet_keeps_its_law() {
    kept::each("packet", packet::check);
}
