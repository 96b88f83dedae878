//! Tests of Cake as a whole, driven packet by packet.

use serde_json::json;

use super::*;
use crate::catalogue::builtin;
use crate::packet::{Direction, Ecn, FiveTuple, Flags, Header, TcpAck, Way};
use crate::quantity::Limit;
use crate::queue::{DropReason, QueueCounters};
use crate::rng::StreamKey;
use crate::spec::Queue;
use crate::units::Span;

const PACKET: u32 = 1500;

fn init(rate: u64) -> QueueInit {
    QueueInit {
        rate: Some(Rate::from_bps(rate)),
        overhead: 14,
        full_packet: PACKET,
        base_rtt: Span::from_millis(80),
        ecn: true,
        random: StreamKey::root(5).child("queue"),
    }
}

fn cake(rate: u64, params: Params) -> Cake {
    Cake::new(params, &init(rate))
}

fn isolation(isolation: Isolation) -> Params {
    Params { isolation, ..Params::default() }
}

/// A flow that keeps `depth` packets waiting.
#[derive(Clone, Copy, Default)]
struct Greedy {
    source: u16,
    destination: u16,
    size: u32,
    depth: u64,
    ecn: Ecn,
    dscp: Dscp,
    /// Packets and bytes that left, and how many still wait.
    sent: u64,
    bytes: u64,
    waiting: u64,
}

fn greedy(source: u16, destination: u16) -> Greedy {
    Greedy { source, destination, size: PACKET, depth: 50, ..Greedy::default() }
}

/// Offers packets of greedy flows and takes them out when Cake releases them.
struct Rig {
    cake: Cake,
    counters: QueueCounters,
    now: Time,
    flows: Vec<Greedy>,
    entered: u64,
}

impl Rig {
    fn new(cake: Cake, flows: Vec<Greedy>) -> Self {
        Rig { cake, counters: QueueCounters::default(), now: Time::ZERO, flows, entered: 0 }
    }

    fn offer(&mut self, packet: Packet) {
        let packet = Packet { enqueued_at: self.now, ..packet };
        let mut cx = QueueContext { counters: &mut self.counters, observer: None };
        self.cake.enqueue(self.now, packet, &mut cx);
        self.entered += 1;
    }

    fn top_up(&mut self) {
        for flow in 0..self.flows.len() {
            let Greedy { source, destination, size, ecn, dscp, depth, waiting, .. } =
                self.flows[flow];
            let way = Way::new(Direction::Forward, dscp);
            for _ in waiting..depth {
                let flow = flow as u32;
                let tuple = FiveTuple { source, destination, ports: flow };
                self.offer(Packet { flow, way, tuple, size, ecn, ..Packet::default() });
            }
            self.flows[flow].waiting = waiting.max(depth);
        }
    }

    /// The next departure; waits for it if necessary.
    fn depart(&mut self) -> Option<Packet> {
        loop {
            let mut cx = QueueContext { counters: &mut self.counters, observer: None };
            if let Some(packet) = self.cake.dequeue(self.now, &mut cx) {
                if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
                    flow.sent += 1;
                    flow.bytes += u64::from(packet.size);
                    flow.waiting -= 1;
                }
                return Some(packet);
            }
            self.now = self.cake.next_timer()?;
        }
    }

    /// Keeps the flows backlogged until `end`. COBALT's drops are counted as waiting: greedy
    /// flows in these tests are ECN-capable.
    fn run_until(&mut self, end: Time) {
        while self.now < end {
            self.top_up();
            self.depart();
        }
    }
}

