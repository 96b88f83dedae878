//! Traffic of any command through the scenario's network.

use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sojourn_base::error::FieldError;
use sojourn_base::units::Time;
use sojourn_net::net::Network;
use sojourn_net::node;
use sojourn_net::record::Outcome;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Surroundings;
use sojourn_sim::spec::Controls;

use crate::background::{Live, Progress};
use crate::bpf::Registered;
use crate::check::check_programs;
use crate::clock::Clock;
use crate::controls::{kernel_controls, kernel_name, no_control, tcp_ecn};
use crate::drive::Loop;
use crate::error::{Error, failed};
use crate::external::{External, SERVERS};
use crate::flows::mtu;
use crate::namespace::{self, RECEIVERS, SENDERS};
use crate::punctual::Awake;
use crate::quality::{Processors, Quality};
use crate::sys::{as_shell, confine};

/// Interval between checks whether the command has ended.
const PATIENCE: Duration = Duration::from_millis(5);
/// Ctrl-C reaches the command as well as this process: time that the command has to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// The side whose data crosses the scenario's forward path, with its bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// Data of the connecting side crosses it.
    Upload,
    /// Data sent back to that side crosses it.
    Download,
}

impl Bottleneck {
    /// A pair of values of the forward and the reverse path, ordered by the side that sends on it.
    fn by_side<T>(self, [there, back]: [T; 2]) -> [T; 2] {
        match self {
            Bottleneck::Upload => [there, back],
            Bottleneck::Download => [back, there],
        }
    }
}

/// Result of a command's run.
pub struct Commanded {
    /// Outcome as of any run; one flow per connection and side that sent data.
    pub outcome: Outcome,
    /// Names and paths of the flows.
    pub flows: Vec<Named>,
    /// Bytes that the command's programs exchanged outside the scenario's network.
    pub loopback_bytes: u64,
    /// Quality of the measurement.
    pub quality: Quality,
    /// The command's exit status, as a shell returns it.
    pub status: i32,
}

/// A flow of a command.
pub struct Named {
    /// Transport, source port and destination port.
    pub label: String,
    /// The recorded links on its path, as indices.
    pub path: Vec<u32>,
}

impl Live<Commanded> {
    /// Runs a command in a namespace whose traffic to `SOJOURN_RECEIVER` passes the network of a
    /// scenario and returns to the same namespace.
    pub fn command(scenario: &Scenario, line: Vec<String>, bottleneck: Bottleneck) -> Self {
        let scenario = scenario.clone();
        let end = Time::ZERO + scenario.duration;
        Live::new(end, move |stop, progress| run(&scenario, &line, bottleneck, &stop, progress))
    }
}

fn run(
    scenario: &Scenario,
    line: &[String],
    bottleneck: Bottleneck,
    stop: &AtomicBool,
    progress: &Progress,
) -> Result<Commanded, Error> {
    check_programs(scenario)?;
    if !scenario.arrivals.is_empty() {
        let message = "given; the traffic is the command's own: leave it out";
        return Err(FieldError::new("arrivals", message).into());
    }
    if !scenario.record.is_empty() {
        let message = "given; of a command's traffic there are samples only: leave it out";
        return Err(FieldError::new("record", message).into());
    }
    let _registered = Registered::of(scenario)?;
    let surroundings = Surroundings::new(scenario, None)?;
    let Surroundings { mut net, addresses, flows, recorded_links, .. } = surroundings;
    let devices = prepare(scenario, mtu(&flows, &[]))?;
    let first = addresses.first().zip(flows.first());
    let (route, facts) =
        first.ok_or_else(|| FieldError::new("flows", "is empty; give one flow"))?;
    let ways = bottleneck.by_side(*route);
    let tap = External::new(ways, *facts, recorded_links, scenario.sample_interval);
    tap.start(&mut net, scenario.warmup);
    let (processors, _awake) = (Processors::now(), Awake::keep());
    let child = start(line)?;
    let clock = Clock::start();
    progress.at(clock);
    let mut driver = Loop::new(clock, devices.into(), tap);
    let status = accompany(child, &mut driver, &mut net, stop)?;
    net.advance(clock.now(), &mut driver)?; // the loop may have slept when the command ended
    let unread = failed("reading the devices' counters");
    let drops = namespace::device_drops().map_err(&unread)?;
    let loopback_bytes = namespace::loopback_bytes().map_err(&unread)?;
    let (tap, timing) = driver.finish();
    let quality = Quality::judge(&timing, drops, &processors);
    let (outcome, labels) = tap.outcome(&mut net, &node::counters(scenario.catalogue()))?;
    let paths = bottleneck.by_side(paths(scenario, recorded_links));
    let named = |(side, label): (usize, String)| Named { label, path: paths[side].clone() };
    let flows = labels.into_iter().map(named).collect();
    Ok(Commanded { outcome, flows, loopback_bytes, quality, status: as_shell(status) })
}

