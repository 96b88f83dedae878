//! Construction of a simulation from a scenario.

use crate::edge::link::RecordedLink;
use crate::endpoint::Endpoint;
use crate::error::FieldError;
use crate::given::Given;
use crate::net::{self, Alarm, Network, Regions, Split};
use crate::node::{self, Behaviour, NodeInit};
use crate::packet::Address;
use crate::record::live::Log;
use crate::record::{Chunks, FlowFacts, Recorder};
use crate::registry::Catalogue;
use crate::rng::StreamKey;
use crate::scenario::Scenario;
use crate::sim::application::Application;
use crate::sim::arrivals::{Driver, Place};
use crate::sim::hosts::{Elsewhere, FlowHosts};
use crate::sim::recorded::{self, Captured, Told};
use crate::sim::sampler::{Homes, Sampler};
use crate::spec::{Flow, Node, Traffic, Transport};
use crate::tcp::HostMemory;
use crate::topology::PlannedNode;
use crate::transport::TransportInit;
use crate::units::{Span, Time};

mod addresses;
mod ends;
mod links;
mod media;

use addresses::addresses;
use ends::ends;
use links::{BuiltLink, links};
use media::media;

/// The parts of a scenario besides its endpoints, which may be simulated or real.
pub struct Surroundings {
    /// The network, at time zero.
    pub net: Network,
    /// Addresses of the packets of each flow, there and back, and of each kind of connections that
    /// come and go.
    pub addresses: Vec<[Address; 2]>,
    /// Application of each flow.
    pub applications: Vec<Application>,
    /// Static facts about each flow.
    pub flows: Vec<FlowFacts>,
    /// Recorder of the samples of all flows and recorded links.
    pub recorder: Recorder,
    /// Number of recorded edges: the first ones of the network.
    pub recorded_links: usize,
}

impl Surroundings {
    /// Builds the network, the applications and the recorder of a scenario; `log` receives the
    /// records that the scenario asks for besides samples.
    ///
    /// # Errors
    /// If the scenario cannot be built; never for one that was read by [`Scenario::from_json`].
    pub fn new(scenario: &Scenario, log: Option<&Log>) -> Result<Self, FieldError> {
        let expanded = scenario.flows_expanded();
        let paths = scenario.paths();
        let mut flows = flow_facts(scenario, &paths)?;
        let links = links(scenario, &paths, &flows, log)?;
        flows.truncate(expanded.len());
        let gift = scenario.gift()?;
        if let Some((capture, datagrams)) = log.and_then(Log::capture).zip(gift.datagrams) {
            capture.carry_between_nodes(datagrams);
        }
        let (net, addresses) = network(scenario, links, &gift.nodes, log)?;
        let mut applications = Vec::new();
        for flow in &expanded {
            let random = random_of(scenario, flow);
            if gift.silent.contains(&flow.id) {
                applications.push(Application::silent(random.stream()));
                continue;
            }
            let built = application(flow, random, scenario.catalogue());
            applications.push(built.map_err(|error| within(flow, error))?);
        }
        let recorded_links = scenario.plan().links.iter().filter(|link| link.recorded).count();
        let interval = scenario.sample_interval.as_nanos().max(1);
        let intervals = (scenario.duration.as_nanos() / interval + 1) as usize;
        let nodes = net.sample_nodes().count();
        let counters = node::counters(scenario.catalogue());
        let recorder = Recorder::new([flows.len(), recorded_links, nodes], &counters, intervals);
        Ok(Surroundings { net, addresses, applications, flows, recorder, recorded_links })
    }
}

