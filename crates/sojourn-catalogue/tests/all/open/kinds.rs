//! External kinds of nodes in scenarios.

use std::sync::Arc;

use serde_json::{Value, json};
use sojourn_base::packet::{Backlog, Packet};
use sojourn_base::registry::{Catalogue, NoParams, Params};
use sojourn_base::units::{Span, Time};
use sojourn_catalogue::own;
use sojourn_net::node::{self, Behaviour, Node, NodeContext, NodeInit};
use sojourn_net::record::{Outcome, Values};
use sojourn_sim::conformance::{failures, nodes::CHECKS, subjects};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;

/// Holds every packet for a time.
struct Late {
    delay: Span,
    held: Vec<(Time, Packet)>,
}

#[derive(Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct LateParams {
    /// The delay.
    delay: Span,
}

impl Params for LateParams {}

impl node::Registered for Late {
    type Params = LateParams;
    const COUNTERS: &'static [&'static str] = &["late_packets", "late_bytes"];

    fn behaviour(params: LateParams, _init: &NodeInit) -> Behaviour {
        Behaviour::of(Late { delay: params.delay, held: Vec::new() })
    }
}

impl Node for Late {
    fn on_packet(&mut self, now: Time, _from: usize, packet: Packet, cx: &mut NodeContext<'_>) {
        cx.count(0, 1);
        cx.count(1, packet.size.into());
        self.held.push((now + self.delay, packet));
    }

    fn next_timer(&self) -> Option<Time> {
        self.held.first().map(|(time, _)| *time)
    }

    fn on_timer(&mut self, now: Time, cx: &mut NodeContext<'_>) {
        let due = self.held.iter().take_while(|(time, _)| *time <= now).count();
        self.held.drain(..due).for_each(|(_, packet)| cx.forward(packet));
    }

    fn held(&self) -> Backlog {
        let mut held = Backlog::default();
        self.held.iter().for_each(|(_, packet)| held.add(packet));
        held
    }
}

