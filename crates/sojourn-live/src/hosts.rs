//! The hosts of a scenario with programs, and the ways between them: the same on both sides of the
//! border between a kernel and the network, since the scenario decides them.
//!
//! A flow with a program at either end is *carried*: it sends nothing itself, both its ends are hosts,
//! and what these send each other goes its way.

use sojourn_base::error::FieldError;
use sojourn_net::queue::kernel::KIND;
use sojourn_sim::scenario::{Scenario, Site};
use sojourn_sim::spec::{Controls, EcnMode, Flow};

use crate::controls::kernel_name;

/// First card of a host: those before carry the scenario's own flows.
const FIRST_CARD: usize = 2;
/// Cards beside those of the scenario's own flows.
const MOST: usize = 30;
/// Cards of a queue of the kernel.
const OF_QUEUE: usize = 2;
/// Addresses of the hosts, of which the last byte counts from one.
const V4: [u8; 4] = [10, 80, 0, 0];
const V6: [u8; 16] = [0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// Longest name that a resolver takes.
const LONGEST_NAME: usize = 63;
/// Names of the ends of a flow.
const ENDS: [&str; 2] = ["sender", "receiver"];

/// A host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Host {
    /// Its names, the first of which is the one that it has for itself.
    pub names: Vec<String>,
    pub v4: [u8; 4],
    pub v6: [u8; 16],
    /// The kernel's name of the congestion control that its connections have by default, and their
    /// ECN: those of its first flow.
    pub cca: Option<String>,
    pub ecn: EcnMode,
}

/// The way between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// What the first one sends goes the forward way of the flow, what the other sends its way back.
    pub hosts: [usize; 2],
    /// The carried flow.
    pub flow: usize,
}

/// The hosts of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HostTable {
    pub hosts: Vec<Host>,
    pub routes: Vec<Route>,
    /// For each program, its host.
    pub of_program: Vec<usize>,
    /// For each flow, whether it is carried.
    pub carried: Vec<bool>,
}

impl HostTable {
    /// The hosts of a scenario; none where it has no programs.
    ///
    /// # Errors
    /// If there are too many, or two flows join the same.
    pub(crate) fn new(scenario: &Scenario) -> Result<Self, FieldError> {
        let (flows, sites) = (scenario.flows_expanded(), scenario.sites());
        let ends = Ends { scenario, sites: &sites };
        let carried = scenario.carried();
        let mut table = HostTable { carried: carried.clone(), ..HostTable::default() };
        let (mut known, most) = (Vec::new(), most(scenario));
        for flow in flows.iter().filter(|flow| carried[flow.id as usize]) {
            let mut hosts = [0; 2];
            for (side, number) in hosts.iter_mut().enumerate() {
                let site = ends.site(flow, side);
                let host = known.iter().position(|other| *other == site);
                *number = host.unwrap_or(known.len());
                if host.is_none() {
                    known.push(site);
                    table.hosts.push(ends.host(site, known.len() as u8, flow));
                }
                table.hosts[*number].names.extend(ends.names(flow, side));
            }
            if known.len() > most {
                return Err(too_many(most));
            }
            for (number, host) in (1..).zip(&mut table.hosts) {
                if host.names.is_empty() {
                    host.names.push(format!("host-{number}"));
                }
            }
            table.join(hosts, flow).map_err(|error| error.within(&flow.field()))?;
        }
        let of = |site: &Site| {
            let site = match *site {
                Site::End { flow, side } => ends.site(&flows[flow], side),
                node => node,
            };
            known.iter().position(|other| *other == site)
        };
        table.of_program = sites.iter().filter_map(of).collect();
        Ok(table)
    }

    /// Adds the way of a flow between two hosts.
    fn join(&mut self, hosts: [usize; 2], flow: &Flow<'_>) -> Result<(), FieldError> {
        let name = |host: usize| &self.hosts[host].names[0];
        if hosts[0] == hosts[1] {
            let message = format!("both ends are the host {}: leave it out", name(hosts[0]));
            return Err(FieldError::new("", message));
        }
        if let Some((route, _)) = self.route(hosts[0], hosts[1]) {
            let message = format!(
                "joins {} and {}, whose programs use the way of flow {} already: leave it out, or \
                 name ends of flows, such as flow-{}.sender, as hosts in the place of nodes",
                name(hosts[0]),
                name(hosts[1]),
                self.routes[route].flow,
                flow.id
            );
            return Err(FieldError::new("", message));
        }
        self.routes.push(Route { hosts, flow: flow.id as usize });
        Ok(())
    }

    /// The number of the card of a host.
    pub(crate) fn card(host: usize) -> usize {
        FIRST_CARD + host
    }

    /// The host with this card.
    pub(crate) fn of_card(&self, card: usize) -> Option<usize> {
        card.checked_sub(FIRST_CARD).filter(|host| *host < self.hosts.len())
    }