fn seconds(s: u64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

fn ect(flow: Greedy) -> Greedy {
    Greedy { ecn: Ecn::Ect0, ..flow }
}

#[test]
fn goodput_is_1448_of_1514_bytes_of_the_rate() {
    for rate in [500_000, 10_000_000, 99_999_999] {
        let mut rig = Rig::new(cake(rate, Params::default()), vec![ect(greedy(1, 2))]);
        rig.run_until(seconds(20));
        let payload = rig.flows[0].sent * 1448 * 8;
        let expected = 20.0 * rate as f64 * 1448.0 / 1514.0;
        assert!((payload as f64 - expected).abs() <= 2.0 * 1448.0 * 8.0, "{payload} of {expected}");
    }
}

#[test]
fn explicit_overhead_replaces_the_link_s() {
    let params = Params { overhead: Some("100 B".parse().unwrap()), ..Params::default() };
    let mut rig = Rig::new(cake(12_800_000, params), vec![ect(greedy(1, 2))]);
    rig.run_until(seconds(1));
    assert_eq!(rig.flows[0].sent, 1001, "1600 B at 1 ms each, the first at once");
}

#[test]
fn flows_of_unequal_packets_get_equal_bytes() {
    let flows: Vec<_> =
        [1500, 1000, 500, 200].map(|size| Greedy { size, ..ect(greedy(1, 2)) }).into();
    let mut rig = Rig::new(cake(20_000_000, isolation(Isolation::Flows)), flows);
    rig.run_until(seconds(20));
    // Equal bytes on the wire, overhead included.
    let wire: Vec<f64> = rig.flows.iter().map(|f| (f.bytes + 14 * f.sent) as f64).collect();
    let (sum, squares) = (wire.iter().sum::<f64>(), wire.iter().map(|x| x * x).sum::<f64>());
    let jain = sum * sum / (4.0 * squares);
    assert!(jain > 0.9999, "{jain}: {wire:?}");
}

/// Shares of source host 1 (one flow) and of source host 2 (`n` flows to as many hosts).
fn one_against_many(params: Params, n: u16, swap: bool) -> f64 {
    let flow = |host, peer| if swap { greedy(peer, host) } else { greedy(host, peer) };
    let flows =
        std::iter::once(ect(flow(1, 100))).chain((0..n).map(|peer| ect(flow(2, 200 + peer))));
    let mut rig = Rig::new(cake(50_000_000, params), flows.collect());
    rig.run_until(seconds(20));
    let many: u64 = rig.flows[1..].iter().map(|f| f.bytes).sum();
    rig.flows[0].bytes as f64 / many as f64
}

#[test]
fn hosts_share_equally_whatever_their_number_of_flows() {
    for (mode, swap, expected) in [
        (Isolation::TripleIsolate, false, 1.0),
        (Isolation::TripleIsolate, true, 1.0),
        (Isolation::DualSrchost, false, 1.0),
        (Isolation::DualDsthost, true, 1.0),
        (Isolation::Srchost, false, 1.0),
        (Isolation::DualDsthost, false, 1.0 / 8.0),
        (Isolation::Flows, false, 1.0 / 8.0),
        (Isolation::Hosts, false, 1.0 / 8.0),
    ] {
        let ratio = one_against_many(isolation(mode), 8, swap);
        assert!((ratio / expected - 1.0).abs() < 0.02, "{mode:?}, swapped {swap}: {ratio}");
    }
}

#[test]
fn hosts_behind_a_nat_are_one_unless_they_are_looked_up() {
    let (source, destination) = (Masquerade::Source, Masquerade::Destination);
    for (mode, swap, masquerade, nat, expected) in [
        (Isolation::DualSrchost, false, source, false, 1.0 / 8.0),
        (Isolation::DualSrchost, false, source, true, 1.0),
        (Isolation::DualSrchost, false, destination, false, 1.0),
        (Isolation::DualDsthost, true, destination, false, 1.0 / 8.0),
        (Isolation::DualDsthost, true, destination, true, 1.0),
    ] {
        let params = Params { masquerade, nat, ..isolation(mode) };
        let ratio = one_against_many(params, 8, swap);
        assert!((ratio / expected - 1.0).abs() < 0.02, "{mode:?}, {masquerade:?}, {nat}: {ratio}");
    }
}

/// Shares of all packets of flows with these codepoints that are always backlogged.
fn shares(params: Params, codepoints: &[&str]) -> Vec<f64> {
    let flow = |dscp: &&str| Greedy { dscp: dscp.parse().unwrap(), ..ect(greedy(1, 2)) };
    let mut rig = Rig::new(cake(8_000_000, params), codepoints.iter().map(flow).collect());
    for _ in 0..8_000 {
        rig.top_up();
        rig.depart();
    }
    rig.flows.iter().map(|flow| flow.sent as f64 / 8_000.0).collect()
}

#[test]
fn tins_have_priority_up_to_their_share_of_the_rate() {
    let unlimited = || Some(Bandwidth::Unlimited);
    let diffserv4 = || Params { diffserv: Diffserv::Diffserv4, ..Params::default() };
    for (params, codepoints, expected) in [
        (Params::default(), vec!["cs0", "cs1", "ef"], vec![11.0 / 16.0, 1.0 / 16.0, 1.0 / 4.0]),
        (Params::default(), vec!["cs1"], vec![1.0]),
        // Beyond their shares, the one whose clock is the earlier goes.
        (Params::default(), vec!["cs1", "ef"], vec![1.0 / 14.0, 13.0 / 14.0]),
        (diffserv4(), vec!["cs0", "af41", "cs4"], vec![0.25, 0.5, 0.25]),
        (
            Params { diffserv: Diffserv::Besteffort, ..Params::default() },
            vec!["cs0", "cs1", "ef"],
            vec![1.0 / 3.0; 3],
        ),
        (
            Params { bandwidth: unlimited(), ..Params::default() },
            vec!["cs0", "cs1", "ef"],
            vec![16.0 / 21.0, 1.0 / 21.0, 4.0 / 21.0],
        ),
    ] {
        let got = shares(params, &codepoints);
        let near = got.iter().zip(&expected).all(|(got, expected)| (got - expected).abs() < 0.01);
        assert!(near, "{codepoints:?}: {got:?}, {expected:?}");
    }
}

#[test]
fn washing_clears_the_codepoint_of_what_is_in_its_tin() {
    for wash in [false, true] {
        let mut rig = Rig::new(cake(8_000_000, Params { wash, ..Params::default() }), vec![]);
        let ef: Dscp = "ef".parse().unwrap();
        let way = Way::new(Direction::Backward, ef);
        rig.offer(Packet { way, size: PACKET, ..Packet::default() });
        assert_eq!(rig.cake.tins.list.iter().map(|tin| tin.packets).collect::<Vec<_>>(), [0, 0, 1]);
        let left = rig.depart().unwrap();
        let expected = if wash { Dscp::BEST_EFFORT } else { ef };
        assert_eq!((left.dscp(), left.direction()), (expected, Direction::Backward));
    }
}

#[test]
fn filtered_acknowledgments_are_accounted_for() {
    for (ack_filter, left) in [
        (AckFilter::NoAckFilter, 10),
        (AckFilter::AckFilter, 2),
        (AckFilter::AckFilterAggressive, 1),
    ] {
        let mut rig = Rig::new(cake(8_000, Params { ack_filter, ..Params::default() }), vec![]);
        for next in 1..=10 {
            let header = Header::Ack(TcpAck { flags: Flags::ACK, next, ..TcpAck::default() });
            rig.offer(Packet { index: next, size: 52, header, ..Packet::default() });
        }
        let dropped = rig.counters.drops[DropReason::Aqm as usize];
        assert_eq!(dropped, 10 - left, "{ack_filter:?}");
        assert_eq!(rig.cake.backlog(), Backlog { packets: left, bytes: 52 * left });
        assert_eq!(rig.cake.memory, 768 * left);
        let first = rig.depart().unwrap();
        assert_eq!(u64::from(first.index), 11 - left, "the newest stay");
    }
}

#[test]
fn sparse_flows_wait_for_the_packet_in_service_only() {
    let mut rig = Rig::new(cake(10_000_000, Params::default()), vec![ect(greedy(1, 2)); 10]);
    rig.run_until(seconds(1));
    let packet_time = Span::from_nanos(1_211_200);
    for probe in 0..100u64 {
        rig.run_until(seconds(1) + Span::from_millis(20) * (probe + 1));
        let asked = rig.now;
        let tuple = FiveTuple { source: 7, destination: 8, ports: 99 };
        rig.offer(Packet { flow: 99, tuple, size: 100, ..Packet::default() });
        let mut left = 0;
        while rig.depart().is_some_and(|packet| packet.flow != 99) {
            left += 1;
        }
        assert!(left <= 1 && rig.now.since(asked) <= packet_time * 2, "probe {probe}: {left}");
    }
}

/// Share of SCE-marked packets that have waited for `sojourn` in an unlimited Cake. Between two
/// of them COBALT sees one that did not wait, so that it stays quiet.
fn mark_share(sce: Sce, ramp: RampText, sojourn: Span, ecn: Ecn) -> f64 {
    let params = Params { sce, ramp, bandwidth: Some(Bandwidth::Unlimited), ..Params::default() };
    let mut rig = Rig::new(cake(100_000_000, params), vec![]);
    let n = 20_000;
    for _ in 0..n {
        rig.now += Span::from_secs(1);
        let packet = Packet { ecn, size: PACKET, ..Packet::default() };
        for enqueued_at in [rig.now - sojourn, rig.now] {
            let mut cx = QueueContext { counters: &mut rig.counters, observer: None };
            rig.cake.enqueue(rig.now, Packet { enqueued_at, ..packet }, &mut cx);
        }
        while rig.depart().is_some() {}
    }
    assert_eq!(rig.counters.drops, [0; DropReason::COUNT]);
    rig.counters.sce_marks as f64 / f64::from(n)
}

#[test]
fn sce_marks_appear_with_the_ramp_s_probability() {
    let ms = |ms: f64| Span::from_secs_f64(ms / 1e3);
    for (sce, ramp, sojourn, expected) in [
        (Sce::Off, RampText::Code, 20.0, 0.0),
        (Sce::Threshold(1), RampText::Code, 2.5, 0.0),
        (Sce::Threshold(1), RampText::Code, 3.5, 0.4),
        (Sce::Threshold(8), RampText::Code, 5.0, 0.125),
        (Sce::Threshold(8), RampText::Draft, 5.0, 0.5),
        (Sce::Single, RampText::Code, 5.0, 0.0),
    ] {
        let share = mark_share(sce, ramp, ms(sojourn), Ecn::Ect0);
        let tolerance = 4.0 * (expected * (1.0 - expected) / 2e4f64).sqrt() + 0.001;
        assert!((share - expected).abs() <= tolerance, "{sce:?} {sojourn} ms: {share}");
    }
}

#[test]
fn sce_marks_only_ect0() {
    for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ce] {
        let share = mark_share(Sce::Threshold(1), RampText::Code, Span::from_millis(5), ecn);
        assert_eq!(share, 0.0, "{ecn:?}");
    }
}

