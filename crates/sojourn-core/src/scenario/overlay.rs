//! The overlay of a scenario, or its multicast tree: nodes of that kind, and the flows that are theirs.

use std::sync::Arc;

use serde_json::Value;

use super::ScenarioSpec;
use crate::error::FieldError;
use crate::multicast::{Groups, MOST_MEMBERS, Receiver, Stream};
use crate::node::overlay::{OverlayFlow, Speech, Together};
use crate::section::Gift;
use crate::spec::{Flow, FlowSpec, Node, ServiceSpec, Spec, Utility};
use crate::topology::{Plan, Routes};
use crate::units::Time;

const OVERLAY: &str = "overlay";
const TREE: &str = "shared-tree";

/// Gives the nodes what they know of each other, if there are such, and says which flows only count.
///
/// # Errors
/// If there are too many nodes, or a flow has a service that no overlay can give.
pub fn give(scenario: &ScenarioSpec, plan: &Plan, gift: &mut Gift) -> Result<(), FieldError> {
    let ours = members(plan)?;
    let kind = ours.first().map(|member| member.kind.kind.as_str());
    if kind == Some(TREE) {
        check_rendezvous(&ours)?;
    }
    let (mut joining, mut flows) = (Joining::of(&ours, plan), Vec::new());
    for flow in scenario.flows_expanded() {
        let within = |error: FieldError| error.within(&format!("flows.{}", flow.entry));
        flows.extend(sent(plan, &flow, &mut joining).map_err(within)?);
        if kind == Some(TREE) {
            check_group(flow.spec).map_err(within)?;
        }
    }
    gift.silent.extend(joining.groups.only_counting());
    match kind {
        Some(TREE) => gift.nodes.give(Arc::new(joining.groups)),
        Some(_) => gift.nodes.give(Arc::new(Together::new(joining.groups, flows))),
        None => {}
    }
    Ok(())
}

/// A node that is one of theirs.
struct Member<'a> {
    number: u16,
    name: &'a str,
    kind: &'a Spec<Node>,
}

fn members(plan: &Plan) -> Result<Vec<Member<'_>>, FieldError> {
    let nodes = (0..).zip(&plan.nodes);
    let ours = nodes.filter_map(|(number, node)| {
        let kind = node.kind.as_ref()?;
        let is_ours = [OVERLAY, TREE].contains(&kind.kind.as_str());
        is_ours.then_some(Member { number, name: &node.name, kind })
    });
    let ours: Vec<_> = ours.collect();
    if ours.windows(2).any(|pair| pair[0].kind.kind != pair[1].kind.kind) {
        let message = "nodes of both kinds, overlay and shared-tree; allowed: one of them";
        return Err(FieldError::new("topology.nodes", message));
    }
    if ours.len() > MOST_MEMBERS {
        let message = format!("{} overlay nodes; allowed: {MOST_MEMBERS}", ours.len());
        return Err(FieldError::new("topology.nodes", message));
    }
    Ok(ours)
}

