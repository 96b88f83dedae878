//! The senders' thread: takes the actions of the scenario's applications, on real sockets, and opens
//! the connections of transfers that arrive.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use sojourn_base::units::Time;
use sojourn_net::record::FlowFacts;
use sojourn_sim::sim::Application;
use sojourn_sim::spec::Flow;

use crate::clock::Clock;
use crate::error::{Error, failed};
use crate::flows::Told;
use crate::opener::Opener;
use crate::outlet::Outlet;

/// Longest wait: time until it notices the end of the run.
const PATIENCE: Duration = Duration::from_millis(20);

/// The sender of one flow.
pub(crate) struct Writer<'a> {
    outlet: Outlet<'a>,
    application: Application,
    stop: Time,
    next: Time,
}

impl<'a> Writer<'a> {
    /// The writer of a flow that has taken no action yet.
    pub(crate) fn new(
        flow: Flow<'a>,
        facts: &FlowFacts,
        application: Application,
        socket: Arc<OwnedFd>,
        told: Arc<Told>,
    ) -> Self {
        let (next, stop) = (facts.start, facts.stop);
        Writer { outlet: Outlet::new(flow, socket, told), application, stop, next }
    }

    /// Latest time at which it must be called.
    fn wakeup(&self) -> Time {
        if self.outlet.is_done() { Time::NEVER } else { self.next.min(self.stop) }
    }

    /// Its socket, and its application's state.
    pub(crate) fn ends(&self) -> (&Arc<OwnedFd>, &Told) {
        self.outlet.ends()
    }

    /// Takes the actions that are due.
    fn work(&mut self, now: Time) -> Result<(), Error> {
        if self.outlet.is_done() {
            return Ok(());
        }
        if now >= self.stop {
            return self.outlet.abort();
        }
        let waits = self.outlet.is_blocked() && !self.outlet.is_writable();
        while self.next <= now {
            // At the time it was due: otherwise every late wake-up would delay all later actions.
            match self.application.poll(self.next) {
                Ok(action) => self.outlet.act(action)?,
                Err(next) => self.next = next.unwrap_or(Time::NEVER),
            }
        }
        if waits { Ok(()) } else { self.outlet.write() }
    }
}

/// All senders of a run.
pub(crate) struct Senders<'a> {
    /// Those of the declared flows.
    pub writers: Vec<Writer<'a>>,
    /// Those of transfers.
    pub opener: Opener<'a>,
}

impl Senders<'_> {
    /// Takes the actions that are due.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn work(&mut self, now: Time) -> Result<(), Error> {
        for writer in &mut self.writers {
            if writer.outlet.is_writable() || writer.wakeup() <= now {
                writer.work(now)?;
            }
        }
        self.opener.work(now)
    }

    /// Latest time at which they must be called.
    pub(crate) fn wakeup(&self) -> Time {
        self.writers.iter().map(Writer::wakeup).fold(self.opener.wakeup(), Time::min)
    }

    /// Waits until a socket has something for its sender, at most for `most`.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub(crate) fn wait(&mut self, most: Duration) -> io::Result<()> {
        let writers = self.writers.iter_mut().map(|writer| &mut writer.outlet);
        wait(writers.chain(self.opener.outlets()), most)
    }
}

/// Waits until something has come that one of these waits for, at most for `most`.
fn wait<'w, 'a: 'w>(
    outlets: impl Iterator<Item = &'w mut Outlet<'a>>,
    most: Duration,
) -> io::Result<()> {
    let mut waiting: Vec<_> =
        outlets.filter_map(|outlet| Some((outlet.wanted()?, outlet))).collect();
    let sockets: Vec<_> =
        waiting.iter().map(|(flags, outlet)| (*flags, Arc::clone(outlet.ends().0))).collect();
    let mut wanted: Vec<_> =
        sockets.iter().map(|(flags, socket)| PollFd::new(socket.as_fd(), *flags)).collect();
    match ppoll(&mut wanted, Some(TimeSpec::from_duration(most)), None) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    for ((_, outlet), polled) in waiting.iter_mut().zip(&wanted) {
        outlet.hear(polled.revents().unwrap_or(PollFlags::empty()));
    }
    Ok(())
}

/// Takes the senders' actions until `stop` is set.
///
/// # Errors
/// If the kernel refuses something unexpectedly.
pub(crate) fn run(clock: Clock, mut senders: Senders<'_>, stop: &AtomicBool) -> Result<(), Error> {
    while !stop.load(Ordering::Relaxed) {
        senders.work(clock.now())?;
        let most = clock.until(senders.wakeup()).min(PATIENCE);
        senders.wait(most).map_err(failed("waiting for sockets"))?;
    }
    Ok(())
}
