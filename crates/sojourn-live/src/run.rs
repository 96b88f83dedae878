//! A run: two namespaces with a thread each, and the loop between them.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender as Channel, channel};
use std::thread::{JoinHandle, spawn};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use sojourn_base::units::Time;
use sojourn_net::record::live::Sink;
use sojourn_net::record::{FlowFacts, Outcome};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::arrivals::{Entry, entries};
use sojourn_sim::sim::{Application, Surroundings};

use crate::background::{Live, Progress};
use crate::bpf::Registered;
use crate::check::{check, check_programs};
use crate::clock::Clock;
use crate::drive::Loop;
use crate::error::{Error, failed};
use crate::flows::{Connection, Flows, Sender, mtu};
use crate::namespace::{self, Namespace, Namespaces, RECEIVERS, SENDERS};
use crate::news::{News, Tell};
use crate::opener::Opener;
use crate::punctual::Awake;
use crate::quality::{Processors, Quality};
use crate::receivers::Receivers;
use crate::recorded::Record;
use crate::senders::{self, Senders, Writer};
use crate::sockets;
use crate::sys::run_first;
use crate::transfers::Transfers;
use crate::windows;

/// Priority of the applications' threads, below the loop's.
const PRIORITY: i32 = 20;

impl Live<(Outcome, Quality)> {
    /// Starts a run of a scenario on this machine's kernel; `sink`, if given, receives the records
    /// that it asks for.
    ///
    /// # Errors If a live run does not support the scenario.
    pub fn start(scenario: &Scenario, sink: Option<Sink>) -> Result<Self, Error> {
        check_programs(scenario)?;
        check(scenario)?;
        let end = Time::ZERO + scenario.duration;
        let scenario = scenario.clone();
        Ok(Live::new(end, move |stop, progress| Run { scenario, stop }.run(sink, progress)))
    }
}

struct Run {
    scenario: Scenario,
    stop: Arc<AtomicBool>,
}

/// A side that is ready: its device, and of the receivers their namespace, or else the senders.
type Ready<T> = Result<(OwnedFd, T), Error>;
/// Thread of a side; returns the number of packets that its device has lost.
type Side = JoinHandle<Result<u64, Error>>;

/// Both sides, which wait for the run's clock.
struct Sides {
    /// Of the senders and of the receivers.
    threads: [Side; 2],
    starts: [Channel<Clock>; 2],
    devices: [OwnedFd; 2],
    senders: Vec<Sender>,
    /// What is told of transfers.
    news: Receiver<News>,
}

impl Run {
    fn run(self, sink: Option<Sink>, progress: &Progress) -> Result<(Outcome, Quality), Error> {
        let _registered = Registered::of(&self.scenario)?;
        let record = Record::in_real_time(&self.scenario, sink);
        let surroundings = Surroundings::new(&self.scenario, record.log())?;
        let Surroundings { mut net, addresses, applications, flows, recorder, recorded_links } =
            surroundings;
        let end = Time::ZERO + self.scenario.duration;
        let ours = entries(&self.scenario, &addresses)?;
        let theirs = entries(&self.scenario, &addresses)?;
        let applications = applications.into_iter().zip(flows.iter().copied()).collect();
        let Sides { threads, starts, devices, senders, news } =
            self.sides(mtu(&flows, &ours), applications, theirs)?;
        let recording = (recorder, recorded_links, self.scenario.sample_interval);
        let transfers = (!ours.is_empty()).then(|| Transfers::new(ours, Some(news)));
        let tap = Flows::new(addresses, senders, flows, transfers, recording).recorded(&record);
        tap.start(&mut net, self.scenario.warmup);
        let (processors, _awake) = (Processors::now(), Awake::keep());
        let clock = Clock::start();
        progress.at(clock);
        for start in starts {
            let _ = start.send(clock); // a side that has failed has told so
        }
        let mut driver = Loop::new(clock, devices.into(), tap).across(record.border());
        let driven = driver.run(&mut net, end, &self.stop);
        self.stop.store(true, Ordering::Relaxed);
        // The devices' counters end with them.
        let drops = threads.into_iter().map(join).sum::<Result<u64, Error>>()?;
        driven?;
        let (tap, mut timing) = driver.finish();
        timing.lateness = tap.lateness();
        let quality = Quality::judge(&timing, drops, &processors);
        let outcome = tap.outcome(&mut net)?;
        record.finish();
        Ok((outcome, quality))
    }

    /// Starts the threads of both sides.
    fn sides(
        &self,
        mtu: u32,
        applications: Vec<(Application, FlowFacts)>,
        entries: Vec<Entry>,
    ) -> Result<Sides, Error> {
        if !entries.is_empty() {
            allow_many_files().map_err(failed("allowing many connections"))?;
        }
        let scenario = self.scenario.clone();
        let (receivers, receiving, start_receivers) =
            start(&self.stop, move |ready, start, stop| {
                receive(&scenario, mtu, ready, start, stop)
            });
        let (receiving_device, namespace) = ready(&receiving)?;
        let scenario = self.scenario.clone();
        let (tell, news) = channel();
        let acting = (applications, (entries, tell, namespace));
        let (sending, when_sending, start_senders) =
            start(&self.stop, move |ready, start, stop| {
                send(&scenario, mtu, acting, (ready, start), stop)
            });
        let (device, senders) = ready(&when_sending)?;
        Ok(Sides {
            threads: [sending, receivers],
            starts: [start_senders, start_receivers],
            devices: [device, receiving_device],
            senders,
            news,
        })
    }
}

