//! Nodes of an overlay, each in a thread and a network namespace of its own, joined by the links of
//! their scenario.
//!
//! ```text
//! a member's namespace             this process                  another member's
//! its sockets -> TUN device -> Loop -> the link between -> Loop -> TUN device -> sockets
//! ```
//!
//! The links are the network's; hosts, proxies and queues are the members', which drive their parts of
//! the scenario by the same clock. Flows that no member carries are simulated on the same links. A
//! datagram's seal is not counted by the links, so that they carry
//! what they carry in a simulation.

mod between;
mod came;
mod driven;
mod places;
mod rows;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Instant;

use sojourn_base::error::FieldError;
use sojourn_base::units::Time;
use sojourn_net::record::Outcome;
use sojourn_net::record::live::Sink;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::{Part, Surroundings, Uncarried};
use sojourn_sim::spec::Recorded;

use crate::background::{Live, Progress};
use crate::clock::Clock;
use crate::drive::Loop;
use crate::error::Error;
use crate::punctual::Awake;
use crate::quality::{Processors, Quality};
use crate::recorded::Record;
use between::Between;
use driven::{Driven, Ended, Setting};

/// The port of each member.
const PORT: u16 = 7100;
/// The network of all addresses.
const NETWORK: [u8; 3] = [10, 78, 0];
/// As many members have addresses in it.
const MOST: usize = 254;
/// What can be recorded of the links between members.
const RECORDED: [Recorded; 3] = [Recorded::Queue, Recorded::Packets, Recorded::Pcap];

/// A node, in the thread that drives it.
pub trait Member {
    /// Its time zero was at that instant.
    fn begin(&mut self, at: Instant);

    /// Its part of the scenario.
    fn part(&mut self) -> &mut Part;

    /// Takes what has come, does all up to `now`, and sends what is to be sent; whether more may have
    /// come.
    ///
    /// # Errors
    /// Why it cannot go on.
    fn turn(&mut self, now: Time) -> Result<bool, Error>;

    /// Waits until there is something to do, at most until then; if `more` may have come, hardly.
    ///
    /// # Errors
    /// If the system cannot wait.
    fn rest(&mut self, more: bool, until: Time) -> Result<(), Error>;
}

/// Makes a member in the calling thread, whose network has the member's address.
pub type Join = Box<dyn FnOnce(&Scenario) -> Result<Box<dyn Member>, Error> + Send>;

/// The members of a scenario.
pub struct Members {
    /// Their names, in the order of the nodes.
    pub names: Vec<String>,
    /// Makes each; its address is that of [`address`].
    pub joins: Vec<Join>,
    /// Bytes by which their datagrams are longer than those of simulated nodes.
    pub sealing: u32,
}

/// Where the member at this place among all listens.
pub fn address(place: usize) -> SocketAddr {
    (Ipv4Addr::from(host(place)), PORT).into()
}

fn host(place: usize) -> [u8; 4] {
    let [one, two, three] = NETWORK;
    [one, two, three, place as u8 + 1]
}

/// Refuses a scenario of which not all that is active are members, or of which more is to be recorded
/// than what happens on links.
///
/// # Errors
/// Names the field, and the remedy.
pub fn check(scenario: &Scenario, members: &[String]) -> Result<(), FieldError> {
    let refused = |field: &str, message: String| Err(FieldError::new(field, message));
    let nodes = &scenario.plan().nodes;
    if members.is_empty() {
        let message = "has no overlay node, which is what runs here; give nodes kind = \"overlay\", \
                       or use --backend sim";
        return refused("topology.nodes", message.to_owned());
    }
    if members.len() > MOST {
        let message = format!("{} overlay nodes given; allowed: {MOST}", members.len());
        return refused("topology.nodes", message);
    }
    let other = nodes.iter().find(|node| node.kind.is_some() && !members.contains(&node.name));
    if let Some(other) = other {
        let message = format!(
            "'{}' is an active node, but no overlay node; give it kind = \"overlay\" or none, or \
             use --backend sim",
            other.name
        );
        return refused("topology.nodes", message);
    }
    if let Some(kind) = scenario.record.iter().find(|kind| !RECORDED.contains(kind)) {
        let there = RECORDED.map(Recorded::name).join(", ");
        let message = format!(
            "{} given; of the links between nodes that run by themselves there are: {there}; leave \
             it out, or use --backend sim",
            kind.name()
        );
        return refused("record", message);
    }
    Ok(())
}

