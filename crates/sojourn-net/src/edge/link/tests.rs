//! Laws of every link: conservation, exact serialisation, analytic waiting times.

use proptest::prelude::*;
use rand::RngExt;
use serde_json::{Map, Value, json};

use super::impairments::Faults;
use super::*;
use crate::catalogue::builtin;
use crate::packet::{Direction, Header};
use crate::queue::{Discipline, QueueInit};
use crate::rng::StreamKey;
use crate::rng::draw::exponential;
use crate::spec::Queue;
use crate::units::Rate;

fn init(rate: Option<Rate>, overhead: u32) -> QueueInit {
    QueueInit {
        rate,
        overhead,
        full_packet: 1500,
        base_rtt: Span::from_millis(10),
        ecn: false,
        random: StreamKey::root(1),
    }
}

fn discipline(kind: &str, params: &Map<String, Value>, init: &QueueInit) -> Discipline {
    let entry = builtin().find::<Queue>(kind).unwrap();
    (entry.make)(params, init, builtin()).unwrap()
}

fn fifo(limit: &str, rate: Option<Rate>, overhead: u32, device: usize) -> Transmitter {
    let params = Map::from_iter([("limit".to_owned(), json!(limit))]);
    let queue = discipline("fifo", &params, &init(rate, overhead));
    Transmitter::new(Egress::new(queue, device), rate, overhead)
}

fn packet(index: u32, size: u32) -> Packet {
    Packet { index, size, header: Header::opaque(1), ..Packet::default() }
}

/// Polls the link at its own wake-ups up to `until`, as the simulator does.
fn drain(link: &mut Link, until: Time, arrivals: &mut Vec<(Time, Packet)>) {
    while let Some(at) = link.next_wakeup().filter(|at| *at <= until) {
        while let Some(packet) = link.poll(at) {
            arrivals.push((at, packet));
        }
    }
}

#[test]
fn serialisation_is_exact_and_carries_its_remainder() {
    // 1514 bytes at 7 Mbit/s last 1,730,285.714... ns.
    let rate = Rate::from_bps(7_000_000);
    let mut link =
        Link::new(Some(fifo("100000 packets", Some(rate), 14, 0)), None, Span::from_micros(3));
    let n = 7000;
    (0..n).for_each(|i| link.offer(Time::ZERO, &packet(i, 1500)));
    let mut arrivals = Vec::new();
    drain(&mut link, Time::NEVER, &mut arrivals);
    for (i, (at, packet)) in arrivals.iter().enumerate() {
        let bits = (i as u64 + 1) * 1514 * 8;
        assert_eq!(packet.index as usize, i);
        assert_eq!(at.as_nanos(), bits * 1_000_000_000 / 7_000_000 + 3_000);
    }
    assert_eq!(arrivals.len(), n as usize);
}

#[test]
fn saturated_link_sends_exactly_its_rate() {
    let rate = Rate::from_bps(12_112_000); // 1000 packets of 1514 bytes per second
    let mut link = Link::new(Some(fifo("40 packets", Some(rate), 14, 2)), None, Span::ZERO);
    let mut arrivals = Vec::new();
    for i in 0..20_000 {
        let now = Time::from_nanos(500_000 * u64::from(i));
        drain(&mut link, now, &mut arrivals);
        link.offer(now, &packet(i, 1500));
    }
    let end = Time::from_nanos(10_000_000_000);
    drain(&mut link, end, &mut arrivals);
    let counters = link.report(end);
    assert_eq!(counters.sent_packets, 10_000);
    assert_eq!(counters.sent_bytes * 8, 12_112_000 * 10);
    // A full queue: every packet waits for 40 others, less what has gone of the one in service.
    assert_eq!(counters.queue_packets, 39);
    assert_eq!(link.held().packets, 39 + 2 + 1);
}

#[test]
fn a_shaping_discipline_takes_the_transmitter_s_place() {
    // Cake at the link's rate: the first packet passes at once, the others follow at the rate.
    let rate = Rate::from_bps(12_112_000);
    let queue = discipline("cake", &Map::new(), &init(Some(rate), 14));
    let transmitter = Transmitter::new(Egress::new(queue, 0), Some(rate), 14);
    let mut link = Link::new(Some(transmitter), None, Span::from_millis(10));
    (0..100).for_each(|i| link.offer(Time::ZERO, &packet(i, 1500)));
    let mut arrivals = Vec::new();
    drain(&mut link, Time::NEVER, &mut arrivals);
    for (i, (at, _)) in arrivals.iter().enumerate() {
        assert_eq!(*at, Time::ZERO + Span::from_millis(10 + i as u64));
    }
    assert_eq!(arrivals.len() as u64 + link.report(Time::from_nanos(1_000_000_000)).drops_aqm, 100);
}

#[test]
fn zero_packets_of_queue_still_pass_one_at_a_time() {
    let rate = Rate::from_bps(8_000_000);
    let mut link = Link::new(Some(fifo("0 packets", Some(rate), 0, 0)), None, Span::ZERO);
    link.offer(Time::ZERO, &packet(0, 1000));
    link.offer(Time::ZERO, &packet(1, 1000));
    // The transmission ends at 1 ms: a packet of that very instant finds the link free.
    link.offer(Time::from_nanos(1_000_000), &packet(2, 1000));
    let mut arrivals = Vec::new();
    drain(&mut link, Time::NEVER, &mut arrivals);
    let indices: Vec<_> = arrivals.iter().map(|(_, packet)| packet.index).collect();
    assert_eq!(indices, [0, 2]);
    assert_eq!(link.report(Time::from_nanos(2_000_000)).drops_overflow, 1);
}

