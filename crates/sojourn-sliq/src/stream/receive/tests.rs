use super::*;
use crate::virtual_payload::Virtual;
use crate::wire::WINDOW;

fn receiver(ordered: bool) -> Receiver<Virtual> {
    let config = StreamConfig { ordered, ..StreamConfig::default() };
    Receiver::new(1, config, WINDOW, 10)
}

fn data(seq: u32) -> Data {
    Data { stream: 1, seq, stamp: 100 * seq, ..Data::default() }
}

fn arrive(receiver: &mut Receiver<Virtual>, seq: u32) -> Arrival {
    let now = Time::from_nanos(u64::from(seq) * 1_000_000);
    receiver.on_data(now, &data(seq), Virtual::new(seq as u16, now))
}

fn read(receiver: &mut Receiver<Virtual>) -> Vec<u16> {
    std::iter::from_fn(|| receiver.read()).map(|delivered| delivered.payload.bytes).collect()
}

#[test]
fn order_is_kept_where_it_is_asked_for() {
    let mut ordered = receiver(true);
    let mut unordered = receiver(false);
    for seq in [10, 12, 11] {
        arrive(&mut ordered, seq);
        arrive(&mut unordered, seq);
    }
    assert_eq!(read(&mut ordered), [10, 11, 12]);
    assert_eq!(read(&mut unordered), [10, 12, 11]);
}

#[test]
fn a_gap_is_acknowledged_at_once_with_blocks() {
    let mut receiver = receiver(true);
    assert!(!arrive(&mut receiver, 10).ack_now);
    assert!(arrive(&mut receiver, 12).ack_now && arrive(&mut receiver, 15).ack_now);
    let ack = receiver.ack(Time::from_nanos(15_250_000), 7, 0);
    assert_eq!(ack.next, 11);
    assert_eq!(ack.blocks().collect::<Vec<_>>(), [(4, 4), (1, 1)]);
    let times: Vec<u32> = ack.observed().iter().map(|observed| observed.stamp).collect();
    assert_eq!(times, [1_000 + 5_250, 1_200 + 3_250, 1_500 + 250]);
    assert!(receiver.ack(Time::ZERO, 8, 0).observed().is_empty(), "each is observed once");
}

#[test]
fn what_came_before_is_a_duplicate() {
    let mut receiver = receiver(true);
    arrive(&mut receiver, 10);
    assert!(arrive(&mut receiver, 10).duplicate);
}

#[test]
fn coded_packets_bring_lost_ones_back() {
    let mut receiver = receiver(false);
    let sources: Vec<_> =
        (0..3).map(|i| (10 + i, Virtual::new(100 + i as u16, Time::ZERO))).collect();
    let coded = Virtual::encode(&sources, 3..5);
    let mut send = |seq: u32, index: u8, payload: &Virtual, round| {
        let encoded = (index >= 3).then_some(102);
        let sources = if index >= 3 { 3 } else { 0 };
        let fec = Some(crate::wire::Fec { group: 0, index, sources, round, encoded });
        receiver.on_data(Time::ZERO, &Data { fec, ..data(seq) }, payload.clone())
    };
    send(11, 1, &sources[1].1, 1);
    send(13, 3, &coded[0].0, 1);
    send(14, 4, &coded[1].0, 1);
    let mut bytes = read(&mut receiver);
    bytes.sort_unstable();
    assert_eq!(bytes, [100, 101, 102]);
    assert_eq!(receiver.blocks.next(), 15);
    assert_eq!((receiver.counts.received, receiver.counts.delivered_in_time), (3, 3));
}
