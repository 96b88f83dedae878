//! Multicast groups of a scenario: nodes that carry them, and their flows.
//!
//! A flow's `service` is its group and no more, and shared trees carry groups. A wing's section of
//! the same name replaces this one.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Gift, ScenarioSpec, Section, Sections};
use crate::error::FieldError;
use crate::multicast::{Groups, MOST_MEMBERS, Receiver, Stream};
use crate::registry::{Entry, NoParams};
use crate::spec::own::{Keys, Place};
use crate::spec::{Flow, FlowSpec, Node, Spec};
use crate::topology::{Plan, Routes};
use crate::units::Time;

/// Name of the section with a flow's `service`; a wing's section with more keys replaces this one.
pub const SERVICE: &str = "service";
/// The kind of node that carries groups and has no other service.
pub const TREE: &str = "shared-tree";

/// Keys of a flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct FlowKeys {
    /// Service of the nodes on its path; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<Service>,
}

/// Service that nodes which carry groups give a flow.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Service {
    /// Multicast group: datagrams of the flows with the same group, `label` and `from` are one
    /// stream, delivered to the `to` of each flow that is on at that time.
    group: String,
}

impl Keys for FlowKeys {
    const PLACES: &'static [Place] = &[(SERVICE, None)];

    fn group(&self) -> Option<&str> {
        Some(&self.service.as_ref()?.group)
    }
}

enum Trees {}

/// The section of shared trees.
pub fn section() -> Entry<Sections> {
    super::entry::<Trees>(SERVICE)
}

impl Section for Trees {
    type OfScenario = NoParams;
    type OfFlow = FlowKeys;

    fn give(scenario: &ScenarioSpec, plan: &Plan, gift: &mut Gift) -> Result<(), FieldError> {
        let trees = members(plan, &[TREE])?;
        check_rendezvous(&trees)?;
        let mut joining = Joining::of(&trees, plan);
        for flow in scenario.flows_expanded() {
            let Some(group) = &flow.spec.group else { continue };
            let ends = joining.ends(&plan.routes[flow.id as usize], TREE);
            ends.and_then(|ends| joining.join(group, ends, &flow))
                .map_err(|error| error.within(&format!("flows.{}", flow.entry)))?;
        }
        gift.silent.extend(joining.groups.only_counting());
        gift.nodes.give(Arc::new(joining.groups));
        Ok(())
    }
}

/// A node that carries groups.
pub struct Member<'a> {
    number: u16,
    name: &'a str,
    /// Its kind.
    pub kind: &'a Spec<Node>,
}

/// The nodes that are of one of these kinds.
///
/// # Errors
/// If they are of several kinds, or too many.
pub fn members<'a>(plan: &'a Plan, kinds: &[&str]) -> Result<Vec<Member<'a>>, FieldError> {
    let nodes = (0..).zip(&plan.nodes);
    let ours = nodes.filter_map(|(number, node)| {
        let kind = node.kind.as_ref()?;
        let is_ours = kinds.contains(&kind.kind.as_str());
        is_ours.then_some(Member { number, name: &node.name, kind })
    });
    let ours: Vec<_> = ours.collect();
    if ours.windows(2).any(|pair| pair[0].kind.kind != pair[1].kind.kind) {
        let message =
            format!("nodes of the kinds {} given; allowed: one kind", kinds.join(" and "));
        return Err(FieldError::new("topology.nodes", message));
    }
    if ours.len() > MOST_MEMBERS {
        let kind = &ours[0].kind.kind;
        let message = format!("{} {kind} nodes given; allowed: at most {MOST_MEMBERS}", ours.len());
        return Err(FieldError::new("topology.nodes", message));
    }
    Ok(ours)
}

