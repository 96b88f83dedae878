use sojourn_base::packet::{Dscp, Ecn};
use sojourn_base::units::{Span, Time};

use super::{Counters, Observed, unwrap};
use crate::wire::{Headers, Sacks, Segment, Transport};

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
/// Initial sequence number that wraps within the first segments.
const INITIAL: u32 = u32::MAX - 1500;

fn packet(flags: u8, seq: u64, ack: u64, payload: u16) -> Headers {
    let (seq, ack) = (INITIAL.wrapping_add(seq as u32), INITIAL.wrapping_add(ack as u32));
    let transport = Transport::Tcp(Segment { seq, ack, flags, sacks: Sacks::default() });
    let size = 52 + u32::from(payload);
    let (ecn, dscp) = (Ecn::NotEct, Dscp::BEST_EFFORT);
    Headers { size, ecn, dscp, ports: [1, 2], payload, transport }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn opened() -> Observed {
    let mut seen = Observed::default();
    seen.sent(at(0), &packet(SYN, 0, 0, 0));
    seen.received(at(10), &packet(SYN, 0, 0, 0));
    seen.acknowledged(at(20), &packet(SYN | ACK, 0, 1, 0));
    seen
}

#[test]
fn a_handshake_establishes() {
    assert_eq!(opened().counters.established_at, Some(at(20)));
}

#[test]
fn rtts_are_those_of_segments_sent_once() {
    let mut seen = opened();
    for (time, number) in [(20, 0), (21, 1), (22, 2)] {
        seen.sent(at(time), &packet(ACK, 1 + 1000 * number, 0, 1000));
    }
    seen.acknowledged(at(45), &packet(ACK, 0, 1001, 0));
    assert_eq!(
        (seen.counters.rtt.rtt_sum, seen.counters.rtt.rtt_count),
        (Span::from_millis(25), 1)
    );
    seen.sent(at(50), &packet(ACK, 1001, 0, 1000));
    assert_eq!(seen.counters.recovery.retransmissions, 1);
    seen.acknowledged(at(70), &packet(ACK, 0, 2001, 0));
    assert_eq!(seen.counters.rtt.rtt_count, 1);
    seen.acknowledged(at(72), &packet(ACK, 0, 3001, 0));
    assert_eq!(
        (seen.counters.rtt.rtt_sum, seen.counters.rtt.rtt_count),
        (Span::from_millis(75), 2)
    );
    assert_eq!(seen.acked(), (3000, at(72)));
    assert_eq!((seen.counters.sent.sent_packets, seen.counters.sent.sent_bytes), (4, 4000));
}

#[test]
fn what_has_arrived_beyond_a_hole_tells_rtts_and_is_not_in_flight() {
    let mut seen = opened();
    for number in 0..4 {
        seen.sent(at(20 + number), &packet(ACK, 1 + 1000 * number, 0, 1000));
    }
    let mut answer = |ms, ack, edges: Option<[u64; 2]>| {
        let mut headers = packet(ACK, 0, ack, 0);
        if let (Transport::Tcp(segment), Some(edges)) = (&mut headers.transport, edges) {
            segment.sacks.add(edges.map(|edge| INITIAL.wrapping_add(edge as u32)));
        }
        seen.acknowledged(at(ms), &headers);
        seen.integrate(Span::ZERO);
        let Counters { rtt, window, .. } = seen.counters;
        (rtt.rtt_sum.as_millis(), rtt.rtt_count, window.in_flight)
    };
    assert_eq!(answer(61, 1, Some([1001, 2001])), (40, 1, 3));
    assert_eq!(answer(62, 1, Some([1001, 3001])), (80, 2, 2));
    // Nothing new, and a duplicate's block.
    assert_eq!(answer(63, 1, Some([1001, 3001])), (80, 2, 2));
    assert_eq!(answer(63, 1, Some([0, 1])), (80, 2, 2));
    // The last one had waited for the first, which was sent again.
    seen.sent(at(64), &packet(ACK, 1, 0, 1000));
    seen.acknowledged(at(104), &packet(ACK, 0, 4001, 0));
    seen.integrate(Span::ZERO);
    assert_eq!((seen.counters.rtt.rtt_count, seen.counters.window.in_flight), (2, 0));
}

#[test]
fn bytes_are_delivered_once_and_in_order() {
    let mut seen = opened();
    let mut receive = |number: u64| {
        seen.received(at(30), &packet(ACK, 1 + 1000 * number, 0, 1000));
        let counters = &seen.counters.received;
        (counters.delivered_bytes, counters.in_order_bytes, counters.duplicates_received)
    };
    assert_eq!(receive(0), (1000, 1000, 0));
    assert_eq!(receive(2), (2000, 1000, 0));
    assert_eq!(receive(4), (3000, 1000, 0));
    assert_eq!(receive(2), (3000, 1000, 1));
    assert_eq!(receive(3), (4000, 1000, 1));
    assert_eq!(receive(1), (5000, 5000, 1));
    assert_eq!(receive(0), (5000, 5000, 2));
}

#[test]
fn a_connection_that_began_before_is_counted_from_where_it_is_joined() {
    let mut seen = Observed::default();
    seen.join(INITIAL.wrapping_add(5001));
    let pass = |seen: &mut Observed, ms, number: u64| {
        seen.sent(at(ms), &packet(ACK, 1 + 1000 * number, 0, 1000));
        seen.received(at(ms + 10), &packet(ACK, 1 + 1000 * number, 0, 1000));
    };
    pass(&mut seen, 0, 5);
    pass(&mut seen, 0, 6);
    seen.acknowledged(at(20), &packet(ACK, 0, 7001, 0));
    assert_eq!(seen.counters.rtt.rtt_sum, Span::from_millis(20));
    pass(&mut seen, 30, 4);
    assert_eq!(seen.counters.recovery.retransmissions, 1);
    assert_eq!(seen.counters.received.delivered_bytes, 2000);
}

#[test]
fn sequence_numbers_go_on_beyond_32_bits() {
    assert_eq!(unwrap(u32::MAX, 1), 0);
    assert_eq!(unwrap(5, 0), 5);
    assert_eq!(unwrap(5, u64::from(u32::MAX)), (1 << 32) + 5);
    assert_eq!(unwrap(u32::MAX, 1 << 32), u64::from(u32::MAX));
}

#[test]
fn a_later_acknowledgment_supersedes_and_data_does_not() {
    use sojourn_base::packet::Packet;
    let seen = opened();
    let of = |packet: Headers| Packet { header: seen.header(&packet), ..Packet::default() };
    let (early, late) = (of(packet(ACK, 1, 1001, 0)), of(packet(ACK, 1, 4001, 0)));
    assert!(late.supersedes(&early) && !early.supersedes(&late));
    assert!(!of(packet(ACK, 1, 5001, 10)).supersedes(&early));
    assert!(!late.supersedes(&of(packet(ACK | SYN, 1, 1, 0))));
}

#[test]
fn packets_tell_what_is_outstanding_and_a_smoothed_rtt() {
    let mut seen = opened();
    for number in 0..4 {
        seen.sent(at(20), &packet(ACK, 1 + 1000 * number, 0, 1000));
    }
    seen.integrate(Span::from_millis(10));
    let window = seen.counters.window;
    assert_eq!((window.in_flight, window.in_flight_time), (4, 0.04));
    assert_eq!(seen.counters.rtt.srtt_known, 0.0);
    seen.acknowledged(at(40), &packet(ACK, 0, 1001, 0));
    seen.acknowledged(at(48), &packet(ACK, 0, 2001, 0));
    seen.integrate(Span::from_millis(10));
    let rtt = seen.counters.rtt;
    assert_eq!((rtt.srtt, rtt.min_rtt), (Span::from_millis(21), Span::from_millis(20)));
    assert_eq!((rtt.srtt_time, rtt.srtt_known), (0.01 * 0.021, 0.01));
    assert_eq!(seen.counters.window.in_flight, 2);
}
