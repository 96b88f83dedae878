//! What a node tells of itself: its state at an instant, which others read while it goes on.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sojourn_base::counters::FlowCounters;
use sojourn_base::observe::Observed;
use sojourn_base::units::Time;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Part;
use sojourn_sim::spec::Flow;
use sojourn_sliq::secure::{Counters, Gate, PeerId};

/// Seconds over which rates and delays are means.
const SECOND: f64 = 1.0;

/// The state of a node at an instant. Counts are from its start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Told {
    /// Its name.
    pub node: String,
    /// Seconds since it was started.
    pub uptime_s: f64,
    /// By neighbour, in the order of its links.
    pub neighbours: Vec<NeighbourTold>,
    /// By other member of the overlay, in the order of their numbers.
    pub queues: Vec<QueueTold>,
    /// Of each flow that begins or ends here.
    pub flows: Vec<FlowTold>,
    /// Packets of all flows here.
    pub packets: PacketsTold,
    /// Datagrams that were refused at the gate.
    pub strangers: StrangersTold,
    /// From where the next means are taken.
    #[serde(skip)]
    mark: Mark,
}

/// A neighbour, and the connection to it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NeighbourTold {
    /// Its name.
    pub node: String,
    /// Where it was last heard, or is said to be.
    pub address: Option<String>,
    /// Whether the connection works.
    pub works: bool,
    /// Smoothed RTT of the connection, in ms.
    pub rtt_ms: Option<f64>,
    /// Mean time from a packet's coming to the connection's queue to its arrival, in ms.
    pub latency_ms: Option<f64>,
    /// What the connection can carry, in Mbit/s.
    pub capacity_mbit: Option<f64>,
    /// Age of the key that seals, in s; none before the first handshake.
    pub key_age_s: Option<f64>,
    /// By how much its clock is ahead of ours, in ms.
    pub clock_ms: Option<f64>,
    /// Seconds since something of it was opened.
    pub silent_s: Option<f64>,
    /// What has been exchanged with it.
    #[serde(flatten)]
    pub exchanged: Exchanged,
}

/// What has been exchanged with a neighbour, in sealed datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchanged {
    /// Sealed bytes to it.
    pub sent_bytes: u64,
    /// Sealed datagrams to it.
    pub sent_datagrams: u64,
    /// Sealed bytes of it that were opened.
    pub received_bytes: u64,
    /// Datagrams of it that were opened.
    pub received_datagrams: u64,
    /// Datagrams to it that were dropped for want of a key or an address.
    pub unsealed_datagrams: u64,
    /// Datagrams of it that were opened, and then refused: they are no packet of the overlay.
    pub refused_datagrams: u64,
}

/// The queue of what goes to a member.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct QueueTold {
    /// Its name.
    pub node: String,
    /// Bytes of packets.
    pub bytes: u64,
    /// Bytes of zombies.
    pub zombie_bytes: u64,
    /// Packets.
    pub packets: Option<u64>,
}

/// A flow that begins or ends at the node. What is counted at the other end alone is not known here.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowTold {
    /// Its number in the scenario.
    pub flow: u32,
    /// Its label there.
    pub label: Option<String>,
    /// Where it begins.
    pub from: Option<String>,
    /// Where it ends.
    pub to: Option<String>,
    /// Packets that its host sent.
    pub sent_packets: Option<u64>,
    /// Their bytes of payload.
    pub sent_bytes: Option<u64>,
    /// Of these, packets that were admitted to the overlay.
    pub admitted_packets: Option<u64>,
    /// And that were refused: they waited too long, or the flow is turned off.
    pub refused_packets: Option<u64>,
    /// Packets that its host received.
    pub delivered_packets: Option<u64>,
    /// Their bytes of payload.
    pub delivered_bytes: Option<u64>,
    /// Rate of sending over the last second, in Mbit/s of payload.
    pub sent_mbit: Option<f64>,
    /// Rate of delivery over the last second, in Mbit/s of payload.
    pub delivered_mbit: Option<f64>,
    /// Mean time from writing to delivery over the last second, in ms.
    pub delay_ms: Option<f64>,
}

/// Packets of all flows at the node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PacketsTold {
    /// Admitted to the overlay here.
    pub admitted: u64,
    /// Refused here, before admission.
    pub refused: u64,
    /// Delivered to hosts here.
    pub delivered: u64,
    /// Dropped here because they could not arrive in time.
    pub expired: u64,
    /// More that were made of packets to several receivers.
    pub copied: u64,
    /// That a connection held when it was begun anew.
    pub lost: u64,
    /// Held here now: before admission, in queues, and with connections.
    pub held: u64,
}