    /// The host with this address of either family.
    pub(crate) fn at(&self, address: &[u8]) -> Option<usize> {
        let (last, net) = address.split_last()?;
        if net != &V4[..3] && net != &V6[..15] {
            return None;
        }
        usize::from(*last).checked_sub(1).filter(|host| *host < self.hosts.len())
    }

    /// The number of the route by which one host sends to another, and the side at which its packets
    /// enter: 0 for the forward way.
    pub(crate) fn route(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let joins = |route: &Route| match route.hosts {
            hosts if hosts == [from, to] => Some(0),
            hosts if hosts == [to, from] => Some(1),
            _ => None,
        };
        self.routes.iter().enumerate().find_map(|(number, route)| Some((number, joins(route)?)))
    }

    /// The address that a host's programs connect to, if they want to be slowed down by a
    /// bottleneck: that of the receiver of its first flow, which may be itself.
    pub(crate) fn receiver(&self, host: usize) -> [u8; 4] {
        let first = self.routes.iter().find(|route| route.hosts.contains(&host));
        self.hosts[first.map_or(host, |route| route.hosts[1])].v4
    }
}

/// The ends of a scenario's flows, and where its programs are.
struct Ends<'a> {
    scenario: &'a Scenario,
    sites: &'a [Site],
}

impl Ends<'_> {
    fn node(&self, flow: &Flow<'_>, side: usize) -> u16 {
        let routes = &self.scenario.plan().routes[flow.id as usize];
        if side == 0 { routes.source } else { routes.destination }
    }

    /// What host an end of a flow is: its node's, if a program names that.
    fn site(&self, flow: &Flow<'_>, side: usize) -> Site {
        let node = Site::Node(self.node(flow, side));
        let end = Site::End { flow: flow.id as usize, side };
        if self.sites.contains(&node) { node } else { end }
    }

    /// The names of an end of a flow, but for those of nodes that are hosts.
    fn names(&self, flow: &Flow<'_>, side: usize) -> impl Iterator<Item = String> {
        let full = format!("flow-{}.{}", flow.id, ENDS[side]);
        let short = (flow.id == 0).then(|| ENDS[side].to_owned());
        let nodes = &self.scenario.plan().nodes;
        short.into_iter().chain([full]).filter(move |name| {
            let is_name = |node: &u16| nodes[usize::from(*node)].name == *name;
            !self.sites.iter().any(|site| matches!(site, Site::Node(node) if is_name(node)))
        })
    }

    /// The host of this number, from one, whose first flow is `flow`; with no names but its node's.
    fn host(&self, site: Site, number: u8, flow: &Flow<'_>) -> Host {
        let node = match site {
            Site::Node(node) => Some(&self.scenario.plan().nodes[usize::from(node)].name),
            Site::End { .. } => None,
        };
        let (mut v4, mut v6) = (V4, V6);
        (v4[3], v6[15]) = (number, number);
        let cca = flow.spec.cca.as_ref().and_then(Controls::only).map(kernel_name);
        Host {
            names: node.filter(|name| is_host_name(name)).cloned().into_iter().collect(),
            v4,
            v6,
            cca: cca.map(str::to_owned),
            ecn: flow.spec.ecn.unwrap_or_default(),
        }
    }
}

/// Whether a resolver takes a node's name.
fn is_host_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.chars().all(plain) && name.starts_with(char::is_alphanumeric) && name.len() <= LONGEST_NAME
}

/// Number of hosts for which there are cards.
fn most(scenario: &Scenario) -> usize {
    let queues = scenario.plan().links.iter().filter_map(|link| link.spec.queue.as_ref());
    MOST.saturating_sub(OF_QUEUE * queues.filter(|queue| queue.kind == KIND).count())
}