/// Starts a side's thread, which reports when it is ready and waits for the run's clock. The run stops
/// when it fails.
fn start<T, F>(stop: &Arc<AtomicBool>, side: F) -> (Side, Receiver<Ready<T>>, Channel<Clock>)
where
    T: Send + 'static,
    F: FnOnce(&Channel<Ready<T>>, &Receiver<Clock>, &AtomicBool) -> Result<u64, Error>
        + Send
        + 'static,
{
    let (ready, when_ready) = channel();
    let (start, when_started) = channel();
    let stop = Arc::clone(stop);
    let thread = spawn(move || {
        let done = side(&ready, &when_started, &stop);
        if done.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        done
    });
    (thread, when_ready, start)
}

fn ready<T>(side: &Receiver<Ready<T>>) -> Ready<T> {
    side.recv().unwrap_or_else(|_| Err(Error::System("live run: a side failed".to_owned())))
}

fn join(side: Side) -> Result<u64, Error> {
    side.join().unwrap_or_else(|_| Err(Error::System("live run: a side failed".to_owned())))
}

/// Lets this process have as many files as it may: a connection takes two.
fn allow_many_files() -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}

/// The thread of the receivers' namespace.
fn receive(
    scenario: &Scenario,
    mtu: u32,
    ready: &Channel<Ready<Namespace>>,
    start: &Receiver<Clock>,
    stop: &AtomicBool,
) -> Result<u64, Error> {
    let made = || {
        namespace::enter()?;
        let device = namespace::device(namespace::DEVICE, RECEIVERS, mtu)?;
        let paths = scenario.paths();
        let added = windows::add_addresses(&paths, namespace::DEVICE);
        added.map_err(failed("adding receivers' addresses"))?;
        let mut sockets = [Vec::new(), Vec::new()];
        for path in paths.into_iter().filter(|path| !sockets::asks(path, scenario)) {
            sockets[usize::from(!sockets::is_tcp(&path))].push(sockets::wait_for(&path)?);
        }
        let own = Namespace::current().map_err(failed("finding the receivers' namespace"))?;
        Ok((device, own, sockets))
    };
    let (device, own, [listening, datagrams]) = match made() {
        Ok(made) => made,
        Err(error) => return refuse(ready, error),
    };
    let _ = ready.send(Ok((device, own)));
    if start.recv().is_ok() {
        run_first(PRIORITY);
        Receivers::new(listening, datagrams).run(stop)?;
    }
    namespace::device_drops().map_err(failed("reading the device's counters"))
}

/// Applications of the flows; the entries of arrivals, whose connections are told of, and the
/// namespace of their receivers.
type Acting = (Vec<(Application, FlowFacts)>, (Vec<Entry>, Channel<News>, Namespace));

/// The thread of the senders' namespace.
fn send(
    scenario: &Scenario,
    mtu: u32,
    (applications, (entries, tell, receivers)): Acting,
    (ready, start): (&Channel<Ready<Vec<Sender>>>, &Receiver<Clock>),
    stop: &AtomicBool,
) -> Result<u64, Error> {
    let made = || {
        namespace::enter()?;
        namespace::remember(scenario.tcp_metrics).map_err(failed("setting what is remembered"))?;
        let paths = scenario.paths();
        namespace::limit_send_buffers(&paths).map_err(failed("setting tcp_wmem"))?;
        let device = namespace::device(namespace::DEVICE, SENDERS, mtu)?;
        let added = windows::add_routes(&paths, namespace::DEVICE);
        added.map_err(failed("setting initial windows"))?;
        let (mut writers, mut senders) = (Vec::new(), Vec::new());
        for (flow, (application, facts)) in paths.into_iter().zip(applications) {
            let socket = Arc::new(sockets::open(&flow)?);
            let connection = match sockets::is_tcp(&flow) {
                true => Connection::Socket(Arc::clone(&socket)),
                false => Connection::Datagrams,
            };
            let sender = Sender { told: Arc::default(), connection };
            let told = Arc::clone(&sender.told);
            writers.push(Writer::new(flow, &facts, application, socket, told));
            senders.push(sender);
        }
        let own = Namespace::current().map_err(failed("finding the senders' namespace"))?;
        Ok((device, own, writers, senders))
    };
    let (device, own, writers, senders) = match made() {
        Ok(made) => made,
        Err(error) => return refuse(ready, error),
    };
    let _ = ready.send(Ok((device, senders)));
    if let Ok(clock) = start.recv() {
        run_first(PRIORITY);
        let tell: Tell<'_> = Box::new(move |news| {
            let _ = tell.send(news); // a run that has failed hears nothing any more
            Ok(())
        });
        let namespaces = Namespaces { senders: own, receivers };
        let opener = Opener::new(scenario, entries, &namespaces, tell);
        senders::run(clock, Senders { writers, opener }, stop)?;
    }
    namespace::device_drops().map_err(failed("reading the device's counters"))
}

fn refuse<T>(ready: &Channel<Ready<T>>, error: Error) -> Result<u64, Error> {
    let _ = ready.send(Err(error));
    Ok(0)
}