#[test]
fn overflow_drops_from_the_longest_queue_and_everything_is_accounted_for() {
    let params = Params { memory: Some(Limit::Bytes(100 * 2304)), ..Params::default() };
    let mut rig = Rig::new(cake(10_000_000, params), vec![]);
    for index in 0..10_000u32 {
        rig.now += Span::from_micros(if index % 3 == 0 { 900 } else { 10 });
        let flow = u32::from(index % 50 == 0);
        let tuple = FiveTuple { source: flow as u16, destination: 0, ports: flow };
        rig.offer(Packet { flow, tuple, index, size: PACKET, ..Packet::default() });
        let mut cx = QueueContext { counters: &mut rig.counters, observer: None };
        rig.cake.dequeue(rig.now, &mut cx);
        assert!(rig.cake.memory <= 100 * 2304);
    }
    let counters = rig.counters;
    let mut left = 0u64;
    let waiting = rig.cake.backlog();
    while rig.depart().is_some() {
        left += 1;
    }
    assert!(counters.drops[DropReason::Overflow as usize] > 1000, "{counters:?}");
    assert_eq!(waiting.bytes, waiting.packets * u64::from(PACKET));
    let late_drops: u64 =
        rig.counters.drops.iter().sum::<u64>() - counters.drops.iter().sum::<u64>();
    assert_eq!(waiting.packets, left + late_drops);
    assert_eq!((rig.cake.backlog(), rig.cake.memory), (Backlog::default(), 0));
}