fn too_many(most: usize) -> FieldError {
    let message = format!(
        "more than {most} hosts given; allowed: at most {MOST}, and {OF_QUEUE} less for each queue \
         of the kernel"
    );
    FieldError::new("programs", message)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};
    use sojourn_net::queue::kernel::entry;
    use sojourn_sim::catalogue;

    use super::*;

    /// A dumbbell with these flows, by their keys, and a program on each of these hosts.
    fn scenario(flows: &[Value], hosts: &[&str]) -> Scenario {
        let flow = |keys: &Value| {
            let mut flow = json!({ "cca": "cubic", "rtt": "20 ms" });
            for (key, value) in keys.as_object().unwrap() {
                flow[key] = value.clone();
            }
            flow
        };
        let program = |host: &&str| json!({ "host": host, "command": "true" });
        let document = json!({
            "duration": "1 s",
            "topology": { "kind": "dumbbell", "bottleneck": { "rate": "1 Mbit/s", "queue": "kernel" } },
            "flows": flows.iter().map(flow).collect::<Vec<_>>(),
            "programs": hosts.iter().map(program).collect::<Vec<_>>(),
        });
        let members = catalogue::core().with(vec![entry()]);
        Scenario::from_json(&document, &Arc::new(members)).unwrap()
    }

    fn table(flows: &[Value], hosts: &[&str]) -> HostTable {
        HostTable::new(&scenario(flows, hosts)).unwrap()
    }

    #[test]
    fn both_ends_of_a_flow_with_a_program_are_hosts() {
        let flows = [json!({}), json!({}), json!({ "cca": "reno", "ecn": "classic" })];
        let table = table(&flows, &["flow-2.receiver", "sender", "sender"]);
        assert_eq!(table.carried, [true, false, true]);
        assert_eq!(table.of_program, [3, 0, 0]);
        let names: Vec<_> = table.hosts.iter().map(|host| host.names.join(" ")).collect();
        let all = [
            "sender flow-0.sender",
            "receiver flow-0.receiver",
            "flow-2.sender",
            "flow-2.receiver",
        ];
        assert_eq!(names, all);
        let [there, back] = [[0, 1], [2, 3]];
        assert_eq!(table.routes, [Route { hosts: there, flow: 0 }, Route { hosts: back, flow: 2 }]);
        let controls: Vec<_> = table.hosts.iter().map(|h| (h.cca.as_deref(), h.ecn)).collect();
        assert_eq!(controls[0], (Some("cubic"), EcnMode::Off));
        assert_eq!(controls[3], (Some("reno"), EcnMode::Classic));
        assert_eq!((table.receiver(2), table.receiver(3)), ([10, 80, 0, 4], [10, 80, 0, 4]));
        assert_eq!(table.hosts[0].v4, [10, 80, 0, 1]);
        assert_eq!(table.at(&table.hosts[3].v6), Some(3));
        assert_eq!(table.at(&[10, 80, 0, 2]), Some(1));
        for stranger in [&[10, 80, 0, 5][..], &[10, 80, 0, 0], &[10, 80, 1, 1], &[]] {
            assert_eq!(table.at(stranger), None);
        }
        assert_eq!((table.route(3, 2), table.route(0, 2)), (Some((1, 1)), None));
        assert_eq!((HostTable::card(1), table.of_card(3), table.of_card(6)), (3, Some(1), None));
    }

    #[test]
    fn a_node_that_a_program_names_is_one_host_for_all_ends_there() {
        let flows = [json!({ "from": "a b" }), json!({ "to": "far" }), json!({ "to": "far" })];
        let table = table(&flows, &["flow-1.receiver", "right", "a b"]);
        assert_eq!(table.carried, [true, true, false]);
        let names: Vec<_> = table.hosts.iter().map(|host| host.names.join(" ")).collect();
        let all = [
            "sender flow-0.sender",
            "right receiver flow-0.receiver",
            "flow-1.sender",
            "flow-1.receiver",
        ];
        assert_eq!(names, all, "a name with a blank is none for a resolver");
        assert_eq!(table.of_program, [3, 1, 0]);
        let shared = scenario(&flows, &["far", "sender"]);
        let shared = HostTable::new(&shared).unwrap();
        assert_eq!(shared.carried, [true, true, true]);
        assert_eq!(shared.hosts[3].names.join(" "), "far flow-1.receiver flow-2.receiver");
        assert_eq!(shared.routes[2], Route { hosts: [4, 3], flow: 2 });
    }

    #[test]
    fn a_node_has_the_name_that_an_end_would_have() {
        let flows = [json!({}), json!({ "from": "sender", "to": "flow-0.receiver" })];
        let table = table(&flows, &["sender", "flow-0.sender", "flow-0.receiver"]);
        let names: Vec<_> = table.hosts.iter().map(|host| host.names.join(" ")).collect();
        let of_nodes = ["sender flow-1.sender", "flow-0.receiver flow-1.receiver"];
        assert_eq!(names, ["flow-0.sender", "receiver", of_nodes[0], of_nodes[1]]);
        assert_eq!(table.of_program, [2, 0, 3]);
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let refused = |flows: &[Value], hosts: &[&str]| {
            HostTable::new(&scenario(flows, hosts)).unwrap_err().to_string()
        };
        let twice = refused(&[json!({}), json!({ "direction": "reverse" })], &["left", "right"]);
        assert!(twice.starts_with("flows.1: joins right and left, whose programs"), "{twice}");
        let alone = refused(&[json!({ "from": "a", "to": "a" })], &["a"]);
        assert_eq!(alone, "flows.0: both ends are the host a: leave it out");
        assert_eq!(table(&[json!({ "count": 27 })], &["left"]).hosts.len(), 28);
        let many = refused(&[json!({ "count": 28 })], &["left"]);
        assert!(many.starts_with("programs: more than 28 hosts given; allowed: "), "{many}");
    }
}