/// Applies an invalid function to every packet.
struct Wrong(fn(Packet, &mut NodeContext<'_>));

impl Node for Wrong {
    fn on_packet(&mut self, _now: Time, _from: usize, packet: Packet, cx: &mut NodeContext<'_>) {
        (self.0)(packet, cx);
    }
}

/// Loses packets.
struct Leaky;

impl node::Registered for Leaky {
    type Params = NoParams;

    fn behaviour(_params: NoParams, _init: &NodeInit) -> Behaviour {
        Behaviour::of(Wrong(|_, _| {}))
    }
}

/// Sends packets to sockets that do not exist.
struct Misled;

impl node::Registered for Misled {
    type Params = NoParams;

    fn behaviour(_params: NoParams, _init: &NodeInit) -> Behaviour {
        Behaviour::of(Wrong(|packet, cx| cx.forward(Packet { socket: 99, ..packet })))
    }
}

fn catalogue() -> Arc<Catalogue> {
    let late = node::entry::<Late>("late", "//! Late: holds every packet for a time.\n");
    let leaky = node::entry::<Leaky>("leaky", "//! Leaky: loses packets.\n");
    let misled = node::entry::<Misled>("misled", "//! Misled: knows no sockets.\n");
    Arc::new(own().with(vec![late, leaky, misled]))
}

/// Datagrams for a second from `a` over `m` to `b`, with these nodes.
fn scenario(nodes: Value) -> Result<Scenario, String> {
    let link = |id: &str, from: &str, to: &str| json!({ "id": id, "from": from, "to": to });
    let mut links = [link("am", "a", "m"), link("mb", "m", "b")];
    links[1]["rate"] = json!("100 Mbit/s");
    let scenario = json!({
        "duration": "1 s",
        "topology": { "kind": "graph", "nodes": nodes, "links": links },
        "flows": [{ "transport": "udp", "from": "a", "to": "b", "rtt": "10 ms",
                    "traffic": { "kind": "cbr", "rate": "1 Mbit/s" } }],
    });
    Scenario::from_json(&scenario, &catalogue()).map_err(|error| error.to_string())
}

fn run(nodes: Value) -> Result<Outcome, String> {
    let simulation = Simulation::new(&scenario(nodes)?).map_err(|error| error.to_string())?;
    simulation.run().map_err(|fault| fault.to_string())
}

/// Mean one-way delay in milliseconds.
fn delay(outcome: &Outcome) -> f64 {
    let sum = |name: &str| outcome.flow_samples.reals(name).unwrap().iter().sum::<f64>();
    1e3 * sum("one_way_delay_sum") / sum("one_way_delay_count")
}

#[test]
fn packets_pass_the_kinds_of_their_nodes() {
    let late = |id: &str| json!({ "id": id, "kind": "late", "delay": "20 ms" });
    let plain = delay(&run(json!(["a", "m", "b"])).unwrap());
    // The datagrams of 1490 bytes in frames take 0.119 ms.
    assert!((5.1..5.2).contains(&plain), "{plain}");
    for nodes in [
        json!([late("a"), "m", "b"]),
        json!(["a", late("m"), "b"]),
        json!(["a", { "id": "m", "kind": "router" }, late("b")]),
    ] {
        let longer = delay(&run(nodes.clone()).unwrap()) - plain;
        assert!((longer - 20.0).abs() < 1e-6, "{nodes}: {longer}");
    }
}

#[test]
fn answers_pass_the_receivers_node_too() {
    let late = json!({ "id": "b", "kind": "late", "delay": "5 ms" });
    let scenario = scenario(json!(["a", "m", late])).unwrap();
    let plan = scenario.plan();
    let into_b = |route: &[u32]| {
        let ends = route.iter().map(|link| plan.links[*link as usize].ends[1]);
        ends.filter(|end| *end == Some(2)).count()
    };
    assert_eq!([&plan.routes[0].forward, &plan.routes[0].backward].map(|r| into_b(r)), [1, 1]);
}

#[test]
fn what_kinds_count_are_columns_after_the_others() {
    let late = json!({ "id": "m", "kind": "late" });
    let outcome = run(json!(["a", late, { "id": "b", "kind": "shared-tree" }])).unwrap();
    let samples = outcome.node_samples;
    let own = ["signalling_bytes", "late_packets", "late_bytes"];
    assert!(samples.columns[8..].iter().map(|column| column.name).eq(own));
    // The rows of the two nodes take turns.
    let of = |node: usize, name: &str| -> f64 {
        samples.reals(name).unwrap().iter().skip(node).step_by(2).sum()
    };
    let packets = of(0, "received_packets");
    assert!(packets > 50.0 && of(1, "received_packets") > 50.0);
    assert_eq!(own.map(|name| of(1, name)), [0.0; 3]);
    assert_eq!([of(0, own[0]), of(0, own[1])], [0.0, packets]);
    assert!(of(0, own[2]) > 1000.0 * packets);
}

#[test]
fn what_kinds_count_are_columns_without_such_nodes_too() {
    let samples = run(json!(["a", "m", "b"])).unwrap().node_samples;
    assert_eq!(samples.columns.len(), 11);
    assert!(samples.columns[2..].iter().all(|column| column.values == Values::Integers(vec![])));
}

#[test]
fn faults_name_the_node() {
    for (kind, component) in [("leaky", "node m"), ("misled", "socket 99")] {
        let fault = run(json!(["a", { "id": "m", "kind": kind }, "b"])).err().unwrap();
        assert!(fault.contains(component), "{fault}");
    }
}

#[test]
fn the_suite_finds_the_one_that_loses_packets() {
    assert_eq!(failures(CHECKS, &subjects(&catalogue(), &["late"])), Vec::<String>::new());
    let failed = failures(CHECKS, &subjects(&catalogue(), &["leaky"]));
    assert!(failed.len() == 2 && failed[0].starts_with("leaky: share of instants"), "{failed:?}");
}

#[test]
fn errors_name_the_field() {
    let why = |node: Value| scenario(json!(["a", node, "b"])).unwrap_err();
    let unknown = why(json!({ "id": "m", "kind": "lait" }));
    assert!(
        unknown.starts_with("topology.nodes.1: unknown kind of node 'lait'; did you"),
        "{unknown}"
    );
    let wrong = why(json!({ "id": "m", "kind": "late", "delay": "5 kB" }));
    assert!(wrong.starts_with("topology.nodes.1.delay: "), "{wrong}");
    let twice = why(json!("a"));
    assert_eq!(twice, "topology.nodes.1: 'a' names two nodes");
    let nameless = why(json!({ "kind": "late" }));
    assert!(nameless.starts_with("topology.nodes.1: id is missing"), "{nameless}");
}

#[test]
fn the_canonical_form_reads_back() {
    let nodes = json!(["a", { "id": "m", "kind": "late" }, { "id": "b" }]);
    let canonical = scenario(nodes).unwrap().to_json();
    let canonical = &canonical["topology"]["nodes"];
    assert_eq!(*canonical, json!(["a", { "id": "m", "kind": "late", "delay": "0 s" }, "b"]));
    assert_eq!(scenario(canonical.clone()).unwrap().to_json()["topology"]["nodes"], *canonical);
}
