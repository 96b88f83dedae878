//! Construction of a simulation from a scenario.

use crate::endpoint::Endpoint;
use crate::error::FieldError;
use crate::net::{Alarm, Network, Regions, Split};
use crate::node;
use crate::packet::Address;
use crate::record::live::Log;
use crate::record::{Chunks, FlowFacts, Recorder};
use crate::registry::Catalogue;
use crate::rng::StreamKey;
use crate::scenario::Scenario;
use crate::section::Gift;
use crate::sim::application::Application;
use crate::sim::arrivals::{Driver, Place};
use crate::sim::hosts::{Elsewhere, FlowHosts};
use crate::sim::recorded::{self, Captured, Told};
use crate::sim::sampler::{Homes, Sampler};
use crate::spec::{Flow, Traffic, Transport};
use crate::tcp::HostMemory;
use crate::transport::TransportInit;
use crate::units::{Span, Time};

mod addresses;
mod ends;
mod links;
mod media;
mod network;

use ends::ends;
use links::links;
use network::network;

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
        let Ground { net, addresses, applications, flows } =
            ground(scenario, &scenario.gift()?, log)?;
        let recorded_links = scenario.plan().links.iter().filter(|link| link.recorded).count();
        let interval = scenario.sample_interval.as_nanos().max(1);
        let intervals = (scenario.duration.as_nanos() / interval + 1) as usize;
        let nodes = net.sample_nodes().count();
        let counters = node::counters(scenario.catalogue());
        let recorder = Recorder::new([flows.len(), recorded_links, nodes], &counters, intervals);
        Ok(Surroundings { net, addresses, applications, flows, recorder, recorded_links })
    }
}

/// What a run stands on, whatever records it.
pub(super) struct Ground {
    /// The network, at time zero.
    pub net: Network,
    /// Addresses of packets, as in [`Surroundings`].
    pub addresses: Vec<[Address; 2]>,
    /// Application of each flow.
    pub applications: Vec<Application>,
    /// Static facts about each flow.
    pub flows: Vec<FlowFacts>,
}

/// Builds the network and the applications, whose nodes and flows get `gift`.
pub(super) fn ground(
    scenario: &Scenario,
    gift: &Gift,
    log: Option<&Log>,
) -> Result<Ground, FieldError> {
    let expanded = scenario.flows_expanded();
    let paths = scenario.paths();
    let mut flows = flow_facts(scenario, &paths)?;
    let links = links(scenario, &paths, &flows, log)?;
    flows.truncate(expanded.len());
    if let Some((capture, datagrams)) = log.and_then(Log::capture).zip(gift.datagrams.clone()) {
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
    Ok(Ground { net, addresses, applications, flows })
}

/// Refuses a scenario with programs.
pub(super) fn refuse_programs(scenario: &Scenario) -> Result<(), FieldError> {
    if scenario.programs.is_empty() {
        return Ok(());
    }
    let message = "given; only a kernel in virtual time runs them: use --backend kernel";
    Err(FieldError::new("programs", message))
}

/// Builds all parts of the simulation; tables grow no longer than `chunks` says, if given.
pub(super) fn parts(
    scenario: &Scenario,
    log: Option<&Log>,
    chunks: Option<&Chunks>,
) -> Result<(Regions<FlowHosts>, Sampler), FieldError> {
    let built = Surroundings::new(scenario, log)?;
    let memory = HostMemory::new(scenario.tcp_metrics);
    let endpoints = endpoints(scenario, &built.addresses, &built.flows, memory.as_ref(), log)?;
    let place = Place { addresses: &built.addresses, memory: memory.as_ref(), chunks, log };
    let driver = Driver::new(scenario, &place)?;
    let routes = built.addresses.iter().map(|[there, back]| [there.route, back.route]);
    // Flows that begin in different regions share what hosts remember, and connections that come and
    // go begin anywhere: one region.
    let split = match memory.is_none() && driver.is_none() {
        true => built.net.regions(routes),
        false => built.net.one_region(),
    };
    let sockets = sockets(&built.net, &built.addresses, &split);
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

/// The ends of all declared flows, with what records them.
pub(super) fn endpoints(
    scenario: &Scenario,
    addresses: &[[Address; 2]],
    facts: &[FlowFacts],
    memory: Option<&HostMemory>,
    log: Option<&Log>,
) -> Result<Vec<Box<dyn Endpoint>>, FieldError> {
    let mut endpoints = Vec::new();
    let copied = scenario.plan().may_copy();
    for (flow, addresses) in scenario.flows_expanded().iter().zip(addresses) {
        let first = scenario.plan().routes[flow.id as usize].forward.first();
        let small_queue =
            first.is_some_and(|link| scenario.plan().links[*link as usize].on.is_some());
        let init = TransportInit {
            flow: flow.spec,
            addresses: *addresses,
            base_rtt: facts[flow.id as usize].base_rtt,
            small_queue,
            requests: false,
            copied,
            random: random_of(scenario, flow),
            memory,
            now: at(flow.spec.start),
        };
        let made = ends(&init, scenario.catalogue());
        let made = made.map_err(|error| within(flow, error))?;
        endpoints.extend(recorded(made, flow, scenario, log));
    }
    Ok(endpoints)
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
pub(super) fn sockets(net: &Network, addresses: &[[Address; 2]], split: &Split) -> Vec<usize> {
    let ends = |route| net.ends(route).unwrap_or_default();
    let homes = |addresses: &[Address; 2]| ends(addresses[0].route).map(|node| split.of_node[node]);
    match split.count {
        1 => vec![0; 2 * addresses.len()],
        _ => addresses.iter().flat_map(homes).collect(),
    }
}

/// Gives each region its sockets and applications.
pub(super) fn shared_out(
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
