//! The agent: the first process inside a kernel in virtual time. It runs the senders and receivers
//! of a live run in one thread, with this kernel's clock, and the programs of the scenario in another;
//! it reads what is to be run through a network card, and reports the state of connections, and what
//! programs do, the same way.

use std::io;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use nix::mount::{MsFlags, mount};
use nix::sys::prctl::set_timerslack;
use nix::sys::resource::{Resource, setrlimit};
use nix::time::{ClockId, clock_gettime};
use sojourn_base::registry::Catalogue;
use sojourn_base::units::Time;
use sojourn_net::queue::kernel::with_gates;
use sojourn_net::record::FlowFacts;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::{Application, Surroundings, arrivals};
use sojourn_sim::spec::Flow;

use super::control::{PIECE, ROOM, Report, Said, report_after};
use super::devices::{move_to, set_up};
use super::failure::doing;
use super::inside::{self, Guest};
use super::place::{Description, Place};
use super::receive::{receive, receive_all};
use super::telling::{say, teller, telling};
use super::{BEGINNING, HOSTS, routers};
use crate::clock::Clock;
use crate::error::Error;
use crate::flows::{Told, mtu};
use crate::hosts::HostTable;
use crate::namespace::{
    Namespace, Namespaces, RECEIVERS, SENDERS, limit_send_buffers, remember, settings,
};
use crate::opener::Opener;
use crate::senders::{Senders, Writer};
use crate::{sockets, sys, windows};

/// The cards, in the order in which the kernel finds them.
const CARDS: [&str; HOSTS] = ["eth0", "eth1"];
const USUAL_MTU: u32 = 1500;
/// Most files of a process: two for each connection at a time. The kernel allows no more.
const MOST_FILES: u64 = 1 << 20;
/// Time in which the last message is heard.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs as the first process of a kernel; `catalogue` has the members that its scenario names.
/// Returns only after a failure, which it reports.
pub fn run(catalogue: &Arc<Catalogue>) {
    match prepare() {
        Ok((control, beside, namespaces)) => {
            if let Err(error) = act([&control, &beside], &namespaces, catalogue) {
                // Whether it can be told or not, there is nothing left to do.
                let _ = control.send(&Said::Failed(&error.to_string()).to_bytes());
            }
        }
        Err(error) => eprintln!("sojourn: {error}"),
    }
    // The kernel panics when its first process ends: what that has told must be heard before.
    sleep(LAST_WORDS);
}

/// Makes the hosts, and the sockets that tell from that of the senders, and from that of the receivers;
/// the calling thread is in the senders' namespace.
fn prepare() -> Result<(UdpSocket, UdpSocket, Namespaces), Error> {
    let failed = |error: io::Error| doing("making hosts inside the kernel", error);
    let none: Option<&str> = None;
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), none)
        .map_err(|error| doing("mounting /proc", error.into()))?;
    set_timerslack(1).map_err(|error| failed(error.into()))?;
    settings().map_err(failed)?;
    let receivers = Namespace::current().map_err(failed)?;
    let senders = Namespace::enter_new().map_err(failed)?;
    receivers.enter().map_err(failed)?;
    set_up(CARDS[1], RECEIVERS, USUAL_MTU).map_err(failed)?;
    let beside = telling().map_err(failed)?;
    move_to(CARDS[0], &senders).map_err(failed)?;
    senders.enter().map_err(failed)?;
    set_up(CARDS[0], SENDERS, USUAL_MTU).map_err(failed)?;
    let control = telling().map_err(failed)?;
    Ok((control, beside, Namespaces { senders, receivers }))
}

