//! The overlay of a scenario, or its multicast tree: nodes of that kind, and the flows that are theirs.

use std::sync::Arc;

use super::ScenarioSpec;
use crate::error::FieldError;
use crate::node::overlay::{MOST_MEMBERS, OverlayFlow, Receiver, Speech, Stream, Together};
use crate::section::Gift;
use crate::spec::{Flow, Utility};
use crate::topology::Plan;
use crate::units::Time;

const KINDS: [&str; 2] = ["overlay", "shared-tree"];

/// Gives the nodes what they know of each other, if there are such, and says which flows only count.
///
/// # Errors
/// If there are too many nodes, or a flow has a service that no overlay can give.
pub fn give(scenario: &ScenarioSpec, plan: &Plan, gift: &mut Gift) -> Result<(), FieldError> {
    let nodes = (0..).zip(&plan.nodes);
    let ours = nodes.filter_map(|(number, node)| {
        let kind = node.kind.as_ref()?.kind.as_str();
        KINDS.contains(&kind).then_some((number, kind, node))
    });
    let ours: Vec<_> = ours.collect();
    if ours.windows(2).any(|pair| pair[0].1 != pair[1].1) {
        let message = "nodes of both kinds, overlay and shared-tree; allowed: one of them";
        return Err(FieldError::new("topology.nodes", message));
    }
    let members: Vec<u16> = ours.iter().map(|(number, ..)| *number).collect();
    if members.len() > MOST_MEMBERS {
        let message = format!("{} overlay nodes; allowed: {MOST_MEMBERS}", members.len());
        return Err(FieldError::new("topology.nodes", message));
    }
    let ends = plan.links.iter().filter_map(|link| Some([link.ends[0]?, link.ends[1]?]));
    let links = ends.collect();
    let mut together = Together::of(members);
    together.names = ours.iter().map(|(.., node)| node.name.clone()).collect();
    together.links = links;
    let tree = ours.first().is_some_and(|(_, kind, _)| *kind == KINDS[1]);
    for (index, (.., node)) in ours.iter().enumerate().filter(|_| tree) {
        let given = node.kind.as_ref().and_then(|kind| kind.params.get("rendezvous")?.as_str());
        if let Some(given) = given.filter(|given| !together.names.iter().any(|name| name == given))
        {
            let field = format!("topology.nodes.{index}.rendezvous");
            let known: Vec<&str> = together.names.iter().map(String::as_str).collect();
            return Err(FieldError::unknown_name(&field, "node", given, &known));
        }
    }
    let mut streams = Streams::default();
    for flow in scenario.flows_expanded() {
        theirs(plan, &flow, &mut together, &mut streams)
            .map_err(|error| error.within(&format!("flows.{}", flow.entry)))?;
        if tree && flow.spec.service.as_ref().is_some_and(|service| service.group.is_none()) {
            let field = format!("flows.{}.service.group", flow.entry);
            return Err(FieldError::new(field, "missing; a shared tree carries groups alone"));
        }
    }
    together.groups = streams.groups;
    gift.silent.extend(together.only_counting());
    if !together.members.is_empty() {
        gift.nodes.give(Arc::new(together));
    }
    Ok(())
}

/// Groups by name, and what names each stream: its group, where it begins, its label.
#[derive(Default)]
struct Streams {
    groups: Vec<String>,
    names: Vec<(String, u16, Option<String>)>,
}

fn theirs(
    plan: &Plan,
    flow: &Flow<'_>,
    together: &mut Together,
    streams: &mut Streams,
) -> Result<(), FieldError> {
    let Some(service) = flow.spec.service.clone() else { return Ok(()) };
    service.validate().map_err(|error| error.within("service"))?;
    let routes = &plan.routes[flow.id as usize];
    let member = |node: u16| together.members.iter().position(|member| *member == node);
    let (Some(from), Some(to)) = (member(routes.source), member(routes.destination)) else {
        let message = "given, but the flow does not begin and end at overlay nodes";
        return Err(FieldError::new("service", message));
    };
    let ends = [from as u16, to as u16];
    let start = Time::ZERO + flow.spec.start;
    let mut speech = match flow.spec.transport.kind.as_str() {
        "tcp" if service.utility != Utility::Log => {
            let given = service.utility.name();
            let message = format!("{given} given with transport tcp; allowed: log");
            return Err(FieldError::new("service.utility", message));
        }
        "udp" => Speech::Udp,
        "tcp" => Speech::Tcp { mss: flow.spec.mss },
        other => {
            let message =
                format!("given with transport {other}; overlays have proxies of udp, tcp");
            return Err(FieldError::new("service", message));
        }
    };
    if let Some(group) = &service.group {
        if speech != Speech::Udp {
            return Err(FieldError::new("service.group", "given with tcp; allowed: udp"));
        }
        if flow.spec.count > 1 {
            let message = "given with a group: a stream is one flow; give each its label";
            return Err(FieldError::new("count", message));
        }
        let (index, first) = streams.find(group, ends[0], flow, together);
        let stop = flow.spec.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        let receivers = &mut together.streams[index].receivers;
        if receivers.iter().any(|receiver| receiver.member == ends[1]) {
            let message = "given twice as a receiver of one stream (same group, from and label)";
            return Err(FieldError::new("to", message));
        }
        receivers.push(Receiver { flow: flow.id, member: ends[1], start, stop });
        if !first {
            return Ok(());
        }
        speech = Speech::Stream { index: index as u16 };
    }
    together.flows.push(OverlayFlow { flow: flow.id, ends, service, speech, start });
    Ok(())
}

impl Streams {
    /// The stream of a flow, and whether the flow is its first.
    fn find(
        &mut self,
        group: &str,
        from: u16,
        flow: &Flow<'_>,
        together: &mut Together,
    ) -> (usize, bool) {
        let name = (group.to_owned(), from, flow.spec.label.clone());
        if let Some(index) = self.names.iter().position(|known| *known == name) {
            return (index, false);
        }
        let known = self.groups.iter().position(|known| known == group);
        let number = known.unwrap_or_else(|| {
            self.groups.push(group.to_owned());
            self.groups.len() - 1
        });
        self.names.push(name);
        together.streams.push(Stream { group: number as u16, receivers: Vec::new() });
        (together.streams.len() - 1, true)
    }
}
