//! What of a scenario no node by itself can have.

use super::super::build;
use crate::error::FieldError;
use crate::net::Split;
use crate::scenario::Scenario;
use crate::spec::Flow;
use crate::tcp::HostMemory;

/// Refuses what belongs to the whole network.
pub(super) fn refuse_what_is_shared(scenario: &Scenario) -> Result<(), FieldError> {
    build::refuse_programs(scenario)?;
    let refused = |field: &str, why: &str| {
        Err(FieldError::new(
            field,
            format!("given; {why}; leave it out where nodes run by themselves"),
        ))
    };
    if !scenario.arrivals.is_empty() {
        return refused("arrivals", "connections that come and go begin at any node");
    }
    if HostMemory::new(scenario.tcp_metrics).is_some() {
        return refused("tcp_metrics", "hosts of all nodes share what they remember");
    }
    Ok(())
}

/// Refuses flows whose own packets cross between the node and the rest.
pub(super) fn refuse_crossing(
    scenario: &Scenario,
    split: &Split,
    carried: impl Fn(u32) -> bool,
) -> Result<(), FieldError> {
    let Some((flow, link)) = crossing(scenario, split, carried).next() else { return Ok(()) };
    let id = &scenario.plan().links[link].id;
    let message = format!(
        "passes {id} without a service; nodes that run by themselves exchange packets of flows with one"
    );
    Err(FieldError::new(flow.field(), message))
}

/// Flows whose own packets cross between the node and the rest, and the first link on which they do.
pub(super) fn crossing<'a>(
    scenario: &'a Scenario,
    split: &'a Split,
    carried: impl Fn(u32) -> bool + 'a,
) -> impl Iterator<Item = (Flow<'a>, usize)> {
    let crosses = move |link: usize| split.crossings.iter().any(|crossing| crossing.edge == link);
    let flows = scenario.flows_expanded().into_iter().filter(move |flow| !carried(flow.id));
    flows.filter_map(move |flow| {
        let route = &scenario.plan().routes[flow.id as usize];
        let mut passed = route.forward.iter().chain(&route.backward).map(|link| *link as usize);
        passed.find(|link| crosses(*link)).map(|link| (flow, link))
    })
}
