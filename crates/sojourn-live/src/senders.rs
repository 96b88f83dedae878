//! The senders' thread: takes the actions of the scenario's applications, on real sockets.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{MsgFlags, Shutdown, send, shutdown};
use nix::sys::time::TimeSpec;
use sojourn_base::units::Time;
use sojourn_net::record::FlowFacts;
use sojourn_sim::sim::Application;
use sojourn_sim::spec::Flow;
use sojourn_sim::traffic::{Action, UNLIMITED};

use crate::clock::Clock;
use crate::controls::tcp_ecn;
use crate::error::{Error, failed};
use crate::flows::Told;
use crate::namespace;
use crate::{sockets, sys};

/// Longest wait: time until it notices the end of the run.
const PATIENCE: Duration = Duration::from_millis(20);
/// Bytes written at once.
const MOUTHFUL: usize = 1 << 17;
static ZEROS: [u8; MOUTHFUL] = [0; MOUTHFUL];

/// The sender of one flow.
pub(crate) struct Writer<'a> {
    flow: Flow<'a>,
    socket: Arc<OwnedFd>,
    told: Arc<Told>,
    application: Application,
    stop: Time,
    next: Time,
    /// Bytes written by the application, not yet accepted by the socket.
    unwritten: u64,
    written: u64,
    closing: bool,
    /// Whether the socket accepts more, as far as is known. After it has refused data, it is not
    /// tried again until it reports room, as any program would do: data offered before would be
    /// added to the last buffer of the kernel's queue beyond the limit of the send buffer.
    writable: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unopened,
    Open,
    Done,
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
        Writer {
            flow,
            socket,
            told,
            application,
            stop,
            next,
            unwritten: 0,
            written: 0,
            closing: false,
            writable: false,
            state: State::Unopened,
        }
    }

    /// Whether it waits for its socket to accept more.
    fn is_blocked(&self) -> bool {
        self.state == State::Open && (self.unwritten > 0 || self.closing)
    }

    /// Whether it waited for its socket to accept more, which it now does.
    pub(crate) fn is_writable(&self) -> bool {
        self.writable && self.is_blocked()
    }

    /// Latest time at which it must be called.
    pub(crate) fn wakeup(&self) -> Time {
        if self.state == State::Done { Time::NEVER } else { self.next.min(self.stop) }
    }

    /// Its socket, and its application's state.
    pub(crate) fn ends(&self) -> (&Arc<OwnedFd>, &Told) {
        (&self.socket, &self.told)
    }

    /// Takes the actions that are due.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn work(&mut self, now: Time) -> Result<(), Error> {
        if self.state == State::Done {
            return Ok(());
        }
        if now >= self.stop {
            return self.abort();
        }
        let waits = self.is_blocked() && !self.writable;
        while self.next <= now {
            // At the time it was due: otherwise every late wake-up would delay all later actions.
            match self.application.poll(self.next) {
                Ok(action) => self.act(action)?,
                Err(next) => self.next = next.unwrap_or(Time::NEVER),
            }
        }
        if waits { Ok(()) } else { self.write() }
    }

    fn act(&mut self, action: Action) -> Result<(), Error> {
        match action {
            Action::Open => self.open(),
            Action::Write(bytes) => {
                self.unwritten = self.unwritten.saturating_add(bytes);
                if sockets::is_tcp(&self.flow) { Ok(()) } else { self.write() }
            }
            Action::Close => {
                self.closing = true;
                Ok(())
            }
        }
    }

    fn open(&mut self) -> Result<(), Error> {
        let mode = self.flow.spec.ecn.unwrap_or_default();
        if let Some(value) = tcp_ecn(mode) {
            namespace::set("ipv4/tcp_ecn", value).map_err(failed("setting tcp_ecn"))?;
        }
        let begun = sockets::begin_connecting(&self.socket, &self.flow);
        begun.map_err(failed("connecting a flow"))?;
        self.state = State::Open;
        Ok(())
    }

    /// Writes as much as the socket accepts.
    fn write(&mut self) -> Result<(), Error> {
        let most = if sockets::is_tcp(&self.flow) { MOUTHFUL } else { self.flow.spec.mss as usize };
        while self.state == State::Open && self.unwritten > 0 {
            let bytes = &ZEROS[..self.unwritten.min(most as u64) as usize];
            match send(self.socket.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) => self.accepted(count as u64),
                Err(Errno::EAGAIN | Errno::ENOTCONN | Errno::EINTR) => {
                    self.writable = false;
                    return Ok(());
                }
                Err(Errno::ENOBUFS) if !sockets::is_tcp(&self.flow) => self.unwritten = 0,
                Err(_) => self.state = State::Done, // the connection is broken: it ends incomplete
            }
        }
        if self.state == State::Open && self.closing && self.unwritten == 0 {
            self.told.total.store(self.written, Ordering::Relaxed);
            self.state = State::Done;
            // A connection that is already broken needs no end.
            let _ = shutdown(self.socket.as_raw_fd(), Shutdown::Write);
        }
        Ok(())
    }

    fn accepted(&mut self, bytes: u64) {
        self.written += bytes;
        if self.unwritten != UNLIMITED {
            self.unwritten -= bytes;
        }
        self.told.written.store(self.written, Ordering::Relaxed);
    }

    /// Stops offering data: data that the socket has not sent is discarded.
    fn abort(&mut self) -> Result<(), Error> {
        self.state = State::Done;
        sys::disconnect(&self.socket).map_err(failed("stopping a flow"))
    }
}

/// Takes the applications' actions until `stop` is set.
///
/// # Errors
/// If the kernel refuses something unexpectedly.
pub(crate) fn run(
    clock: Clock,
    mut writers: Vec<Writer<'_>>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    while !stop.load(Ordering::Relaxed) {
        let now = clock.now();
        for writer in &mut writers {
            if writer.is_writable() || writer.wakeup() <= now {
                writer.work(now)?;
            }
        }
        let wakeup = writers.iter().map(Writer::wakeup).min().unwrap_or(Time::NEVER);
        wait(&mut writers, clock.until(wakeup).min(PATIENCE))
            .map_err(failed("waiting for sockets"))?;
    }
    Ok(())
}

/// Waits until a socket accepts more of its writer's data, at most for `most`.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn wait(writers: &mut [Writer<'_>], most: Duration) -> io::Result<()> {
    let mut blocked: Vec<_> = writers.iter_mut().filter(|writer| writer.is_blocked()).collect();
    let sockets: Vec<Arc<OwnedFd>> = blocked.iter().map(|writer| writer.socket.clone()).collect();
    let mut wanted: Vec<_> =
        sockets.iter().map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLOUT)).collect();
    match ppoll(&mut wanted, Some(TimeSpec::from_duration(most)), None) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    for (writer, polled) in blocked.iter_mut().zip(&wanted) {
        writer.writable = polled.any() == Some(true);
    }
    Ok(())
}
