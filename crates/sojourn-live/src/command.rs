//! Any program's traffic through the scenario's network.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sojourn_core::error::FieldError;
use sojourn_core::record::Outcome;
use sojourn_core::scenario::Scenario;
use sojourn_core::sim::Surroundings;
use sojourn_core::spec::Controls;
use sojourn_core::units::Time;

use crate::background::{Begun, Live};
use crate::bpf::{Registered, kernel_name};
use crate::check::{kernel_controls, no_control, tcp_ecn};
use crate::clock::Clock;
use crate::drive::Loop;
use crate::error::{Error, failed};
use crate::foreign::{Foreign, SERVERS};
use crate::namespace::{self, RECEIVERS, SENDERS};
use crate::punctual::Awake;
use crate::quality::{Processors, Quality};
use crate::run::mtu;
use crate::sys::die_with_parent;

/// Between two looks whether the command has ended.
const PATIENCE: Duration = Duration::from_millis(5);

/// What a command's run gives.
pub struct Commanded {
    /// As of any run; one flow per connection.
    pub outcome: Outcome,
    /// The name of each flow: its transport and ports.
    pub flows: Vec<String>,
    /// How far it can be trusted.
    pub quality: Quality,
    /// The command's exit status, as a shell gives it.
    pub status: i32,
}

impl Live<Commanded> {
    /// Runs a command in a namespace whose traffic to `SOJOURN_RECEIVER` goes through the network of
    /// a scenario and comes back to the same namespace.
    pub fn command(scenario: &Scenario, line: Vec<String>) -> Self {
        let scenario = scenario.clone();
        let end = Time::ZERO + scenario.duration;
        Live::new(end, move |stop, begun| run(&scenario, &line, &stop, begun))
    }
}

fn run(
    scenario: &Scenario,
    line: &[String],
    stop: &Arc<AtomicBool>,
    begun: &Begun,
) -> Result<Commanded, Error> {
    let _registered = Registered::of(scenario)?;
    let surroundings = Surroundings::new(scenario, None)?;
    let Surroundings { mut net, addresses, flows, recorded_links, .. } = surroundings;
    let devices = prepare(scenario, mtu(&flows))?;
    let first = addresses.first().zip(flows.first());
    let (route, facts) = first.ok_or_else(|| FieldError::new("flows", "a run needs one"))?;
    let tap = Foreign::new(*route, *facts, recorded_links, scenario.sample_interval);
    tap.start(&mut net, scenario.warmup);
    let (processors, _awake) = (Processors::now(), Awake::keep());
    let child = start(line)?;
    let clock = Clock::start();
    begun.at(clock);
    let mut driver = Loop::new(clock, devices, tap);
    let ended = Arc::new(AtomicBool::new(false));
    let (status, driven) = std::thread::scope(|threads| {
        let told = Arc::clone(&ended);
        let (driver, net) = (&mut driver, &mut net);
        let driving = threads.spawn(move || driver.run(net, Time::NEVER, &told));
        let status = wait(child, stop);
        ended.store(true, Ordering::Relaxed);
        (status, driving.join())
    });
    let drops = namespace::device_drops().map_err(failed("reading the devices' counters"))?;
    driven.unwrap_or_else(|_| Err(Error::System("live run: its loop failed".to_owned())))?;
    let status = status.map_err(failed("waiting for the command"))?;
    let (tap, timing) = driver.finish();
    let quality = Quality::judge(&timing, drops, &processors);
    let (outcome, flows) = tap.outcome(&mut net)?;
    Ok(Commanded { outcome, flows, quality, status: as_shell(status) })
}

/// Enters a namespace with both devices, whose connections have the first flow's control and ECN.
fn prepare(scenario: &Scenario, mtu: u32) -> Result<[std::os::fd::OwnedFd; 2], Error> {
    namespace::enter()?;
    namespace::loopback().map_err(failed("setting up lo"))?;
    let flow = &scenario.flows[0];
    if let Some(cca) = flow.cca.as_ref().and_then(Controls::only) {
        prefer(kernel_name(cca))?;
    }
    if let Some(value) = tcp_ecn(flow.ecn.unwrap_or_default()).filter(|value| *value != "0") {
        namespace::set("ipv4/tcp_ecn", value).map_err(failed("setting tcp_ecn"))?;
    }
    let second = format!("{}1", namespace::DEVICE);
    let senders = namespace::device(namespace::DEVICE, SENDERS, mtu)?;
    Ok([senders, namespace::device(&second, SERVERS, mtu)?])
}

/// Makes a control the namespace's default. The kernel refuses some that it has, unless the whole
/// machine allows them to everybody; programs choose those themselves.
fn prefer(control: &str) -> Result<(), Error> {
    match namespace::set("ipv4/tcp_congestion_control", control) {
        Err(_) if !kernel_controls().iter().any(|known| known == control) => {
            Err(no_control(0, control).into())
        }
        _ => Ok(()),
    }
}

fn start(line: &[String]) -> Result<Child, Error> {
    let refused = |what: String| Error::Refused(FieldError::new("COMMAND", what));
    let [program, arguments @ ..] = line else {
        return Err(refused("give what is to be run".to_owned()));
    };
    let receiver = RECEIVERS.map(|byte| byte.to_string()).join(".");
    let mut command = Command::new(program);
    command.args(arguments).env("SOJOURN_RECEIVER", receiver);
    die_with_parent(&mut command);
    command.spawn().map_err(|error| refused(format!("{program}: cannot be run: {error}")))
}

/// Waits for the command; ends it if the run is to stop.
fn wait(mut child: Child, stop: &AtomicBool) -> std::io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) {
            child.kill()?;
        }
        std::thread::sleep(PATIENCE);
    }
}

fn as_shell(status: ExitStatus) -> i32 {
    const SIGNALLED: i32 = 128;
    status.code().unwrap_or_else(|| SIGNALLED + status.signal().unwrap_or_default())
}