/// Datagrams that changed nothing, by the reason why they were refused.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StrangersTold {
    /// No message's length or type, or an address that nobody has.
    pub malformed: u64,
    /// Of an unknown session, or of a key that no neighbour has.
    pub stranger: u64,
    /// Handshake messages for another public key than ours.
    pub mac: u64,
    /// Initiations that were answered with a cookie.
    pub cookies: u64,
    /// Handshake messages beyond the number that is heeded.
    pub limited: u64,
    /// Initiations no newer than an earlier one of their neighbour.
    pub old: u64,
    /// Data that had arrived before, or is too old to know.
    pub replayed: u64,
    /// Changed on their way, or sealed with another key.
    pub unopened: u64,
}

/// A neighbour, as those who drive a node know it.
#[derive(Clone, Debug)]
pub struct LinkTold {
    /// Its number at the gate.
    pub id: PeerId,
    /// Its name.
    pub node: String,
    /// What has been exchanged with it.
    pub exchanged: Exchanged,
}

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

/// Sums at an instant, by flow.
#[derive(Clone, Debug, Default)]
struct Mark {
    at: f64,
    flows: Vec<Sums>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    sent_bytes: u64,
    delivered_bytes: u64,
    delay_s: f64,
    delayed: u64,
}

/// The latest state, for those who ask.
#[derive(Debug, Default)]
pub struct Shared(Mutex<Told>);

impl Shared {
    /// The latest state.
    pub fn get(&self) -> Told {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces it.
    pub fn set(&self, told: Told) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }
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
    let uptime_s = now.as_secs_f64();
    let observed = Values::of(part);
    let neighbour = |link: &LinkTold| neighbour(link, names, gate, now, &observed);
    let mut told = Told {
        node: names.node.clone(),
        uptime_s,
        neighbours: links.iter().map(neighbour).collect(),
        queues: queues(names, &observed),
        flows: Vec::new(),
        packets: packets(&observed),
        strangers: StrangersTold::from(gate.counters()),
        mark: before.mark.clone(),
    };
    let (flows, sums): (Vec<_>, Vec<_>) = flows(part, names, &observed).into_iter().unzip();
    told.flows = flows;
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
        lost: observed.count("lost"),
        held: observed.count("held"),
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

impl Told {
    /// Takes means over the time since the mark, if that is a second; keeps the last ones otherwise.
    fn take_means(&mut self, before: &Told, sums: Vec<Sums>) {
        let span = self.uptime_s - self.mark.at;
        if self.mark.flows.len() != sums.len() || span < SECOND {
            if self.mark.flows.len() != sums.len() {
                self.mark = Mark { at: self.uptime_s, flows: sums };
            }
            for (flow, known) in self.flows.iter_mut().zip(&before.flows) {
                flow.sent_mbit = known.sent_mbit;
                flow.delivered_mbit = known.delivered_mbit;
                flow.delay_ms = known.delay_ms;
            }
            return;
        }
        for ((flow, new), old) in self.flows.iter_mut().zip(&sums).zip(&self.mark.flows) {
            let rate = |new: u64, old: u64| 8e-6 * new.saturating_sub(old) as f64 / span;
            flow.sent_mbit = flow.sent_bytes.map(|bytes| rate(bytes, old.sent_bytes));
            flow.delivered_mbit =
                flow.delivered_bytes.map(|bytes| rate(bytes, old.delivered_bytes));
            let delayed = new.delayed.saturating_sub(old.delayed);
            let mean = 1e3 * (new.delay_s - old.delay_s) / delayed as f64;
            flow.delay_ms = (delayed > 0).then_some(mean);
        }
        self.mark = Mark { at: self.uptime_s, flows: sums };
    }
}

impl StrangersTold {
    /// Each reason as a word and as told to people, with its count.
    pub(super) fn reasons(&self) -> [(&'static str, &'static str, u64); 8] {
        [
            ("malformed", "no message, or of no address", self.malformed),
            ("stranger", "of an unknown session or key", self.stranger),
            ("mac", "handshake with another node", self.mac),
            ("cookie", "answered with a cookie", self.cookies),
            ("limited", "too many handshakes", self.limited),
            ("old", "no newer than an earlier one", self.old),
            ("replayed", "had arrived before", self.replayed),
            ("unopened", "changed, or of another key", self.unopened),
        ]
    }
}

impl From<&Counters> for StrangersTold {
    fn from(counters: &Counters) -> Self {
        let Counters { malformed, stranger, mac, cookies, limited, old, replayed, unopened } =
            *counters;
        StrangersTold { malformed, stranger, mac, cookies, limited, old, replayed, unopened }
    }
}