/// Packets that leave a Cake of 10 Mbit/s in 20 s while a quarter too much arrives and no signal
/// is answered.
fn overloaded(ingress: bool) -> u64 {
    let params = Params { ingress, ..Params::default() };
    let mut rig = Rig::new(cake(10_000_000, params), vec![]);
    let mut sent = 0;
    while rig.now < seconds(20) {
        rig.offer(Packet { size: PACKET, ..Packet::default() });
        let mut cx = QueueContext { counters: &mut rig.counters, observer: None };
        while rig.cake.dequeue(rig.now, &mut cx).is_some() {
            sent += 1;
        }
        rig.now += Span::from_nanos(1_211_200 * 4 / 5);
    }
    sent
}

#[test]
fn ingress_mode_counts_what_it_drops_up_to_a_third() {
    let full = 20e9 / 1_211_200.0;
    for (ingress, share) in [(false, 1.0), (true, 2.0 / 3.0)] {
        let got = overloaded(ingress) as f64 / full;
        assert!((got / share - 1.0).abs() < 0.01, "ingress {ingress}: {got}");
    }
    // One packet of three is dropped for want of memory: the shaper waits for it too.
    for (ingress, gap) in [(false, 1_211_200), (true, 1_211_200 * 3 / 2)] {
        let params = Params { ingress, memory: Some(Limit::Bytes(2 * 2304)), ..Params::default() };
        let mut rig = Rig::new(cake(10_000_000, params), vec![]);
        (0..3).for_each(|_| rig.offer(Packet { size: PACKET, ..Packet::default() }));
        assert!(rig.depart().is_some() && rig.depart().is_some());
        assert_eq!(rig.now, Time::from_nanos(gap), "ingress {ingress}");
    }
}