/// Reads what is to be run, piece by piece: the scenario, and where its programs run, if it has any.
fn asked(
    control: &UdpSocket,
    catalogue: &Arc<Catalogue>,
) -> Result<(Scenario, Option<Place>), Error> {
    let failed = |error| doing("asking for the scenario", error);
    let mut text = Vec::new();
    for number in 0.. {
        let mut piece = [0; PIECE];
        control.send(&Said::Piece(number).to_bytes()).map_err(failed)?;
        let length = control.recv(&mut piece).map_err(failed)?;
        text.extend_from_slice(&piece[..length]);
        if length < PIECE {
            break;
        }
    }
    let read: Description = serde_json::from_slice(&text).map_err(|e| failed(e.into()))?;
    Ok((Scenario::from_json(&read.scenario, catalogue)?, read.place))
}

/// Time since this kernel was started.
fn uptime() -> Result<Duration, Error> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
    now.map(Duration::from).map_err(|error| doing("reading the kernel's clock", error.into()))
}

/// Takes the actions of the scenario's applications, beside its programs.
fn act(
    [control, beside]: [&UdpSocket; 2],
    namespaces: &Namespaces,
    catalogue: &Arc<Catalogue>,
) -> Result<(), Error> {
    let (scenario, place) = asked(control, catalogue)?;
    let table = HostTable::new(&scenario)?;
    let (surroundings, gates) = with_gates(|| Surroundings::new(&scenario, None));
    let Surroundings { applications, addresses, flows: facts, .. } = surroundings?;
    let entries = arrivals::entries(&scenario, &addresses)?;
    let carried = |path: &Flow<'_>| table.carried.get(path.id as usize) == Some(&true);
    let paths = scenario.paths();
    let own: Vec<Flow<'_>> = paths.iter().filter(|path| !carried(path)).copied().collect();
    // What programs write is told in full packets.
    let largest = mtu(&facts, &entries).max(if place.is_some() { USUAL_MTU } else { 0 });
    set_up_receivers(&own, largest, namespaces)?;
    let first_card = HOSTS + table.hosts.len();
    let world = (&namespaces.receivers, largest, place.is_some());
    let _routers = routers::make(&gates, first_card, world)?;
    let rooms = hosts(&table, &namespaces.receivers, place.as_ref())?;
    setrlimit(Resource::RLIMIT_NOFILE, MOST_FILES, MOST_FILES)
        .map_err(|error| doing("allowing many connections", error.into()))?;
    let _unread = wait_for_all(&own, &scenario)?;
    set_up_senders(&own, &scenario, namespaces)?;
    let acting = paths.into_iter().zip(applications).zip(&facts);
    let (writers, flows) = writers(acting.filter(|((flow, _), _)| !carried(flow)))?;
    let opener = Opener::new(&scenario, entries, namespaces, teller([control, beside], &scenario));
    sleep(BEGINNING.saturating_sub(uptime()?));
    let clock = Clock::start();
    let mut agent = Agent { control, clock, senders: Senders { writers, opener }, flows };
    agent.say(&Said::Begun(clock.now().since(Time::ZERO)))?;
    if let Some(place) = place {
        begin(&scenario, (&table, rooms.as_slice()), place, control, clock)
            .map_err(|error| doing("starting programs", error))?;
    }
    agent.run()
}

