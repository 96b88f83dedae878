//! A run: two namespaces with a thread each, and the loop between them.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender as Channel, channel};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, spawn};

use sojourn_core::record::Outcome;
use sojourn_core::scenario::Scenario;
use sojourn_core::sim::Surroundings;
use sojourn_core::units::Time;

use crate::check::check;
use crate::clock::Clock;
use crate::drive::Loop;
use crate::error::{Error, failed};
use crate::flows::{Flows, Sender};
use crate::namespace::{self, RECEIVERS, SENDERS};
use crate::quality::{Processors, Quality};
use crate::receivers::Receivers;
use crate::senders::{self, Writer};
use crate::sockets;
use crate::sys::run_first;

/// Of the applications' threads, behind the loop's.
const PRIORITY: i32 = 20;
/// Smallest size of packets that IPv4 allows for.
const SMALLEST_MTU: u32 = 576;

/// What a run gives.
pub type Finished = Result<(Outcome, Quality), Error>;

/// A run in the background.
pub struct Live {
    thread: Option<JoinHandle<Finished>>,
    stop: Arc<AtomicBool>,
    clock: Arc<Mutex<Option<Clock>>>,
    end: Time,
}

impl Live {
    /// Begins a run of a scenario on this machine's kernel.
    ///
    /// # Errors
    /// If the scenario asks for what a live run cannot do.
    pub fn start(scenario: &Scenario) -> Result<Self, Error> {
        check(scenario)?;
        let (stop, clock) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let end = Time::ZERO + scenario.duration;
        let run = Run { scenario: scenario.clone(), stop: Arc::clone(&stop) };
        let begun = Arc::clone(&clock);
        Ok(Live { thread: Some(spawn(move || run.run(&begun))), stop, clock, end })
    }

    /// The share of the run that is done.
    pub fn share(&self) -> f64 {
        let clock = self.clock.lock().map(|clock| *clock).unwrap_or_default();
        clock.map_or(0.0, |clock| clock.now().as_secs_f64() / self.end.as_secs_f64()).min(1.0)
    }

    /// Whether there is a result to be had at once.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// If a permission or a device is missing, the kernel lacks a control, or something failed.
    pub fn finish(mut self) -> Finished {
        let ended = || Error::System("live run: its thread failed".to_owned());
        let thread = self.thread.take().ok_or_else(ended)?;
        thread.join().unwrap_or_else(|_| Err(ended()))
    }
}

impl Drop for Live {
    /// A run that nobody waits for ends.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Run {
    scenario: Scenario,
    stop: Arc<AtomicBool>,
}

/// A side that is ready: its device, and the senders if they are on it.
type Ready = Result<(OwnedFd, Vec<Sender>), Error>;
/// A side's thread gives the packets that its device has lost.
type Side = JoinHandle<Result<u64, Error>>;

impl Run {
    fn run(self, begun: &Mutex<Option<Clock>>) -> Finished {
        let surroundings = Surroundings::new(&self.scenario, None)?;
        let Surroundings { mut net, addresses, applications, flows, recorder, recorded_links } =
            surroundings;
        let end = Time::ZERO + self.scenario.duration;
        let stop = Arc::new(AtomicBool::new(false));
        let mtu = flows.iter().map(|flow| flow.full_packet).fold(SMALLEST_MTU, u32::max);
        let side = (self.scenario.clone(), Arc::clone(&stop));
        let (receivers, receiving, start_receivers) =
            start(move |ready, start| receive(&side.0, mtu, ready, start, &side.1));
        let receiving_device = ready(&receiving)?.0;
        let (side, facts) = ((self.scenario.clone(), Arc::clone(&stop)), flows.clone());
        let (senders, sending, start_senders) = start(move |ready, start| {
            let applications = applications.into_iter().zip(facts).collect();
            send(&side.0, mtu, applications, (ready, start), &side.1)
        });
        let (device, ends) = ready(&sending)?;

        let recording = (recorder, recorded_links, self.scenario.sample_interval);
        let tap = Flows::new(addresses, ends, flows, recording);
        tap.start(&mut net, self.scenario.warmup);
        let processors = Processors::now();
        let clock = Clock::start();
        if let Ok(mut begun) = begun.lock() {
            *begun = Some(clock);
        }
        let _ = (start_receivers.send(clock), start_senders.send(clock));
        let mut driver = Loop::new(clock, [device, receiving_device], tap);
        let driven = driver.run(&mut net, end, &self.stop);
        stop.store(true, Ordering::Relaxed);
        // Their counters go with the devices.
        let drops = join(senders)? + join(receivers)?;
        driven?;
        let (tap, timing) = driver.finish();
        let quality = Quality::judge(&timing, drops, &processors);
        Ok((tap.outcome(&mut net)?, quality))
    }
}

