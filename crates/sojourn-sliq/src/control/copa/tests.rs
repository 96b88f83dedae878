use super::*;
use crate::control::Flight;

fn view(ms: u64, packets: i64, next: u64) -> View {
    let flight = Flight { packets: packets as u32, bytes: packets * 1_000, pipe: packets * 1_000 };
    let now = Time::from_nanos(ms * 1_000_000);
    View { now, srtt: Span::from_millis(40), flight, next, una: 0 }
}

fn sample(rtt_ms: u64, way_back: f64, number: u64) -> RttSample {
    RttSample { rtt: Span::from_millis(rtt_ms), way_back, number, bytes: 980, window: 3.0 }
}

fn connected(rtt_ms: u64) -> Copa {
    let mut copa = Copa::default();
    copa.on_connected(Time::ZERO, Span::from_millis(rtt_ms));
    copa
}

#[test]
fn the_queue_on_the_way_back_does_not_count() {
    let mut copa = connected(40);
    copa.on_rtt(&view(40, 3, 3), &sample(40, 0.02, 0));
    copa.on_rtt(&view(41, 3, 4), &sample(70, 0.05, 1));
    assert!((copa.standing_rtt - 0.04).abs() < 1e-9, "{}", copa.standing_rtt);
    copa.on_rtt(&view(42, 3, 5), &sample(70, 0.02, 2));
    assert!(copa.srtt > 0.041, "a queue on the way there does: {}", copa.srtt);
}

#[test]
fn the_window_grows_by_a_packet_per_packet_until_the_queue_is_too_long() {
    let mut copa = connected(40);
    for n in 0..5u64 {
        copa.on_rtt(&view(40 + n, 8, 8), &sample(40, 0.02, n));
    }
    assert_eq!(copa.window, 8.0);
    for n in 5..200u64 {
        copa.on_rtt(&view(40 + n, 8, 8), &sample(60, 0.02, n));
    }
    assert!(matches!(copa.state, State::ClosedLoop));
    assert!(copa.window < 8.0, "the target is 2 packets per 20 ms: {}", copa.window);
}

#[test]
fn pairs_give_the_rate_to_start_with() {
    let mut copa = connected(200);
    let mut now = Time::ZERO;
    assert!(!copa.can_send(&view(0, 0, 0), 1_000));
    for pair in 0..11u8 {
        let probes: Vec<u8> = std::iter::from_fn(|| copa.poll_train(now)).map(|p| p.seq).collect();
        assert_eq!(probes, [2 * pair, 2 * pair + 1]);
        let answer = |seq, gap| Train {
            control: 0,
            kind: TrainKind::Answer,
            seq,
            gap,
            stamp: 0,
            delta: 0,
            padding: 0,
        };
        let arrival = now + Span::from_millis(200);
        copa.on_train(arrival, &answer(2 * pair, 0));
        copa.on_train(arrival, &answer(2 * pair + 1, 1_000));
        now = copa.next_timer().unwrap_or(now);
        copa.on_timer(now);
    }
    assert!(matches!(copa.state, State::ClosedLoop));
    assert!((copa.window - 200.0).abs() < 1e-6, "1,000 packets/s times 0.2 s: {}", copa.window);
}

#[test]
fn the_smaller_minimum_of_both_ends_counts_until_it_is_stale() {
    let mut copa = connected(40);
    copa.on_sync(Time::ZERO, 1, 300);
    assert!((copa.min_rtt - 0.03).abs() < 1e-9);
    copa.on_sync(Time::ZERO, 1, 100);
    assert!((copa.min_rtt - 0.03).abs() < 1e-9, "an old message");
}
