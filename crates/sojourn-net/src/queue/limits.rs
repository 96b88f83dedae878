//! Limits of all disciplines in bandwidth-delay products.

use serde_json::{Map, json};

use super::tests::init;
use super::*;
use crate::catalogue::builtin;
use crate::packet::{Ecn, FiveTuple};

/// Packets that the discipline `name` holds of a hundred flows that send one each, with this
/// limit.
fn held(name: &str, key: &str) -> u64 {
    let params = Map::from_iter([(key.to_owned(), json!("1 bdp"))]);
    let entry = builtin().find::<Queue>(name).expect("a discipline");
    let made = (entry.make)(&params, &init(), builtin()).expect("valid parameters");
    let (mut queue, mut counters) = (made.boxed(), QueueCounters::default());
    for flow in 0..100 {
        let tuple = FiveTuple::of_flow(flow);
        let packet = Packet { flow, tuple, size: 1500, ecn: Ecn::Ect0, ..Packet::default() };
        let mut cx = QueueContext { counters: &mut counters, observer: None };
        queue.enqueue(Time::ZERO, packet, &mut cx);
    }
    let held = queue.backlog().packets;
    assert_eq!(counters.drops[DropReason::Overflow as usize], 100 - held, "{name}");
    held
}

/// 10 Mbit/s x 40 ms are 33.03 packets of 1514 bytes. Cake counts memory, and FQ's fast path of
/// eight packets counts against no limit.
#[test]
fn every_limit_may_be_a_bandwidth_delay_product() {
    for name in builtin().names::<Queue>() {
        let key = if name == "cake" { "memory" } else { "limit" };
        assert_eq!(held(name, key), if name == "fq" { 42 } else { 34 }, "{name}");
    }
}