impl Live<(Outcome, Quality)> {
    /// Starts a run of a scenario, which has passed [`check`], on its members; `sink`, if given, receives
    /// the records that it asks for.
    pub fn overlay(scenario: &Scenario, members: Members, sink: Option<Sink>) -> Self {
        let end = Time::ZERO + scenario.duration;
        let scenario = scenario.clone();
        Live::new(end, move |stop, progress| {
            let record = Record::between_nodes(&scenario, sink);
            let done = run(&scenario, members, &record, (&stop, progress))?;
            record.finish();
            Ok(done)
        })
    }
}

/// A member's thread, which returns what it has when the run ends.
type Thread = JoinHandle<Result<Ended, Error>>;

/// Threads of all members, which wait for the run's clock.
struct Started {
    threads: Vec<Thread>,
    clocks: Vec<Sender<Clock>>,
    devices: Vec<std::os::fd::OwnedFd>,
}

fn run(
    scenario: &Scenario,
    members: Members,
    record: &Record,
    (stop, progress): (&Arc<AtomicBool>, &Progress),
) -> Result<(Outcome, Quality), Error> {
    let mut surroundings = Surroundings::new(scenario, record.log())?;
    let uncarried = Uncarried::new(scenario, &mut surroundings, record.log())?;
    let Surroundings { net, flows, recorder, recorded_links, .. } = surroundings;
    let (mut net, routes) = net.links_alone();
    let setting = Setting::of(scenario, flows.len(), members.names.len(), stop);
    let others = (uncarried, Arc::clone(&setting.rows), Arc::clone(&setting.came));
    let mut tap = Between::new(scenario, &members, &routes, others, (recorder, recorded_links));
    tap.start(&mut net, scenario, &flows);
    let Started { threads, clocks, devices } = start(&setting, members.joins)?;
    setting.places.hold_loop();
    let (processors, _awake) = (Processors::now(), Awake::keep());
    let clock = Clock::start();
    progress.at(clock);
    for start in clocks {
        let _ = start.send(clock); // one that has failed has told so
    }
    let mut driver = Loop::new(clock, devices, tap);
    let driven = driver.run(&mut net, Time::ZERO + scenario.duration, stop);
    if driven.is_err() {
        stop.store(true, Ordering::Relaxed);
    }
    let ended: Vec<Ended> = threads.into_iter().map(join).collect::<Result<_, Error>>()?;
    driven?;
    let (tap, mut timing) = driver.finish();
    timing.turns = ended.iter().filter_map(|member| member.lateness.percentile(0.99)).max();
    let drops = ended.iter().map(|member| member.drops).sum();
    let quality = Quality::judge(&timing, drops, &processors);
    let outcome = tap.outcome(&mut net, &flows, &ended)?;
    Ok((outcome, quality))
}

/// Starts the members' threads, each with this setting but for its own place.
fn start(setting: &Setting, joins: Vec<Join>) -> Result<Started, Error> {
    let mut started = Started { threads: Vec::new(), clocks: Vec::new(), devices: Vec::new() };
    for (place, join) in joins.into_iter().enumerate() {
        let setting = Setting { address: host(place), place, ..setting.clone() };
        let (ready, when_ready) = channel();
        let (clock, when_started): (Sender<Clock>, Receiver<Clock>) = channel();
        started.threads.push(spawn(move || {
            let stop = Arc::clone(&setting.stop);
            let ended = Driven::thread(setting, join, &ready, &when_started);
            if ended.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            ended
        }));
        let failed = || Error::System("overlay run: a node failed".to_owned());
        started.devices.push(when_ready.recv().unwrap_or_else(|_| Err(failed()))?);
        started.clocks.push(clock);
    }
    Ok(started)
}

fn join(thread: Thread) -> Result<Ended, Error> {
    let failed = || Error::System("overlay run: a node failed".to_owned());
    thread.join().unwrap_or_else(|_| Err(failed()))
}
