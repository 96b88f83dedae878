//! From a scenario to the parts of a simulation.

use super::application::Application;
use super::ends;
use super::hosts::FlowHosts;
use crate::cc::EcnMode;
use crate::edge::link::{FlowDrops, Link, Surroundings};
use crate::error::FieldError;
use crate::net::{self, Alarm, Network};
use crate::packet::{Address, Direction, FiveTuple};
use crate::record::{FlowFacts, Recorder};
use crate::rng::StreamKey;
use crate::scenario::{Flow, Scenario};
use crate::topology::{Plan, PlannedLink, Routes};
use crate::traffic;
use crate::units::{Span, Time};

/// Builds everything the scenario describes.
pub fn parts(scenario: &Scenario) -> Result<(Network, FlowHosts), FieldError> {
    let random = StreamKey::root(scenario.seed);
    let flows = scenario.flows_expanded();
    let plan = scenario.plan()?;
    let facts = flow_facts(scenario, &flows, &plan);
    let links = links(scenario, &flows, &plan, &facts)?;
    let (net, addresses) = network(&plan, links)?;
    let mut endpoints = Vec::new();
    let mut applications = Vec::new();
    for (flow, addresses) in flows.iter().zip(addresses) {
        let random = random.child("flow").index(flow.id.into());
        let within = |error: FieldError| error.within(&format!("flows.{}", flow.entry));
        endpoints.extend(ends::build(flow, &plan, addresses, random).map_err(within)?);
        applications.push(Some(application(flow, random).map_err(within)?));
    }
    let recorded_links = plan.links.iter().filter(|link| link.recorded).count();
    let interval = scenario.sample_interval.as_nanos().max(1);
    let intervals = (scenario.duration.as_nanos() / interval + 1) as usize;
    let hosts = FlowHosts {
        warmup: at(scenario.warmup),
        sample_interval: scenario.sample_interval,
        recorded_links,
        alarms: vec![Alarm::default(); endpoints.len()],
        recorder: Recorder::new(facts.len(), recorded_links, intervals),
        endpoints,
        applications,
        flows: facts,
    };
    Ok((net, hosts))
}

/// The network of a plan, and how the packets of each flow are addressed, there and back.
fn network(plan: &Plan, links: Vec<Link>) -> Result<(Network, Vec<[Address; 2]>), FieldError> {
    let mut net = net::Builder::new();
    let nodes: Vec<usize> = plan.nodes.iter().map(|name| net.plain_node(name)).collect();
    let anywhere = net.plain_node("hosts");
    for (planned, link) in plan.links.iter().zip(links) {
        let ends = planned.ends.map(|end| end.map_or(anywhere, |node| nodes[usize::from(node)]));
        net.link(&planned.id, ends, link);
    }
    let mut addresses = Vec::with_capacity(plan.routes.len());
    for (flow, routes) in (0..).zip(&plan.routes) {
        let Routes { source, destination, forward, backward } = routes;
        let tuple = FiveTuple { source: *source, destination: *destination, ports: flow };
        let address =
            |direction, route, socket, tuple| Address { flow, direction, route, socket, tuple };
        let (there, back) = (net.route(forward), net.route(backward));
        addresses.push([
            address(Direction::Forward, there, 2 * flow + 1, tuple),
            address(Direction::Backward, back, 2 * flow, tuple.reversed()),
        ]);
    }
    Ok((net.build(), addresses))
}

fn at(span: Span) -> Time {
    Time::ZERO + span
}

fn flow_facts(scenario: &Scenario, flows: &[Flow<'_>], network: &Plan) -> Vec<FlowFacts> {
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
    network: &Plan,
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
fn flows_by_link(network: &Plan) -> Vec<Vec<u32>> {
    let mut flows = vec![Vec::new(); network.links.len()];
    for (flow, routes) in (0..).zip(&network.routes) {
        for link in routes.forward.iter().chain(&routes.backward) {
            flows[*link as usize].push(flow);
        }
    }
    flows
}

/// A flow's listed drops happen on the first recorded link of its path, else on the first.
fn drops_by_link(flows: &[Flow<'_>], network: &Plan) -> Vec<Vec<FlowDrops>> {
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
    link: &PlannedLink,
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