/// Builds all parts of the simulation; tables grow no longer than `chunks` says, if given.
pub(super) fn parts(
    scenario: &Scenario,
    log: Option<&Log>,
    chunks: Option<&Chunks>,
) -> Result<(Regions<FlowHosts>, Sampler), FieldError> {
    let built = Surroundings::new(scenario, log)?;
    let mut endpoints = Vec::new();
    let memory = HostMemory::new(scenario.tcp_metrics);
    let copied = scenario.plan().may_copy();
    for (flow, addresses) in scenario.flows_expanded().iter().zip(&built.addresses) {
        let base_rtt = built.flows[flow.id as usize].base_rtt;
        let random = random_of(scenario, flow);
        let first = scenario.plan().routes[flow.id as usize].forward.first();
        let small_queue =
            first.is_some_and(|link| scenario.plan().links[*link as usize].on.is_some());
        let init = TransportInit {
            flow: flow.spec,
            addresses: *addresses,
            base_rtt,
            small_queue,
            requests: false,
            copied,
            random,
            memory: memory.as_ref(),
            now: at(flow.spec.start),
        };
        let made = ends(&init, scenario.catalogue());
        let made = made.map_err(|error| within(flow, error))?;
        endpoints.extend(recorded(made, flow, scenario, log));
    }
    let place = Place { addresses: &built.addresses, memory: memory.as_ref(), chunks, log };
    let driver = Driver::new(scenario, &place)?;
    let routes = built.addresses.iter().map(|[there, back]| [there.route, back.route]);
    // Flows that begin in different regions share what hosts remember, and connections that come and
    // go begin anywhere: one region.
    let split = match memory.is_none() && driver.is_none() {
        true => built.net.regions(routes),
        false => built.net.one_region(),
    };
    let sockets = sockets(&built, &split);
    let applications = built.applications.into_iter().map(Some).collect();
    let mut hosts = shared_out(endpoints, applications, &sockets, split.count);
    hosts[0].arrivals = driver;
    let sampler = Sampler {
        warmup: Some(at(scenario.warmup)),
        interval: scenario.sample_interval,
        next: at(scenario.sample_interval),
        recorded_links: built.recorded_links,
        homes: Homes { edges: split.of_edge.clone(), sockets },
        flows: built.flows,
        recorder: match chunks {
            Some(chunks) => built.recorder.streaming(chunks),
            None => built.recorder,
        },
    };
    Ok((Regions::new(built.net, &split, hosts, log.is_some()), sampler))
}

/// The ends of a declared flow, with what records them.
fn recorded(
    made: [Box<dyn Endpoint>; 2],
    flow: &Flow<'_>,
    scenario: &Scenario,
    log: Option<&Log>,
) -> [Box<dyn Endpoint>; 2] {
    let captured = Captured::of(flow.id as usize, scenario, log);
    let told = Told::of(flow, scenario, log);
    recorded::ends(made, (flow.id, flow.spec, false), told, captured.as_ref())
}

/// Region of each socket.
fn sockets(built: &Surroundings, split: &Split) -> Vec<usize> {
    let ends = |route| built.net.ends(route).unwrap_or_default();
    let homes = |addresses: &[Address; 2]| ends(addresses[0].route).map(|node| split.of_node[node]);
    match split.count {
        1 => vec![0; 2 * built.addresses.len()],
        _ => built.addresses.iter().flat_map(homes).collect(),
    }
}

/// Gives each region its sockets and applications.
fn shared_out(
    endpoints: Vec<Box<dyn Endpoint>>,
    applications: Vec<Option<Application>>,
    homes: &[usize],
    regions: usize,
) -> Vec<FlowHosts> {
    let empty = || FlowHosts {
        endpoints: endpoints.iter().map(|_| Box::new(Elsewhere) as Box<dyn Endpoint>).collect(),
        applications: applications.iter().map(|_| None).collect(),
        alarms: vec![Alarm::default(); endpoints.len()],
        declared: endpoints.len(),
        arrivals: None,
    };
    let mut hosts: Vec<_> = (0..regions).map(|_| empty()).collect();
    for (socket, endpoint) in endpoints.into_iter().enumerate() {
        hosts[homes[socket]].endpoints[socket] = endpoint;
    }
    for (flow, application) in applications.into_iter().enumerate() {
        hosts[homes[2 * flow]].applications[flow] = application;
    }
    hosts
}

fn random_of(scenario: &Scenario, flow: &Flow<'_>) -> StreamKey {
    StreamKey::root(scenario.seed).child("flow").index(flow.id.into())
}

