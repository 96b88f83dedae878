use super::*;
use crate::control::Flight;

fn view(ms: u64, bytes: i64, pipe: i64, una: u64, next: u64) -> View {
    let flight = Flight { packets: (bytes / 1_000) as u32, bytes, pipe };
    let now = Time::from_nanos(ms * 1_000_000);
    View { now, srtt: Span::from_millis(40), flight, next, una }
}

/// A control that has sent `packets` of 1,000 bytes.
fn sent(packets: u64) -> Cubic {
    let mut cubic = Cubic::new(Time::ZERO);
    for next in 0..packets {
        cubic.on_sent(&view(0, next as i64 * 1_000, next as i64 * 1_000, 0, next), 1_000);
    }
    cubic
}

#[test]
fn slow_start_adds_a_segment_per_ack_at_most() {
    let mut cubic = sent(5);
    cubic.on_ack_start(&view(40, 5_000, 5_000, 0, 5));
    cubic.on_ack_done(&view(40, 3_000, 3_000, 2, 5));
    assert_eq!(cubic.window, INITIAL + MSS);
}

#[test]
fn the_last_packet_may_reach_over_the_window() {
    let cubic = sent(0);
    assert!(cubic.can_send(&view(0, 4_000, 4_000, 0, 4), 1_000));
    assert!(!cubic.can_send(&view(0, 5_000, 5_000, 0, 5), 1_000));
}

#[test]
fn a_reduction_arrives_at_seven_tenths() {
    let mut cubic = sent(20);
    cubic.window = 20 * MSS;
    cubic.threshold = 10 * MSS;
    cubic.on_ack_start(&view(40, 20_000, 20_000, 0, 20));
    assert!(cubic.on_lost(&view(40, 20_000, 20_000, 0, 20), 0));
    cubic.on_ack_done(&view(40, 19_000, 18_000, 0, 20));
    assert_eq!(cubic.threshold, 14 * MSS);
    assert!(!cubic.on_lost(&view(41, 19_000, 18_000, 0, 21), 20), "beyond the reduction");
    assert!(cubic.on_lost(&view(41, 19_000, 18_000, 0, 21), 19));
    cubic.on_ack_start(&view(80, 19_000, 18_000, 0, 20));
    cubic.on_ack_done(&view(80, 0, 0, 20, 20));
    assert_eq!(cubic.window, 14 * MSS);
}

#[test]
fn a_timeout_leaves_one_segment() {
    let mut cubic = sent(10);
    cubic.on_rto(&view(1_000, 10_000, 10_000, 0, 10), true);
    assert_eq!((cubic.window, cubic.threshold), (MSS, 2 * MSS + (MSS / 10)));
}
