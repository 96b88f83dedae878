//! From a scenario to the parts of a simulation.

use super::{Application, Parts, RouteTable, ends};
use crate::cc::EcnMode;
use crate::error::FieldError;
use crate::link::{FlowDrops, Link, Surroundings};
use crate::record::FlowFacts;
use crate::rng::StreamKey;
use crate::scenario::{Flow, Scenario};
use crate::topology::{Network, NetworkLink};
use crate::traffic;
use crate::units::{Span, Time};

/// Builds everything the scenario describes.
pub fn parts(scenario: &Scenario) -> Result<Parts, FieldError> {
    let random = StreamKey::root(scenario.seed);
    let flows = scenario.flows_expanded();
    let network = scenario.network()?;
    let facts = flow_facts(scenario, &flows, &network);
    let mut endpoints = Vec::new();
    let mut applications = Vec::new();
    for flow in &flows {
        let random = random.child("flow").index(flow.id.into());
        let within = |error: FieldError| error.within(&format!("flows.{}", flow.entry));
        endpoints.extend(ends::build(flow, &network, random).map_err(within)?);
        applications.push(Some(application(flow, random).map_err(within)?));
    }
    Ok(Parts {
        end: at(scenario.duration),
        warmup: at(scenario.warmup),
        sample_interval: scenario.sample_interval,
        links: links(scenario, &flows, &network, &facts)?,
        link_ids: network.links.iter().map(|link| link.id.clone()).collect(),
        recorded_links: network.links.iter().filter(|link| link.recorded).count(),
        routes: RouteTable::new(&network.routes),
        endpoints,
        applications,
        flows: facts,
    })
}

fn at(span: Span) -> Time {
    Time::ZERO + span
}

fn flow_facts(scenario: &Scenario, flows: &[Flow<'_>], network: &Network) -> Vec<FlowFacts> {
    let facts = |flow: &Flow<'_>| FlowFacts {
        base_rtt: network.base_rtt(flow.id as usize),
        mss: flow.spec.mss,
        start: at(flow.spec.start),
        stop: at(flow.spec.stop.unwrap_or(scenario.duration)),
    };
    flows.iter().map(facts).collect()
}

fn application(flow: &Flow<'_>, random: StreamKey) -> Result<Application, FieldError> {
    let spec = &flow.spec.traffic;
    let source = traffic::find(&spec.kind)
        .and_then(|entry| entry.build(&spec.params))
        .map_err(|e| e.within("traffic"))?;
    Ok(Application::new(source, random.child("traffic").stream()))
}

fn links(
    scenario: &Scenario,
    flows: &[Flow<'_>],
    network: &Network,
    facts: &[FlowFacts],
) -> Result<Vec<Link>, FieldError> {
    let random = StreamKey::root(scenario.seed).child("link");
    let mut drops = drops_by_link(flows, network);
    let mut links = Vec::new();
    for (index, passing) in flows_by_link(network).iter().enumerate() {
        let link = &network.links[index];
        let mut around = surroundings(link, passing, flows, facts, random);
        around.drops = std::mem::take(&mut drops[index]);
        around.end = at(scenario.duration);
        let within = |error: FieldError| error.within(&format!("topology.{}", link.id));
        links.push(Link::build(&link.spec, around).map_err(within)?);
    }
    Ok(links)
}

/// For each link, the flows that pass it in either direction.
fn flows_by_link(network: &Network) -> Vec<Vec<u32>> {
    let mut flows = vec![Vec::new(); network.links.len()];
    for (flow, routes) in (0..).zip(&network.routes) {
        for link in routes.forward.iter().chain(&routes.backward) {
            flows[*link as usize].push(flow);
        }
    }
    flows
}

/// A flow's listed drops happen on the first recorded link of its path, else on the first.
fn drops_by_link(flows: &[Flow<'_>], network: &Network) -> Vec<Vec<FlowDrops>> {
    let mut drops = vec![Vec::new(); network.links.len()];
    for flow in flows {
        let route = &network.routes[flow.id as usize].forward;
        let recorded = route.iter().find(|link| network.links[**link as usize].recorded);
        if let Some(link) = recorded.or(route.first()) {
            drops[*link as usize].push(FlowDrops::new(flow.id, flow.spec.drop.clone()));
        }
    }
    drops
}

/// What the flows that pass a link say about it.
fn surroundings(
    link: &NetworkLink,
    passing: &[u32],
    flows: &[Flow<'_>],
    facts: &[FlowFacts],
    random: StreamKey,
) -> Surroundings {
    let passing = || passing.iter().map(|flow| *flow as usize);
    let largest = passing().map(|flow| ends::full_packet(&flows[flow])).max();
    let ecn = |flow: usize| flows[flow].spec.ecn.is_some_and(|ecn| ecn != EcnMode::Off);
    Surroundings {
        full_packet: link.spec.mtu.map(|mtu| mtu.0 as u32).or(largest).unwrap_or(1500),
        base_rtt: passing().map(|flow| facts[flow].base_rtt).max().unwrap_or(Span::ZERO),
        ecn: passing().any(ecn),
        recorded: link.recorded,
        drops: Vec::new(),
        end: Time::NEVER,
        random: random.child(&link.id),
    }
}