/// Mean wait in the queue of `n` Poisson arrivals at `load` on an 8 Mbit/s link, in service times
/// of a mean packet of 10,000 bytes (10 ms): from the sum of sojourns, and from the integral of
/// the queue's length by Little's law.
fn mean_wait(load: f64, n: u32, size: impl Fn(&mut crate::rng::Stream) -> u32) -> (f64, f64) {
    let rate = Rate::from_bps(8_000_000);
    let mut link = Link::new(Some(fifo("100000000 packets", Some(rate), 0, 0)), None, Span::ZERO);
    let mut rng = StreamKey::root(5).stream();
    let (mut now, mut arrivals) = (Time::ZERO, Vec::new());
    for i in 0..n {
        now += Span::from_secs_f64(10e-3 / load * exponential(&mut rng));
        drain(&mut link, now, &mut arrivals);
        arrivals.clear();
        link.offer(now, &packet(i, size(&mut rng)));
    }
    let counters = link.report(now);
    let wait = counters.sojourn_sum.as_secs_f64() / counters.sojourn_count as f64;
    let littles = counters.queue_time / counters.offered_packets as f64;
    (wait / 10e-3, littles / 10e-3)
}

#[test]
fn m_d_1_waits_as_long_as_theory_says() {
    for load in [0.5, 0.8] {
        let expected = load / (2.0 * (1.0 - load));
        let (wait, littles) = mean_wait(load, 3_000_000, |_| 10_000);
        assert!((wait / expected - 1.0).abs() < 0.02, "load {load}: {wait}, not {expected}");
        assert!((littles / expected - 1.0).abs() < 0.02, "load {load}: {littles}");
    }
}

#[test]
fn m_m_1_waits_as_long_as_theory_says() {
    for load in [0.5, 0.8] {
        let expected = load / (1.0 - load);
        let size = |rng: &mut crate::rng::Stream| (1e4 * exponential(rng)).round() as u32;
        let (wait, littles) = mean_wait(load, 4_000_000, size);
        assert!((wait / expected - 1.0).abs() < 0.02, "load {load}: {wait}, not {expected}");
        assert!((littles / expected - 1.0).abs() < 0.02, "load {load}: {littles}");
    }
}

#[test]
fn m_g_1_waits_as_long_as_pollaczek_and_khinchine_say() {
    // Two sizes, 1000 bytes and 20,000: mean 10,000 needs shares 10/19 and 9/19.
    let load = 0.6;
    let second_moment = 10.0 / 19.0 * 0.1f64.powi(2) + 9.0 / 19.0 * 2.0f64.powi(2);
    let expected = load * second_moment / (2.0 * (1.0 - load));
    let size = |rng: &mut crate::rng::Stream| {
        if rng.random_bool(10.0 / 19.0) { 1_000 } else { 20_000 }
    };
    let (wait, _) = mean_wait(load, 3_000_000, size);
    assert!((wait / expected - 1.0).abs() < 0.02, "{wait}, not {expected}");
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    gap_us: u64,
    size: u32,
    flow: u32,
    backward: bool,
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let one = (0u64..2_000, 40u32..1500, 0u32..3, any::<bool>())
        .prop_map(|(gap_us, size, flow, backward)| Arrival { gap_us, size, flow, backward });
    prop::collection::vec(one, 1..300)
}

proptest! {
    #[test]
    fn nothing_is_made_or_vanishes(
        arrivals in arrivals(),
        limit in prop::sample::select(vec!["0 packets", "1 packet", "7 packets", "9 kB", "1 bdp"]),
        rate in prop::option::of(1_000u64..20_000_000),
        delay_us in 0u64..30_000,
        device in 0usize..4,
        loss in prop::sample::select(vec![0.0, 0.1, 1.0]),
    ) {
        let rate = rate.map(Rate::from_bps);
        let key = StreamKey::root(3).child("link");
        let loss = (loss > 0.0).then(|| RandomLoss::new(loss, key));
        let drops = vec![FlowDrops::new(1, vec![0, 3, 4])];
        let impairments = Impairments::new(loss, drops, Faults::default());
        let delay = Span::from_micros(delay_us);
        let mut link = Link::new(Some(fifo(limit, rate, 14, device)), impairments, delay);
        let (mut now, mut out) = (Time::ZERO, Vec::new());
        for (i, arrival) in arrivals.iter().enumerate() {
            now += Span::from_micros(arrival.gap_us);
            drain(&mut link, now, &mut out);
            let direction =
                if arrival.backward { Direction::Backward } else { Direction::Forward };
            link.offer(now, &Packet {
                flow: arrival.flow,
                way: direction.into(),
                ..packet(i as u32, arrival.size)
            });
            let c = link.report(now);
            let held = link.held();
            let dropped = c.drops_overflow + c.drops_aqm + c.drops_policed + c.drops_loss;
            prop_assert_eq!(c.offered_packets, c.arrived_packets + dropped + held.packets);
            prop_assert_eq!(
                c.offered_bytes,
                c.arrived_bytes + c.dropped_bytes + c.lost_bytes + held.bytes
            );
            prop_assert_eq!(out.len() as u64, c.arrived_packets);
            if let Some(rate) = rate {
                prop_assert!(c.sent_bytes <= rate.bytes_in(now.since(Time::ZERO)) + 1);
            }
        }
        drain(&mut link, Time::NEVER, &mut out);
        prop_assert_eq!(link.held().packets, 0);
        prop_assert!(out.is_sorted_by_key(|(at, packet)| (*at, packet.index)));
    }
}