fn check_rendezvous(ours: &[Member<'_>]) -> Result<(), FieldError> {
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

/// Refuses a service that only an overlay gives.
fn check_group(flow: &FlowSpec) -> Result<(), FieldError> {
    if flow.service.as_ref().is_some_and(|service| service.group.is_none()) {
        let message = "missing; a shared tree carries groups alone";
        return Err(FieldError::new("service.group", message));
    }
    Ok(())
}

/// The flow, if it is theirs and no other sends what it counts.
fn sent(
    plan: &Plan,
    flow: &Flow<'_>,
    joining: &mut Joining,
) -> Result<Option<OverlayFlow>, FieldError> {
    let Some(service) = flow.spec.service.clone() else { return Ok(None) };
    service.validate().map_err(|error| error.within("service"))?;
    let ends = joining.ends(&plan.routes[flow.id as usize])?;
    let mut speech = speech_of(flow.spec, &service)?;
    if let Some(group) = &service.group {
        if speech != Speech::Udp {
            return Err(FieldError::new("service.group", "given with tcp; allowed: udp"));
        }
        let stream = joining.join(group, ends, flow)?;
        if joining.groups.streams[stream].sender() != Some(flow.id) {
            return Ok(None);
        }
        speech = Speech::Stream { index: stream as u16 };
    }
    let start = Time::ZERO + flow.spec.start;
    Ok(Some(OverlayFlow { flow: flow.id, ends, service, speech, start }))
}

fn speech_of(flow: &FlowSpec, service: &ServiceSpec) -> Result<Speech, FieldError> {
    match flow.transport.kind.as_str() {
        "tcp" if service.utility != Utility::Log => {
            let given = service.utility.name();
            let message = format!("{given} given with transport tcp; allowed: log");
            Err(FieldError::new("service.utility", message))
        }
        "udp" => Ok(Speech::Udp),
        "tcp" => Ok(Speech::Tcp { mss: flow.mss }),
        other => {
            let message =
                format!("given with transport {other}; overlays have proxies of udp, tcp");
            Err(FieldError::new("service", message))
        }
    }
}

/// Groups whose receivers join one after another.
struct Joining {
    groups: Groups,
    /// What names each stream: its group, where it begins, its label.
    names: Vec<(String, u16, Option<String>)>,
}

impl Joining {
    /// None have joined yet.
    fn of(ours: &[Member<'_>], plan: &Plan) -> Self {
        let ends = plan.links.iter().filter_map(|link| Some([link.ends[0]?, link.ends[1]?]));
        let groups = Groups {
            members: ours.iter().map(|member| member.number).collect(),
            names: ours.iter().map(|member| member.name.to_owned()).collect(),
            links: ends.collect(),
            ..Groups::default()
        };
        Joining { groups, names: Vec::new() }
    }

    /// The members where a flow begins and ends.
    fn ends(&self, routes: &Routes) -> Result<[u16; 2], FieldError> {
        let ends = [routes.source, routes.destination].map(|node| self.groups.member(node));
        let [Some(from), Some(to)] = ends else {
            let message = "given, but the flow does not begin and end at overlay nodes";
            return Err(FieldError::new("service", message));
        };
        Ok([from as u16, to as u16])
    }

    /// A flow's receiver joins its stream: which one that is.
    fn join(&mut self, group: &str, ends: [u16; 2], flow: &Flow<'_>) -> Result<usize, FieldError> {
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
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::scenario::Scenario;

    fn link(to: &str) -> Value {
        json!({ "id": to, "from": "1", "to": to, "rate": "10 Mbit/s", "delay": "5 ms" })
    }

    /// What comes of a stream from one node of a kind to two others.
    fn gift(kind: &str) -> Gift {
        let node = |id: &str| json!({ "id": id, "kind": kind });
        let (nodes, links) = (["1", "2", "3"].map(node), ["2", "3"].map(link));
        let stream = json!({
            "from": "1",
            "receivers": ["2", "3"],
            "transport": "udp",
            "traffic": { "kind": "cbr", "rate": "1 Mbit/s" },
            "service": { "group": "both" },
        });
        let scenario = json!({
            "duration": "1 s",
            "topology": { "kind": "graph", "nodes": nodes, "links": links },
            "flows": [stream],
        });
        Scenario::from_json(&scenario).unwrap().gift().unwrap()
    }

    #[test]
    fn each_kind_of_node_is_given_what_it_knows() {
        let given = [OVERLAY, TREE].map(|kind| {
            let nodes = gift(kind).nodes;
            [nodes.get::<Together>().is_some(), nodes.get::<Groups>().is_some()]
        });
        assert_eq!(given, [[true, false], [false, true]]);
    }

    #[test]
    fn of_a_streams_flows_the_first_sends_and_the_others_are_silent() {
        let Gift { nodes, silent } = gift(OVERLAY);
        assert_eq!(silent, BTreeSet::from([1]));
        let together = nodes.get::<Together>().unwrap();
        let senders: Vec<_> = together.flows.iter().map(|flow| flow.flow).collect();
        assert_eq!((senders, together.streams[0].sender()), (vec![0], Some(0)));
        assert_eq!(together.streams[0].destinations(Time::ZERO), 0b110);
    }
}
