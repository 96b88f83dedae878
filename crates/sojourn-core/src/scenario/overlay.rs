//! The overlay of a scenario: its nodes of that kind, and the flows that are theirs.

use std::sync::Arc;

use super::ScenarioSpec;
use crate::error::FieldError;
use crate::node::overlay::{MOST_MEMBERS, OverlayFlow, Speech, Together};
use crate::spec::{Flow, Utility};
use crate::topology::Plan;
use crate::units::Time;

const KIND: &str = "overlay";

/// The overlay of a scenario, if it has one.
///
/// # Errors
/// If there are too many nodes, or a flow has a service that no overlay can give.
pub fn of(scenario: &ScenarioSpec, plan: &Plan) -> Result<Option<Arc<Together>>, FieldError> {
    let nodes = (0..).zip(&plan.nodes);
    let ours = nodes.filter(|(_, node)| node.kind.as_ref().is_some_and(|kind| kind.kind == KIND));
    let members: Vec<u16> = ours.map(|(number, _)| number).collect();
    if members.len() > MOST_MEMBERS {
        let message = format!("{} overlay nodes; allowed: {MOST_MEMBERS}", members.len());
        return Err(FieldError::new("topology.nodes", message));
    }
    let mut flows = Vec::new();
    for flow in scenario.flows_expanded() {
        if let Some(found) = theirs(plan, &flow, &members)
            .map_err(|error| error.within(&format!("flows.{}", flow.entry)))?
        {
            flows.push(found);
        }
    }
    Ok((!members.is_empty()).then(|| Arc::new(Together::new(members, flows))))
}

fn theirs(
    plan: &Plan,
    flow: &Flow<'_>,
    members: &[u16],
) -> Result<Option<OverlayFlow>, FieldError> {
    let Some(service) = flow.spec.service.clone() else { return Ok(None) };
    service.validate().map_err(|error| error.within("service"))?;
    let routes = &plan.routes[flow.id as usize];
    let member = |node: u16| members.iter().position(|member| *member == node);
    let (Some(from), Some(to)) = (member(routes.source), member(routes.destination)) else {
        let message = "given, but the flow does not begin and end at overlay nodes";
        return Err(FieldError::new("service", message));
    };
    let speech = match flow.spec.transport.kind.as_str() {
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
    let ends = [from as u16, to as u16];
    let start = Time::ZERO + flow.spec.start;
    Ok(Some(OverlayFlow { flow: flow.id, ends, service, speech, start }))
}