#[test]
fn the_target_grows_with_the_flows_in_ingress_mode_only() {
    for (ingress, packets) in [(false, 0), (true, 16)] {
        let params = Params { ingress, ..Params::default() };
        let mut rig = Rig::new(cake(10_000_000, params), vec![ect(greedy(1, 2)); 8]);
        rig.run_until(seconds(1));
        assert_eq!(rig.cake.target_floor(0), rig.cake.tins.list[0].tuning.mtu_time * packets);
    }
}

#[test]
fn order_is_kept_within_each_flow() {
    let mut rig = Rig::new(cake(10_000_000, Params::default()), vec![]);
    let mut next = [0u32; 5];
    let mut entered = [0u32; 5];
    for round in 0..5000u32 {
        rig.now += Span::from_micros(800);
        for flow in 0..5 {
            if (round + flow) % (flow + 2) == 0 {
                let index = entered[flow as usize];
                let tuple = FiveTuple::of_flow(flow);
                rig.offer(Packet {
                    flow,
                    tuple,
                    index,
                    size: 700,
                    ecn: Ecn::Ect0,
                    ..Packet::default()
                });
                entered[flow as usize] += 1;
            }
        }
        let mut cx = QueueContext { counters: &mut rig.counters, observer: None };
        while let Some(packet) = rig.cake.dequeue(rig.now, &mut cx) {
            assert_eq!(packet.index, next[packet.flow as usize]);
            next[packet.flow as usize] += 1;
        }
    }
    assert!(next.iter().all(|&n| n > 500), "{next:?}");
}

#[test]
fn parameters_read_as_people_write_them() {
    let entry = builtin().find::<Queue>("cake").unwrap();
    let canonical = |params: serde_json::Value| {
        let params = params.as_object().unwrap();
        (entry.listing.canonical)(params, builtin()).map_err(|error| error.to_string())
    };
    let full = canonical(json!({"sce": "sce-thresh 8", "bandwidth": "2.5 Mbit/s"})).unwrap();
    assert_eq!(full["sce"], "sce-thresh 8");
    assert_eq!(full["bandwidth"], "2500 kbit/s");
    assert_eq!((&full["isolation"], &full["ramp"]), (&json!("triple-isolate"), &json!("code")));
    assert_eq!(canonical(full.clone()).unwrap(), full, "canonical parameters read back");
    assert!(canonical(json!({"sce": "sce-thresh 2000"})).unwrap_err().contains("sce-single"));
    assert!(canonical(json!({"bandwidth": "5"})).unwrap_err().contains("unlimited"));
    assert!(canonical(json!({"rtt": "1 min"})).unwrap_err().contains("outside 1 us to 4 s"));
    assert!(canonical(json!({"overhead": "1 MB"})).unwrap_err().contains("outside -64 B to 256 B"));
    assert!(canonical(json!({"mpu": "1 MB"})).unwrap_err().contains("outside 0 B to 256 B"));
    assert!(canonical(json!({"nat": true})).unwrap_err().contains("give masquerade"));
    assert!(canonical(json!({"overhead": "pppoe-pmt"})).unwrap_err().contains("pppoe-ptm"));
    assert_eq!(full.get("diffserv"), None, "usual values of later keys are left out");
}

#[test]
fn takes_the_link_s_place_only_without_a_bandwidth_of_its_own() {
    assert!(cake(1_000_000, Params::default()).shapes_link());
    let limited = Some(Bandwidth::Limited(Rate::from_bps(500_000)));
    assert!(!cake(1_000_000, Params { bandwidth: limited, ..Params::default() }).shapes_link());
}
