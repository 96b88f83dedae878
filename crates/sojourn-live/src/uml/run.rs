//! A run of a scenario on a kernel in virtual time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sojourn_base::error::FieldError;
use sojourn_base::packet::Address;
use sojourn_base::units::{Span, Time};
use sojourn_net::net::Network;
use sojourn_net::node;
use sojourn_net::queue::kernel::with_gates;
use sojourn_net::record::live::Sink;
use sojourn_net::record::{FlowFacts, Outcome, Recorder};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::{Surroundings, arrivals};
use sojourn_sim::spec::Controls;

use super::arguments::{Asked, Image, Wanted};
use super::bottlenecks::Bottlenecks;
use super::doings::Doings;
use super::drive::Virtual;
use super::machine::Machine;
use super::place::description;
use super::processors::Processor;
use super::sending::Sending;
use super::{HOSTS, routers};
use crate::background::{Live, Progress};
use crate::check::check;
use crate::error::Error;
use crate::flows::{Connection, Flows, Sender};
use crate::hosts::HostTable;
use crate::recorded::Record;
use crate::sockets::is_tcp;
use crate::traffic::Traffic;
use crate::transfers::Transfers;
use crate::watched::Watched;

impl Live<Outcome> {
    /// Starts a run of a scenario on a kernel in virtual time; `text` is the scenario as it was
    /// read. `sink`, if given, receives the records that it asks for.
    ///
    /// # Errors If such a run does not support the scenario.
    pub fn on_kernel(
        scenario: &Scenario,
        text: String,
        image: Image,
        sink: Option<Sink>,
    ) -> Result<Self, Error> {
        if !scenario.programs.is_empty() {
            let message = "given; a run of flows alone has none: leave them out";
            return Err(FieldError::new("programs", message).into());
        }
        check_all(scenario)?;
        let end = Time::ZERO + scenario.duration;
        let scenario = scenario.clone();
        Ok(Live::new(end, move |stop, progress| {
            run(&scenario, &text, &image, sink, (&stop, progress))
        }))
    }
}

/// Checks that a kernel in virtual time supports what the scenario asks for.
///
/// # Errors Names the field, and the supported values.
pub(super) fn check_all(scenario: &Scenario) -> Result<(), FieldError> {
    check(scenario)?;
    check_controls(scenario)?;
    routers::links(scenario).map(drop)
}

/// Controls of the kernels that `sojourn kernel build` makes.
const CONTROLS: [&str; 17] = [
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

/// Checks that the kernel has the flows' controls: no external ones, which it could not load.
fn check_controls(scenario: &Scenario) -> Result<(), FieldError> {
    for flow in scenario.paths() {
        let control = flow.spec.cca.as_ref().and_then(Controls::only);
        if let Some(cca) = control.filter(|cca| !CONTROLS.contains(&cca.kind.as_str())) {
            let there = CONTROLS.join(", ");
            let message = format!("'{}' given; a kernel in virtual time has: {there}", cca.kind);
            return Err(FieldError::new(format!("{}.cca", flow.field()), message));
        }
    }
    Ok(())
}

/// What is run on a kernel.
pub(super) struct Setup<'a> {
    pub scenario: &'a Scenario,
    /// What the agent is told.
    pub description: String,
    pub image: &'a Image,
    pub record: &'a Record,
    /// The hosts of programs, and what these ask of the kernel and do, if there are any.
    pub hosts: &'a HostTable,
    pub programs: Option<(Asked, Doings)>,
}

/// A kernel that has been started, and its network.
pub(super) struct Prepared {
    pub net: Network,
    pub driver: Virtual,
    /// Where it runs.
    pub processor: Option<Processor>,
}

/// Starts a kernel, and makes the network at whose ends it is.
///
/// # Errors
/// If the kernel does not start.
pub(super) fn prepare(setup: Setup<'_>, stop: &AtomicBool) -> Result<Prepared, Error> {
    let Setup { scenario, description, image, record, hosts, programs } = setup;
    let (surroundings, gates) = with_gates(|| Surroundings::new(scenario, record.log()));
    let Surroundings { mut net, addresses, flows, recorder, recorded_links, .. } = surroundings?;
    let first = HOSTS + hosts.hosts.len();
    let bottlenecks = Bottlenecks::new(gates, &routers::links(scenario)?, &net, first);
    let traffic = programs.is_some().then(|| Traffic::new(hosts.clone(), &addresses));
    let recording = (recorder, recorded_links, scenario.sample_interval);
    let flows = watched_flows(scenario, (addresses, flows), recording)?.recorded(record);
    let watched = match traffic {
        Some(traffic) => Watched::new(flows, traffic, scenario.plan()),
        None => Watched::flows_only(flows),
    };
    watched.start(&mut net, scenario.warmup);
    let sending = Sending::new(scenario);
    let (asked, doings) = programs.unzip();
    let wanted = Wanted {
        cards: bottlenecks.cards(),
        late: sending.takes_time(),
        seed: scenario.seed,
        programs: asked,
    };
    let processor = Processor::take();
    let machine = Machine::start(image, wanted, stop)?;
    let passed = (record.border(), bottlenecks, sending);
    let driver = Virtual::new(machine, (watched, doings), passed, description);
    Ok(Prepared { net, driver, processor })
}

/// The scenario's own flows and transfers, as they are watched.
fn watched_flows(
    scenario: &Scenario,
    (addresses, facts): (Vec<[Address; 2]>, Vec<FlowFacts>),
    recording: (Recorder, usize, Span),
) -> Result<Flows, Error> {
    let sender = |tcp| match tcp {
        true => Sender { connection: Connection::Reported, ..Sender::default() },
        false => Sender::default(),
    };
    let senders = scenario.flows_expanded().iter().map(|flow| sender(is_tcp(flow))).collect();
    let entries = arrivals::entries(scenario, &addresses)?;
    let transfers = (!entries.is_empty()).then(|| Transfers::new(entries, None));
    Ok(Flows::new(addresses, senders, facts, transfers, recording))
}

fn run(
    scenario: &Scenario,
    text: &str,
    image: &Image,
    sink: Option<Sink>,
    (stop, progress): (&Arc<AtomicBool>, &Progress),
) -> Result<Outcome, Error> {
    let hosts = HostTable::default();
    let record = Record::new(scenario, sink, &hosts);
    let setup = Setup {
        scenario,
        description: description(text, None),
        image,
        record: &record,
        hosts: &hosts,
        programs: None,
    };
    let Prepared { mut net, mut driver, processor: _processor } = prepare(setup, stop)?;
    driver.run(&mut net, Time::ZERO + scenario.duration, stop, progress)?;
    let (watched, _) = driver.finish();
    let (outcome, _) = watched.outcome(&mut net, &node::counters(scenario.catalogue()))?;
    record.finish();
    Ok(outcome)
}
