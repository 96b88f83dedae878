//! What two nodes tell that exchange packets in one program.

use sojourn_base::given::Given;
use sojourn_base::units::{Span, Time};
use sojourn_net::net::Links;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Part;
use sojourn_sliq::secure::{Ages, Gate, Moment, Secret};

use super::*;
use crate::catalogue::builtin;

const SCENARIO: &str = r#"
duration = "10 s"
[topology]
kind = "graph"
nodes = [{ id = "a", kind = "overlay" }, { id = "b", kind = "overlay" }]
[[topology.links]]
id = "ab"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "5 ms"
[[flows]]
label = "video"
transport = "udp"
from = "a"
to = "b"
mss = 1000
traffic = { kind = "cbr", rate = "4 Mbit/s", size = "1000 B" }
service = {}
"#;

/// A node, and what it told last.
struct Node {
    part: Part,
    names: Names,
    gate: Gate,
    links: Vec<LinkTold>,
    told: Told,
}

/// `shared` is what the nodes have in common: datagrams in transit between them.
fn node(scenario: &Scenario, shared: &Given, name: &str, other: &str) -> Node {
    let mut gate = Gate::new(Secret::from_bytes([1; 32]), [0; 8], Ages::default());
    let id = gate.add(Secret::from_bytes([2; 32]).public(), Some(([192, 0, 2, 1], 7100).into()));
    let exchanged = Exchanged { sent_bytes: 1_500, refused_datagrams: 2, ..Exchanged::default() };
    Node {
        part: Part::new(scenario, name, Links::Kept, shared).unwrap(),
        names: Names::of(scenario, name),
        gate,
        links: vec![LinkTold { id, node: other.to_owned(), exchanged }],
        told: Told::default(),
    }
}

fn hand_over(from: &mut Node, to: &mut Node) {
    while let Some(packet) = from.part.take(0) {
        to.part.arrive(0, packet);
    }
}

/// What the two nodes tell after a time, telling it every 100 ms.
fn told(milliseconds: u64) -> [Told; 2] {
    let scenario = Scenario::from_toml(SCENARIO, builtin()).unwrap();
    let shared = scenario.gift().unwrap().nodes;
    let mut nodes =
        [("a", "b"), ("b", "a")].map(|(name, other)| node(&scenario, &shared, name, other));
    for millisecond in 1..=milliseconds {
        let now = Time::ZERO + Span::from_millis(millisecond);
        nodes.iter_mut().for_each(|node| node.part.approach(now).unwrap());
        let [a, b] = &mut nodes;
        hand_over(a, b);
        hand_over(b, a);
        for Node { part, names, gate, links, told } in &mut nodes {
            part.advance(now).unwrap();
            if millisecond % 100 == 0 {
                *told = gather(part, names, gate, links, now, told);
            }
        }
    }
    nodes.map(|node| node.told)
}

#[test]
fn each_end_tells_what_it_knows_of_a_flow() {
    let [a, b] = told(3_500);
    let ([sent], [got]) = (&a.flows[..], &b.flows[..]) else { panic!("{a:?} {b:?}") };
    for flow in [sent, got] {
        assert_eq!((flow.flow, flow.label.as_deref()), (0, Some("video")));
        assert_eq!([flow.from.as_deref(), flow.to.as_deref()], [Some("a"), Some("b")]);
    }
    assert_eq!((sent.delivered_packets, sent.delivered_mbit, sent.delay_ms), (None, None, None));
    assert_eq!((got.sent_packets, got.sent_bytes, got.sent_mbit), (None, None, None));
    let [sent_packets, delivered] = [sent.sent_packets.unwrap(), got.delivered_packets.unwrap()];
    let on_their_way = sent_packets - delivered;
    assert!(sent_packets > 1_700 && on_their_way < 100, "{delivered} of {sent_packets}");
    for rate in [sent.sent_mbit, got.delivered_mbit] {
        assert!((3.9..4.1).contains(&rate.unwrap()), "{rate:?}");
    }
    let delay = got.delay_ms.unwrap();
    assert!((5.0..20.0).contains(&delay), "{delay} ms");
    let [at_a, at_b] = [&a.packets, &b.packets];
    assert_eq!((at_b.delivered, at_a.delivered, at_b.admitted), (delivered, 0, 0));
    assert!((delivered..=sent_packets).contains(&at_a.admitted), "{at_a:?}");
    assert_eq!(sent.admitted_packets, Some(at_a.admitted));
    assert_eq!((sent.refused_packets, got.refused_packets), (Some(at_a.refused), None));
}

#[test]
fn rates_are_means_of_the_last_second() {
    let [early, late] = [900, 1_400].map(|milliseconds| told(milliseconds)[0].flows[0].sent_mbit);
    assert_eq!(early, None, "before there is a second");
    assert!(late.is_some());
}

#[test]
fn a_neighbour_is_told_with_its_connection_and_its_gate() {
    let [a, _] = told(2_000);
    assert_eq!((a.node.as_str(), a.uptime_s), ("a", 2.0));
    let [b] = &a.neighbours[..] else { panic!("{a:?}") };
    assert_eq!((b.node.as_str(), b.works), ("b", true));
    assert_eq!(b.address.as_deref(), Some("192.0.2.1:7100"));
    // Nothing was sealed here.
    assert_eq!((b.key_age_s, b.silent_s), (None, None));
    assert_eq!((b.exchanged.sent_bytes, b.exchanged.refused_datagrams), (1_500, 2));
    let (capacity, latency) = (b.capacity_mbit.unwrap(), b.latency_ms.unwrap());
    let rtt = b.rtt_ms.unwrap();
    assert!((10.0..50.0).contains(&rtt), "{rtt} ms");
    assert!((1.0..20.0).contains(&capacity) && (5.0..50.0).contains(&latency), "{b:?}");
    let queues: Vec<_> = a.queues.iter().map(|queue| queue.node.as_str()).collect();
    assert_eq!((queues, a.queues[0].packets.is_some()), (vec!["b"], true));
}

#[test]
fn what_was_refused_is_told_by_reason() {
    let scenario = Scenario::from_toml(SCENARIO, builtin()).unwrap();
    let Node { mut part, names, mut gate, links, told } =
        node(&scenario, &Given::default(), "a", "b");
    let at = Moment::new(Time::ZERO, std::time::Duration::ZERO);
    for bytes in [&[0; 3][..], &[4; 100], &[1; 148]] {
        gate.hear(&at, ([192, 0, 2, 9], 5).into(), bytes, &mut Vec::new());
    }
    let strangers = gather(&mut part, &names, &gate, &links, Time::ZERO, &told).strangers;
    let counted: u64 = strangers.reasons().iter().map(|(.., count)| count).sum();
    assert_eq!((counted, strangers.malformed > 0), (3, true), "{strangers:?}");
}
