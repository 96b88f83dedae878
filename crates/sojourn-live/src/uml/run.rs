//! A run of a scenario on a kernel in virtual time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sojourn_base::error::FieldError;
use sojourn_base::units::Time;
use sojourn_net::queue::kernel::with_gates;
use sojourn_net::record::Outcome;
use sojourn_net::record::live::Sink;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::{Surroundings, arrivals};
use sojourn_sim::spec::Controls;

use super::bottlenecks::Bottlenecks;
use super::drive::Virtual;
use super::guest::{Image, Wanted};
use super::machine::Machine;
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
use crate::transfers::Transfers;

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
        check(scenario)?;
        check_controls(scenario)?;
        routers::links(scenario)?;
        let end = Time::ZERO + scenario.duration;
        let scenario = scenario.clone();
        Ok(Live::new(end, move |stop, progress| {
            run(&scenario, text, &image, sink, (&stop, progress))
        }))
    }
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

fn run(
    scenario: &Scenario,
    text: String,
    image: &Image,
    sink: Option<Sink>,
    (stop, progress): (&Arc<AtomicBool>, &Progress),
) -> Result<Outcome, Error> {
    let record = Record::new(scenario, sink, &HostTable::default());
    let (surroundings, gates) = with_gates(|| Surroundings::new(scenario, record.log()));
    let Surroundings { mut net, addresses, flows, recorder, recorded_links, .. } = surroundings?;
    let bottlenecks = Bottlenecks::new(gates, &routers::links(scenario)?, &net);
    let sender = |tcp| match tcp {
        true => Sender { connection: Connection::Reported, ..Sender::default() },
        false => Sender::default(),
    };
    let senders = scenario.flows_expanded().iter().map(|flow| sender(is_tcp(flow))).collect();
    let recording = (recorder, recorded_links, scenario.sample_interval);
    let (entries, end) = (arrivals::entries(scenario, &addresses)?, Time::ZERO + scenario.duration);
    let transfers = (!entries.is_empty()).then(|| Transfers::new(entries, end, None));
    let flows = Flows::new(addresses, senders, flows, transfers, recording).recorded(&record);
    flows.start(&mut net, scenario.warmup);
    let sending = Sending::new(scenario);
    let cards = HOSTS + bottlenecks.cards();
    let wanted = Wanted { cards, late: sending.takes_time(), seed: scenario.seed };
    let _processor = Processor::take();
    let machine = Machine::start(image, wanted, stop)?;
    let passed = (record.border(), bottlenecks, sending);
    let mut driver = Virtual::new(machine, flows, passed, text);
    driver.run(&mut net, end, stop, progress)?;
    let outcome = driver.finish().outcome(&mut net)?;
    record.finish();
    Ok(outcome)
}