fn within(flow: &Flow<'_>, error: FieldError) -> FieldError {
    error.within(&format!("flows.{}", flow.entry))
}

/// The network of a plan, and the addresses of each flow's packets, there and back.
fn network(
    scenario: &Scenario,
    mut links: Vec<BuiltLink>,
    given: &Given,
    log: Option<&Log>,
) -> Result<(Network, Vec<[Address; 2]>), FieldError> {
    let plan = scenario.plan();
    let mut net = net::Builder::new();
    if let Some(log) = log {
        net.record(log.clone());
    }
    for (index, node) in plan.nodes.iter().enumerate() {
        let within = |error: FieldError| error.within(&format!("topology.nodes.{index}"));
        let random = StreamKey::root(scenario.seed).child("node").child(&node.name);
        let init = NodeInit { random, number: index as u16, given: given.clone() };
        net.node(&node.name, behaviour(node, &init, scenario.catalogue()).map_err(within)?);
        net.name_counters(index, counters(node, scenario.catalogue()))?;
    }
    // A route may leave from either of two merged nodes.
    let place = |node: u16| Some(usize::from(node)).filter(|node| !plan.nodes[*node].merged);
    let media = media(scenario, &mut links, &mut net, log)?;
    for (planned, built) in plan.links.iter().zip(links) {
        let ends = planned.ends.map(|end| end.and_then(place));
        let shared = planned.on.as_ref().and_then(|(id, _)| media.get(id));
        let added = match (shared, built.link, built.tap) {
            (Some(medium), ..) => net.channel(&planned.id, ends, *medium),
            (None, Some(link), Some(tap)) => {
                let medium = net.medium(Box::new(RecordedLink::new(link, tap)));
                net.channel(&planned.id, ends, medium)
            }
            (None, Some(link), None) => net.link(&planned.id, ends, link),
            (None, None, _) => continue,
        };
        added.map_err(|e| e.within("topology"))?;
    }
    let addresses = addresses(scenario, &mut net)?;
    Ok((net.build(), addresses))
}

/// Behaviour of a node.
fn behaviour(
    node: &PlannedNode,
    init: &NodeInit,
    catalogue: &Catalogue,
) -> Result<Behaviour, FieldError> {
    let Some(kind) = &node.kind else { return Ok(Behaviour::Plain) };
    (catalogue.find::<Node>(&kind.kind)?.make)(&kind.params, init, catalogue)
}

/// Names of the counters of a node's kind.
fn counters(node: &PlannedNode, catalogue: &Catalogue) -> &'static [&'static str] {
    let entry = node.kind.as_ref().and_then(|kind| catalogue.find::<Node>(&kind.kind).ok());
    entry.map(|entry| entry.facts.counters).unwrap_or_default()
}

fn at(span: Span) -> Time {
    Time::ZERO + span
}

fn flow_facts(scenario: &Scenario, flows: &[Flow<'_>]) -> Result<Vec<FlowFacts>, FieldError> {
    let facts = |flow: &Flow<'_>| {
        let spec = flow.spec;
        let transport = scenario.catalogue().find::<Transport>(&spec.transport.kind)?;
        Ok(FlowFacts {
            base_rtt: scenario.plan().base_rtt(flow.id as usize),
            mss: spec.mss,
            full_packet: spec.mss + transport.facts.headers,
            start: at(spec.start),
            stop: at(spec.stop.unwrap_or(scenario.duration)),
        })
    };
    flows.iter().map(facts).collect()
}

fn application(
    flow: &Flow<'_>,
    random: StreamKey,
    catalogue: &Catalogue,
) -> Result<Application, FieldError> {
    let spec = &flow.spec.traffic;
    let source = catalogue
        .find::<Traffic>(&spec.kind)
        .and_then(|entry| (entry.make)(&spec.params, catalogue))
        .map_err(|e| e.within("traffic"))?;
    Ok(Application::new(source, random.child("traffic").stream()))
}