/// Checks that the roots of trees exist.
///
/// # Errors
/// If there is no such node.
pub fn check_rendezvous(ours: &[Member<'_>]) -> Result<(), FieldError> {
    let known: Vec<&str> = ours.iter().map(|member| member.name).collect();
    for (index, member) in ours.iter().enumerate() {
        let given = member.kind.params.get("rendezvous").and_then(Value::as_str);
        if let Some(given) = given.filter(|given| !known.contains(given)) {
            let field = format!("topology.nodes.{index}.rendezvous");
            return Err(FieldError::unknown_name(&field, "node", given, &known));
        }
    }
    Ok(())
}

/// Groups whose receivers join one after another.
pub struct Joining {
    /// The groups, with the receivers that have joined so far.
    pub groups: Groups,
    /// Key of each stream: its group, the node where it begins, its label.
    names: Vec<(String, u16, Option<String>)>,
}

impl Joining {
    /// Groups without receivers.
    pub fn of(ours: &[Member<'_>], plan: &Plan) -> Self {
        let ends = plan.links.iter().filter_map(|link| Some([link.ends[0]?, link.ends[1]?]));
        let groups = Groups {
            members: ours.iter().map(|member| member.number).collect(),
            names: ours.iter().map(|member| member.name.to_owned()).collect(),
            links: ends.collect(),
            ..Groups::default()
        };
        Joining { groups, names: Vec::new() }
    }

    /// Indices of the members, of this kind, where a flow begins and ends.
    ///
    /// # Errors If it does not begin and end at such members.
    pub fn ends(&self, routes: &Routes, kind: &str) -> Result<[u16; 2], FieldError> {
        let ends = [routes.source, routes.destination].map(|node| self.groups.member(node));
        let [Some(from), Some(to)] = ends else {
            let message = format!("given, but the flow does not begin and end at {kind} nodes");
            return Err(FieldError::new(SERVICE, message));
        };
        Ok([from as u16, to as u16])
    }

    /// A flow's receiver joins its stream; returns the stream's index.
    ///
    /// # Errors If it cannot join.
    pub fn join(
        &mut self,
        group: &str,
        ends: [u16; 2],
        flow: &Flow<'_>,
    ) -> Result<usize, FieldError> {
        if flow.spec.transport.kind != "udp" {
            let message = format!("given with {}; allowed: udp", flow.spec.transport.kind);
            return Err(FieldError::new("service.group", message));
        }
        if flow.spec.count > 1 {
            let message = "given with a group: a stream is one flow; give each its label";
            return Err(FieldError::new("count", message));
        }
        let stream = self.stream(group, ends[0], flow.spec);
        let receivers = &mut self.groups.streams[stream].receivers;
        if receivers.iter().any(|receiver| receiver.member == ends[1]) {
            let message = "given twice as a receiver of one stream (same group, from and label)";
            return Err(FieldError::new("to", message));
        }
        let start = Time::ZERO + flow.spec.start;
        let stop = flow.spec.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        receivers.push(Receiver { flow: flow.id, member: ends[1], start, stop });
        Ok(stream)
    }

    /// The stream of a flow from this member; a new one for the first.
    fn stream(&mut self, group: &str, from: u16, flow: &FlowSpec) -> usize {
        let name = (group.to_owned(), from, flow.label.clone());
        if let Some(known) = self.names.iter().position(|known| *known == name) {
            return known;
        }
        let Groups { groups, streams, .. } = &mut self.groups;
        let known = groups.iter().position(|known| known == group);
        let number = known.unwrap_or_else(|| {
            groups.push(group.to_owned());
            groups.len() - 1
        });
        self.names.push(name);
        streams.push(Stream { group: number as u16, receivers: Vec::new() });
        streams.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalogue::builtin;
    use crate::scenario::Scenario;

    /// Result of the core's section for a stream over a tree of three nodes.
    fn gift(service: Value) -> Result<Gift, FieldError> {
        let node = |id: &str| json!({ "id": id, "kind": TREE });
        let link = |to: &str| json!({ "id": to, "from": "1", "to": to, "rate": "1 Mbit/s", "delay": "5 ms" });
        let (nodes, links) = (["1", "2", "3"].map(node), ["2", "3"].map(link));
        let scenario = json!({
            "duration": "1 s",
            "topology": { "kind": "graph", "nodes": nodes, "links": links },
            "flows": [{
                "from": "1",
                "receivers": ["2", "3"],
                "transport": "udp",
                "traffic": { "kind": "cbr", "rate": "100 kbit/s" },
                "service": service,
            }],
        });
        Scenario::from_json(&scenario, builtin())?.gift()
    }

    #[test]
    fn a_tree_needs_no_wing() {
        let Gift { nodes, silent, .. } = gift(json!({ "group": "all" })).unwrap();
        let groups = nodes.get::<Groups>().unwrap();
        assert_eq!((groups.streams.len(), groups.streams[0].sender()), (1, Some(0)));
        assert_eq!(silent.into_iter().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_service_is_a_group_and_no_more() {
        let refused = |service| gift(service).unwrap_err().to_string();
        assert_eq!(refused(json!({})), "flows.0.service.group: is missing");
        let told = refused(json!({ "group": "all", "priority": 2 }));
        assert!(told.starts_with("flows.0.service.priority: unknown key 'priority'"), "{told}");
    }
}
