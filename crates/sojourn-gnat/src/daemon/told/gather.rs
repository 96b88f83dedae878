//! Gathers what a node tells: from its part of the scenario, and from the gate.

use sojourn_base::counters::FlowCounters;
use sojourn_base::observe::Observed;
use sojourn_base::units::Time;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Part;
use sojourn_sim::spec::Flow;
use sojourn_sliq::secure::Gate;

use super::means::Sums;
use super::{FlowTold, LinkTold, NeighbourTold, PacketsTold, QueueTold, StrangersTold, Told};

/// Names of what a node tells of, from its scenario.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Of the node.
    node: String,
    /// Of all nodes, by their numbers.
    nodes: Vec<String>,
    /// By flow.
    flows: Vec<FlowTold>,
}

impl Names {
    /// Those of the node called `node` of a scenario.
    pub fn of(scenario: &Scenario, node: &str) -> Self {
        let nodes = scenario.plan().nodes.iter().map(|node| node.name.clone()).collect();
        let flow = |flow: &Flow<'_>| FlowTold {
            flow: flow.id,
            label: flow.spec.label.clone(),
            from: flow.spec.from.clone(),
            to: flow.spec.to.clone(),
            ..FlowTold::default()
        };
        let flows = scenario.flows_expanded().iter().map(flow).collect();
        Names { node: node.to_owned(), nodes, flows }
    }

    fn number(&self, node: &str) -> Option<usize> {
        self.nodes.iter().position(|known| known == node)
    }
}

/// What a node tells at `now`: `links` are those to its neighbours, in their order; `before` is what
/// was told last, from which rates are taken.
pub fn gather(
    part: &mut Part,
    names: &Names,
    gate: &Gate,
    links: &[LinkTold],
    now: Time,
    before: &Told,
) -> Told {
    let observed = Values::of(part);
    let (flows, sums) = flows(part, names, &observed).into_iter().unzip();
    let neighbour = |link: &LinkTold| neighbour(link, names, gate, now, &observed);
    let neighbours: Vec<_> = links.iter().map(neighbour).collect();
    let lost = neighbours.iter().map(|neighbour| neighbour.lost_packets).sum();
    let mut told = Told {
        node: names.node.clone(),
        uptime_s: now.as_secs_f64(),
        neighbours,
        queues: queues(names, &observed),
        flows,
        packets: PacketsTold { lost, ..packets(&observed) },
        strangers: StrangersTold::from(gate.counters()),
        ..Told::default()
    };
    told.take_means(before, sums);
    told
}

/// What a node lets observe.
struct Values(Vec<(String, f64)>);

impl Values {
    fn of(part: &Part) -> Self {
        let mut values = Vec::new();
        part.observe(&mut |name, value| {
            if let Observed::Number(number) = value {
                values.push((name.to_owned(), number));
            }
        });
        Values(values)
    }

    /// A number, if it is known.
    fn get(&self, name: &str) -> Option<f64> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value).filter(|value| value.is_finite())
    }

    /// One of those that there are several of.
    fn of_number(&self, name: &str, number: usize) -> Option<f64> {
        self.get(&format!("{name}.{number}"))
    }

    fn count(&self, name: &str) -> u64 {
        self.get(name).unwrap_or_default() as u64
    }
}

fn neighbour(
    link: &LinkTold,
    names: &Names,
    gate: &Gate,
    now: Time,
    observed: &Values,
) -> NeighbourTold {
    let known = |name| observed.of_number(name, names.number(&link.node)?);
    let in_ms = |name| known(name).map(|seconds| 1e3 * seconds);
    let told = gate.told(now, link.id);
    NeighbourTold {
        node: link.node.clone(),
        address: told.address.map(|address| address.to_string()),
        works: known("works") == Some(1.0),
        rtt_ms: in_ms("rtt"),
        latency_ms: in_ms("latency"),
        capacity_mbit: known("capacity").map(|bits| 1e-6 * bits),
        key_age_s: told.age.map(|age| age.as_secs_f64()),
        clock_ms: in_ms("clock"),
        silent_s: told.heard.map(|at| now.since(at).as_secs_f64()),
        lost_packets: known("lost").unwrap_or_default() as u64,
        exchanged: link.exchanged,
    }
}

fn queues(names: &Names, observed: &Values) -> Vec<QueueTold> {
    let queue = |(number, node): (usize, &String)| {
        let depth = observed.of_number("depth", number)?;
        Some(QueueTold {
            node: node.clone(),
            bytes: depth as u64,
            zombie_bytes: observed.of_number("zombies", number).unwrap_or_default() as u64,
            packets: observed.of_number("packets", number).map(|count| count as u64),
        })
    };
    let others = names.nodes.iter().enumerate().filter(|(_, node)| **node != names.node);
    others.filter_map(queue).collect()
}

fn packets(observed: &Values) -> PacketsTold {
    PacketsTold {
        admitted: observed.count("admitted"),
        refused: observed.count("refused"),
        delivered: observed.count("delivered"),
        expired: observed.count("expired"),
        copied: observed.count("copied"),
        held: observed.count("held"),
        ..PacketsTold::default()
    }
}

/// The flows with an end here, and their sums.
fn flows(part: &mut Part, names: &Names, observed: &Values) -> Vec<(FlowTold, Sums)> {
    let flow = |named: &FlowTold| {
        let number = named.flow as usize;
        let mut counters = FlowCounters::default();
        let [begins, ends] = part.report(number, &mut counters);
        if !begins && !ends {
            return None;
        }
        let sent = counters.sent.filter(|_| begins);
        let received = counters.received.filter(|_| ends);
        let sums = Sums {
            sent_bytes: sent.map_or(0, |sent| sent.sent_bytes),
            delivered_bytes: received.map_or(0, |received| received.delivered_bytes),
            delay_s: received.map_or(0.0, |got| got.one_way_delay_sum.as_secs_f64()),
            delayed: received.map_or(0, |received| received.one_way_delay_count),
        };
        let count = |name| observed.of_number(name, number).map(|count| count as u64);
        let told = FlowTold {
            sent_packets: sent.map(|sent| sent.sent_packets),
            sent_bytes: sent.map(|sent| sent.sent_bytes),
            admitted_packets: count("flow_admitted"),
            refused_packets: count("flow_refused"),
            delivered_packets: received.map(|received| received.delivered_packets),
            delivered_bytes: received.map(|received| received.delivered_bytes),
            ..named.clone()
        };
        Some((told, sums))
    };
    names.flows.iter().filter_map(flow).collect()
}