/// Drives the network until the command has ended; returns its exit status.
fn accompany(
    child: Child,
    driver: &mut Loop<External>,
    net: &mut Network,
    stop: &AtomicBool,
) -> Result<ExitStatus, Error> {
    let ended = AtomicBool::new(false);
    let (status, driven) = std::thread::scope(|threads| {
        let driving = threads.spawn(|| driver.run(net, Time::NEVER, &ended));
        let status = wait(child, stop);
        ended.store(true, Ordering::Relaxed);
        (status, driving.join())
    });
    driven.unwrap_or_else(|_| Err(Error::System("live run: its loop failed".to_owned())))?;
    status.map_err(failed("waiting for the command"))
}

/// The recorded links, which are the first ones, on the first flow's path there and back.
fn paths(scenario: &Scenario, recorded: usize) -> [Vec<u32>; 2] {
    let route = &scenario.plan().routes[0];
    [&route.forward, &route.backward]
        .map(|links| links.iter().copied().filter(|link| (*link as usize) < recorded).collect())
}

/// Enters a namespace with both devices, whose connections use the first flow's control and ECN.
fn prepare(scenario: &Scenario, mtu: u32) -> Result<[std::os::fd::OwnedFd; 2], Error> {
    namespace::enter()?;
    namespace::loopback().map_err(failed("setting up lo"))?;
    let flow = &scenario.flows[0];
    if let Some(cca) = flow.cca.as_ref().and_then(Controls::only) {
        prefer(kernel_name(cca))?;
    }
    if let Some(value) = tcp_ecn(flow.ecn.unwrap_or_default()) {
        namespace::set("ipv4/tcp_ecn", value).map_err(failed("setting tcp_ecn"))?;
    }
    let second = format!("{}1", namespace::DEVICE);
    let senders = namespace::device(namespace::DEVICE, SENDERS, mtu)?;
    Ok([senders, namespace::device(&second, SERVERS, mtu)?])
}

/// Makes a control the namespace's default. The kernel refuses some of its controls, unless the
/// whole machine allows them to all users; programs choose those themselves.
fn prefer(control: &str) -> Result<(), Error> {
    match namespace::set("ipv4/tcp_congestion_control", control) {
        Err(_) if !kernel_controls().iter().any(|known| known == control) => {
            Err(no_control("flows.0", control).into())
        }
        _ => Ok(()),
    }
}

fn start(line: &[String]) -> Result<Child, Error> {
    let refused = |what: String| Error::Refused(FieldError::new("COMMAND", what));
    let [program, arguments @ ..] = line else {
        return Err(refused("is missing; give a program, with its arguments".to_owned()));
    };
    let receiver = RECEIVERS.map(|byte| byte.to_string()).join(".");
    let mut command = Command::new(program);
    command.args(arguments).env("SOJOURN_RECEIVER", receiver);
    confine(&mut command);
    command.spawn().map_err(|error| refused(format!("{program}: cannot be run: {error}")))
}

/// Waits for the command; if the run is told to stop, the command is ended soon.
fn wait(mut child: Child, stop: &AtomicBool) -> std::io::Result<ExitStatus> {
    let mut grace = GRACE;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) {
            grace = grace.saturating_sub(PATIENCE);
            if grace.is_zero() {
                child.kill()?;
            }
        }
        std::thread::sleep(PATIENCE);
    }
}