/// Makes the cards ready for packets of this size, with the receivers' addresses; the calling thread is
/// in the receivers' namespace then.
fn set_up_receivers(own: &[Flow<'_>], largest: u32, namespaces: &Namespaces) -> Result<(), Error> {
    let ready = || {
        set_up(CARDS[0], SENDERS, largest)?;
        namespaces.receivers.enter()?;
        set_up(CARDS[1], RECEIVERS, largest)?;
        windows::add_addresses(own, CARDS[1])
    };
    ready().map_err(|error| doing("making hosts inside the kernel", error))
}

/// Makes the senders' host ready; the calling thread is in its namespace then.
fn set_up_senders(
    own: &[Flow<'_>],
    scenario: &Scenario,
    namespaces: &Namespaces,
) -> Result<(), Error> {
    let ready = || {
        namespaces.senders.enter()?;
        remember(scenario.tcp_metrics)?;
        limit_send_buffers(own)?;
        windows::add_routes(own, CARDS[0])
    };
    ready().map_err(|error| doing("making hosts inside the kernel", error))
}

/// The flows that the agent sends; their numbers, and whether they are TCP connections.
type Writers<'a> = (Vec<Writer<'a>>, Vec<(u32, bool)>);

/// The writers of flows with these applications and facts, in the senders' namespace.
fn writers<'a, 'f>(
    acting: impl Iterator<Item = ((Flow<'a>, Application), &'f FlowFacts)>,
) -> Result<Writers<'a>, Error> {
    let (mut writers, mut flows) = (Vec::new(), Vec::new());
    for ((flow, application), facts) in acting {
        flows.push((flow.id, sockets::is_tcp(&flow)));
        let socket = Arc::new(sockets::open(&flow)?);
        writers.push(Writer::new(flow, facts, application, socket, Arc::<Told>::default()));
    }
    Ok((writers, flows))
}

/// Makes the hosts of programs, if there are any.
fn hosts(
    table: &HostTable,
    world: &Namespace,
    place: Option<&Place>,
) -> Result<Vec<Arc<sys::Room>>, Error> {
    let Some(place) = place else { return Ok(Vec::new()) };
    inside::prepare().map_err(|error| doing("preparing for programs", error))?;
    inside::make(table, world, place)
}

/// Starts to run programs.
fn begin(
    scenario: &Scenario,
    hosts: (&HostTable, &[Arc<sys::Room>]),
    place: Place,
    control: &UdpSocket,
    clock: Clock,
) -> io::Result<()> {
    Guest::new(scenario, hosts, place, control.try_clone()?, clock)?.begin()
}

/// Makes the receivers; returns the sockets of datagrams, which are counted where they leave the
/// network and need not be read.
fn wait_for_all(paths: &[Flow<'_>], scenario: &Scenario) -> Result<Vec<OwnedFd>, Error> {
    let mut unread = Vec::new();
    for path in paths.iter().filter(|path| !sockets::asks(path, scenario)) {
        let socket = sockets::wait_for(path)?;
        let made = match (sockets::is_tcp(path), path.arrives) {
            (true, false) => receive(socket),
            (true, true) => receive_all(socket),
            (false, _) => {
                unread.push(socket);
                Ok(())
            }
        };
        made.map_err(|error| doing("making receivers inside the kernel", error))?;
    }
    Ok(unread)
}

struct Agent<'a> {
    control: &'a UdpSocket,
    clock: Clock,
    senders: Senders<'a>,
    /// The flows' numbers, and whether they are TCP connections.
    flows: Vec<(u32, bool)>,
}

impl Agent<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let mut report = report_after(Time::ZERO);
        loop {
            let now = self.clock.now();
            if now >= report {
                self.report()?;
                report = report_after(now);
            }
            self.senders.work(now)?;
            // No time has passed: inside a kernel in virtual time computation takes none.
            let wakeup = self.senders.wakeup().min(report);
            let most = Duration::from_nanos(wakeup.since(now).as_nanos());
            self.senders.wait(most).map_err(|e| doing("waiting inside the kernel", e))?;
        }
    }

    /// Reports the state of connections.
    fn report(&self) -> Result<(), Error> {
        use std::sync::atomic::Ordering::Relaxed;
        let (mut datagram, mut info) = (Vec::new(), Vec::new());
        for (writer, (flow, tcp)) in self.senders.writers.iter().zip(&self.flows) {
            let (socket, told) = writer.ends();
            info.clear();
            if *tcp && sys::tcp_info_bytes(socket, &mut info).is_err() {
                info.clear();
            }
            let (written, total) = (told.written.load(Relaxed), told.total.load(Relaxed));
            Report { flow: *flow, written, total, info: &info }.add_to(&mut datagram);
            if datagram.len() > ROOM - 256 {
                self.say(&Said::Reports(&datagram))?;
                datagram.clear();
            }
        }
        if datagram.is_empty() { Ok(()) } else { self.say(&Said::Reports(&datagram)) }
    }

    fn say(&self, what: &Said<'_>) -> Result<(), Error> {
        say(self.control, what)
    }
}
