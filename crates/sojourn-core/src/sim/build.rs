//! From a scenario to the parts of a simulation.

use super::{Application, Parts, RouteTable};
use crate::cc::EcnMode;
use crate::error::FieldError;
use crate::link::{Discipline, Egress, Exit, FlowDrops, Link, RandomLoss, Transmitter};
use crate::queue::QueueInit;
use crate::record::FlowFacts;
use crate::rng::StreamKey;
use crate::scenario::{Flow, LinkSpec, Scenario, Transport};
use crate::topology::{Network, NetworkLink};
use crate::traffic;
use crate::transport::{Endpoint, udp};
use crate::units::{Span, Time};

/// IPv4 header, TCP header and its timestamp option.
const TCP_HEADERS: u32 = 52;

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
        endpoints.extend(ends(flow, &network).map_err(within)?);
        applications.push(Some(application(flow, random).map_err(within)?));
    }
    Ok(Parts {
        end: at(scenario.duration),
        warmup: at(scenario.warmup),
        sample_interval: scenario.sample_interval,
        links: links(&flows, &network, &facts, random.child("link"))?,
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

fn ends(flow: &Flow<'_>, network: &Network) -> Result<[Box<dyn Endpoint>; 2], FieldError> {
    match flow.spec.transport {
        Transport::Udp => Ok(udp_ends(flow, network)),
        Transport::Tcp => Err(FieldError::new("transport", "tcp is not built yet")),
    }
}

fn udp_ends(flow: &Flow<'_>, network: &Network) -> [Box<dyn Endpoint>; 2] {
    let routes = &network.routes[flow.id as usize];
    let init = udp::UdpInit {
        flow: flow.id,
        source: routes.source,
        destination: routes.destination,
        mss: flow.spec.mss,
        ecn: flow.spec.ecn.unwrap_or(EcnMode::Off),
    };
    [Box::new(udp::Sender::new(init)), Box::new(udp::Receiver::new())]
}

fn links(
    flows: &[Flow<'_>],
    network: &Network,
    facts: &[FlowFacts],
    random: StreamKey,
) -> Result<Vec<Link>, FieldError> {
    let mut drops = drops_by_link(flows, network);
    let mut links = Vec::new();
    for (index, passing) in network.flows_by_link().iter().enumerate() {
        let link = &network.links[index];
        let random = random.child(&link.id);
        let init = queue_init(&link.spec, passing, flows, facts, random);
        let transmitter = transmitter(link, &init)?;
        let loss = link.spec.loss.fraction();
        let loss = (loss > 0.0).then(|| RandomLoss::new(loss, random));
        let exit = Exit::new(loss, std::mem::take(&mut drops[index]));
        links.push(Link::new(transmitter, exit, link.spec.delay));
    }
    Ok(links)
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

fn queue_init(
    spec: &LinkSpec,
    passing: &[u32],
    flows: &[Flow<'_>],
    facts: &[FlowFacts],
    random: StreamKey,
) -> QueueInit {
    let passing = || passing.iter().map(|flow| *flow as usize);
    let largest = passing().map(|flow| full_packet(&flows[flow])).max();
    let ecn = |flow: usize| flows[flow].spec.ecn.is_some_and(|ecn| ecn != EcnMode::Off);
    QueueInit {
        rate: spec.rate,
        overhead: spec.overhead.0 as u32,
        full_packet: spec.mtu.map(|mtu| mtu.0 as u32).or(largest).unwrap_or(1500),
        base_rtt: passing().map(|flow| facts[flow].base_rtt).max().unwrap_or(Span::ZERO),
        ecn: passing().any(ecn),
        random: random.child("queue"),
    }
}

/// Size of a full IP packet of `flow`.
fn full_packet(flow: &Flow<'_>) -> u32 {
    let headers = match flow.spec.transport {
        Transport::Tcp => TCP_HEADERS,
        Transport::Udp => udp::HEADERS,
    };
    flow.spec.mss + headers
}

/// Queue and transmitter of a link; none if it only delays and is not recorded.
fn transmitter(link: &NetworkLink, init: &QueueInit) -> Result<Option<Transmitter>, FieldError> {
    let spec = &link.spec;
    if !link.recorded && spec.rate.is_none() && spec.queue.is_none() {
        return Ok(None);
    }
    let queue = match &spec.queue {
        Some(queue) => Discipline::build(&queue.kind, &queue.params, init),
        None => Discipline::build("fifo", &serde_json::Map::new(), init),
    };
    let queue = queue.map_err(|e| e.within(&format!("topology.{}.queue", link.id)))?;
    let egress = Egress::new(queue, spec.device_queue.0 as usize);
    Ok(Some(Transmitter::new(egress, spec.rate, init.overhead)))
}
