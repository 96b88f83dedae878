//! Links of a scenario, built from its plan and the flows that pass them.

use super::at;
use crate::edge::link::{FlowDrops, Link, LinkInit};
use crate::error::FieldError;
use crate::queue::QueueInit;
use crate::record::FlowFacts;
use crate::record::live::{Log, Tap, Watch};
use crate::registry::Catalogue;
use crate::rng::StreamKey;
use crate::scenario::Scenario;
use crate::spec::{EcnMode, Flow, Recorded};
use crate::topology::{Plan, PlannedLink};
use crate::units::{Span, Time};

/// A link, and the recorder of its packets, if they are recorded. For a channel of a shared medium:
/// the link after reception, if there is one.
pub(super) struct BuiltLink {
    pub link: Option<Link>,
    pub tap: Option<Tap>,
    /// Parameters of a channel's queue.
    pub queue: QueueInit,
    pub watch: Option<Watch>,
}

pub(super) fn links(
    scenario: &Scenario,
    flows: &[Flow<'_>],
    facts: &[FlowFacts],
    log: Option<&Log>,
) -> Result<Vec<BuiltLink>, FieldError> {
    let (plan, catalogue) = (scenario.plan(), scenario.catalogue());
    let random = StreamKey::root(scenario.seed).child("link");
    let mut drops = drops_by_link(flows, plan);
    let mut links = Vec::new();
    for (index, passing) in flows_by_link(plan).iter().enumerate() {
        let link = &plan.links[index];
        let mut init = link_init(link, passing, flows, facts, random);
        init.drops = std::mem::take(&mut drops[index]);
        init.end = at(scenario.duration);
        if let Some(log) = log.filter(|_| link.recorded) {
            init.watch = log.watch(Recorded::Queue, &format!("link.{}.queue", link.id));
            init.tap = log.tap(&link.id);
        }
        let within = |error: FieldError| error.within(&format!("topology.{}", link.id));
        links.push(built(link, init, catalogue).map_err(within)?);
    }
    Ok(links)
}

fn built(
    link: &PlannedLink,
    mut init: LinkInit,
    catalogue: &Catalogue,
) -> Result<BuiltLink, FieldError> {
    let tap = init.tap.clone();
    let queue = init.queue(&link.spec);
    if link.on.is_none() {
        let link = Some(Link::build(&link.spec, init, catalogue)?);
        return Ok(BuiltLink { link, tap, queue, watch: None });
    }
    let watch = init.watch.take();
    let beyond = link.spec.beyond_medium();
    init.recorded = false;
    let nothing = beyond.is_transparent() && init.drops.is_empty();
    let link = if nothing { None } else { Some(Link::build(&beyond, init, catalogue)?) };
    Ok(BuiltLink { link, tap, queue, watch })
}

/// For each link, the flows that pass it in either direction.
fn flows_by_link(plan: &Plan) -> Vec<Vec<u32>> {
    let mut flows = vec![Vec::new(); plan.links.len()];
    for (flow, routes) in (0..).zip(&plan.routes) {
        for link in routes.forward.iter().chain(&routes.backward) {
            flows[*link as usize].push(flow);
        }
    }
    flows
}

/// A flow's listed drops happen on the first recorded link of its path, else on the first.
fn drops_by_link(flows: &[Flow<'_>], plan: &Plan) -> Vec<Vec<FlowDrops>> {
    let mut drops = vec![Vec::new(); plan.links.len()];
    for flow in flows {
        let route = &plan.routes[flow.id as usize].forward;
        let recorded = route.iter().find(|link| plan.links[**link as usize].recorded);
        if let Some(link) = recorded.or(route.first())
            && !flow.spec.drop.is_empty()
        {
            drops[*link as usize].push(FlowDrops::new(flow.id, flow.spec.drop.clone()));
        }
    }
    drops
}

/// Parameters of a link that depend on the flows that pass it.
fn link_init(
    link: &PlannedLink,
    passing: &[u32],
    flows: &[Flow<'_>],
    facts: &[FlowFacts],
    random: StreamKey,
) -> LinkInit {
    let passing = || passing.iter().map(|flow| *flow as usize);
    let largest = passing().map(|flow| facts[flow].full_packet).max();
    let ecn = |flow: usize| flows[flow].spec.ecn.is_some_and(|ecn| ecn != EcnMode::Off);
    LinkInit {
        full_packet: link.spec.mtu.map(|mtu| mtu.0 as u32).or(largest).unwrap_or(1500),
        base_rtt: passing().map(|flow| facts[flow].base_rtt).max().unwrap_or(Span::ZERO),
        ecn: passing().any(ecn),
        recorded: link.recorded,
        drops: Vec::new(),
        end: Time::NEVER,
        random: random.child(&link.id),
        watch: None,
        tap: None,
    }
}