/// Starts a side's thread, which says when it is ready and waits for the run's clock.
fn start<F>(side: F) -> (Side, Receiver<Ready>, Channel<Clock>)
where
    F: FnOnce(&Channel<Ready>, &Receiver<Clock>) -> Result<u64, Error> + Send + 'static,
{
    let (ready, when_ready) = channel();
    let (start, when_started) = channel();
    (spawn(move || side(&ready, &when_started)), when_ready, start)
}

fn ready(side: &Receiver<Ready>) -> Ready {
    side.recv().unwrap_or_else(|_| Err(Error::System("live run: a side failed".to_owned())))
}

fn join(side: Side) -> Result<u64, Error> {
    side.join().unwrap_or_else(|_| Err(Error::System("live run: a side failed".to_owned())))
}

/// The thread of the receivers' namespace.
fn receive(
    scenario: &Scenario,
    mtu: u32,
    ready: &Channel<Ready>,
    start: &Receiver<Clock>,
    stop: &AtomicBool,
) -> Result<u64, Error> {
    let made = || {
        let device = namespace::enter(RECEIVERS, mtu)?;
        let mut sockets = [Vec::new(), Vec::new()];
        for flow in scenario.flows_expanded() {
            sockets[usize::from(!sockets::is_tcp(&flow))].push(sockets::wait_for(&flow)?);
        }
        Ok((device, sockets))
    };
    let (device, [listening, datagrams]) = match made() {
        Ok(made) => made,
        Err(error) => return refuse(ready, error),
    };
    let _ = ready.send(Ok((device, Vec::new())));
    if start.recv().is_ok() {
        run_first(PRIORITY);
        Receivers::new(listening, datagrams).run(stop)?;
    }
    namespace::device_drops().map_err(failed("reading the device's counters"))
}

type Applications = Vec<(sojourn_core::sim::Application, sojourn_core::record::FlowFacts)>;

/// The thread of the senders' namespace.
fn send(
    scenario: &Scenario,
    mtu: u32,
    applications: Applications,
    (ready, start): (&Channel<Ready>, &Receiver<Clock>),
    stop: &AtomicBool,
) -> Result<u64, Error> {
    let made = || {
        let device = namespace::enter(SENDERS, mtu)?;
        let (mut writers, mut senders) = (Vec::new(), Vec::new());
        for (flow, (application, facts)) in scenario.flows_expanded().into_iter().zip(applications)
        {
            let socket = Arc::new(sockets::open(&flow)?);
            let connection = sockets::is_tcp(&flow).then(|| Arc::clone(&socket));
            let sender = Sender { told: Arc::default(), socket: connection };
            let told = Arc::clone(&sender.told);
            writers.push(Writer::new(flow, &facts, application, socket, told));
            senders.push(sender);
        }
        Ok((device, writers, senders))
    };
    let (device, writers, senders) = match made() {
        Ok(made) => made,
        Err(error) => return refuse(ready, error),
    };
    let _ = ready.send(Ok((device, senders)));
    if let Ok(clock) = start.recv() {
        run_first(PRIORITY);
        senders::run(clock, writers, stop)?;
    }
    namespace::device_drops().map_err(failed("reading the device's counters"))
}

fn refuse(ready: &Channel<Ready>, error: Error) -> Result<u64, Error> {
    let _ = ready.send(Err(error));
    Ok(0)
}
