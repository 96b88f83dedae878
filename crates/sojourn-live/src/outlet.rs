//! The sending end of a connection, or of a flow of datagrams, on a real socket.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, Shutdown, recv, send, shutdown};
use sojourn_sim::sim::arrivals::AHEAD;
use sojourn_sim::spec::Flow;
use sojourn_sim::traffic::{Action, UNLIMITED};

use crate::error::{Error, failed};
use crate::flows::Told;
use crate::{sockets, sys};

/// Bytes written at once: more than a send buffer takes, because the end of what is written is sent though it
/// fills no segment, and an application of the simulator writes without end.
const MOUTHFUL: usize = 1 << 23;
static ZEROS: [u8; MOUTHFUL] = [0; MOUTHFUL];
/// Bytes of requests read at once.
const BITE: usize = 1 << 12;
/// The connection has ended, or is broken.
const ENDED: PollFlags = PollFlags::POLLHUP;

/// A socket, and what is written to it.
pub(crate) struct Outlet<'a> {
    flow: Flow<'a>,
    socket: Arc<OwnedFd>,
    told: Arc<Told>,
    /// Bytes written by the application, not yet accepted by the socket.
    unwritten: u64,
    written: u64,
    closing: bool,
    /// Whether it is of interest what the other end sends and that it closes, too.
    watched: bool,
    /// Whether it is of interest what the other end acknowledges: the error queue then has nothing
    /// but news of that.
    shared: bool,
    /// What has come of what it waits for, as far as is known. After a socket has refused data, it
    /// is not tried again until it reports room, as any program would do: data offered before would
    /// be added to the last buffer of the kernel's queue beyond the limit of the send buffer.
    came: PollFlags,
    /// Bytes that the other end has sent, and whether it sends no more.
    received: u64,
    ended: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unopened,
    /// The other end opens the connection.
    Waiting,
    Open,
    Done,
}

impl<'a> Outlet<'a> {
    /// The end of a flow that is not open yet.
    pub(crate) fn new(flow: Flow<'a>, socket: Arc<OwnedFd>, told: Arc<Told>) -> Self {
        let (unwritten, written, received) = (0, 0, 0);
        let (closing, watched, shared, ended) = (false, false, false, false);
        let (came, state) = (PollFlags::empty(), State::Unopened);
        Outlet {
            flow,
            socket,
            told,
            unwritten,
            written,
            closing,
            watched,
            shared,
            came,
            received,
            ended,
            state,
        }
    }

    /// The same of a connection that is followed up to its end.
    pub(crate) fn watched(flow: Flow<'a>, socket: OwnedFd) -> Self {
        let outlet = Outlet::new(flow, Arc::new(socket), Arc::default());
        Outlet { watched: true, ..outlet }
    }

    /// The same of one that the other end opens, for which this socket waits.
    pub(crate) fn waiting(flow: Flow<'a>, socket: OwnedFd) -> Self {
        Outlet { state: State::Waiting, ..Outlet::watched(flow, socket) }
    }

    /// The end that asks, on a socket that is connecting. What it receives is somebody else's.
    pub(crate) fn asking(flow: Flow<'a>, socket: OwnedFd) -> Self {
        Outlet { state: State::Open, ..Outlet::new(flow, Arc::new(socket), Arc::default()) }
    }

    /// The same that hears what is acknowledged.
    ///
    /// # Errors
    /// If the kernel does not report it.
    pub(crate) fn shared(self) -> Result<Self, Error> {
        share(&self.socket)?;
        Ok(Outlet { shared: true, ..self })
    }

    /// Its socket, and its application's state.
    pub(crate) fn ends(&self) -> (&Arc<OwnedFd>, &Told) {
        (&self.socket, &self.told)
    }

    /// Whether it waits for its socket to accept more.
    pub(crate) fn is_blocked(&self) -> bool {
        self.state == State::Open && (self.unwritten > 0 || self.closing)
    }

    /// Whether it waited for its socket to accept more, which it now does.
    pub(crate) fn is_writable(&self) -> bool {
        let error = if self.shared { PollFlags::empty() } else { PollFlags::POLLERR };
        self.is_blocked() && self.came.intersects(PollFlags::POLLOUT | ENDED | error)
    }

    /// So much has come of what it waits for.
    pub(crate) fn hear(&mut self, came: PollFlags) {
        self.came = came;
    }

    /// Whether anything has come of what it waits for.
    pub(crate) fn is_called(&self) -> bool {
        !self.came.is_empty()
    }

    /// Whether its socket has accepted all that was written so far.
    pub(crate) fn takes_more(&self) -> bool {
        self.state == State::Open && self.unwritten == 0
    }

    /// Whether all is written, or nothing more can be.
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether the other end of a watched one has closed as well, or it is broken.
    pub(crate) fn is_over(&self) -> bool {
        self.ended
    }

    /// Bytes that the other end of a watched one has sent.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Takes an action of the application.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn act(&mut self, action: Action) -> Result<(), Error> {
        match action {
            Action::Open => {
                sockets::begin_connecting(&self.socket, &self.flow)?;
                self.state = State::Open;
                Ok(())
            }
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

    /// Takes the connection that it waits for, if that has come.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn accept(&mut self) -> Result<(), Error> {
        if self.state != State::Waiting || !self.is_called() {
            return Ok(());
        }
        self.came = PollFlags::empty();
        let Some(socket) = sockets::accept(&self.socket, &self.flow)? else { return Ok(()) };
        if self.shared {
            share(&socket)?;
        }
        (self.socket, self.state) = (Arc::new(socket), State::Open);
        Ok(())
    }

    /// Takes what the other end of a watched one has sent.
    pub(crate) fn receive(&mut self) {
        if !self.watched || !self.came.intersects(PollFlags::POLLIN | ENDED) {
            return;
        }
        self.came.remove(PollFlags::POLLIN | ENDED);
        let mut bytes = [0; BITE];
        loop {
            match recv(self.socket.as_raw_fd(), &mut bytes, MsgFlags::MSG_DONTWAIT) {
                Err(Errno::EAGAIN | Errno::EINTR) => return,
                Ok(0) | Err(_) => {
                    self.ended = true;
                    return;
                }
                Ok(count) => self.received += count as u64,
            }
        }
    }

    /// Payload of a shared one that the other end has acknowledged, if there is news of that.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn acked(&mut self) -> Result<Option<u64>, Error> {
        if !self.shared || !self.came.contains(PollFlags::POLLERR) {
            return Ok(None);
        }
        self.came.remove(PollFlags::POLLERR);
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        while recv(self.socket.as_raw_fd(), &mut [0], flags).is_ok() {}
        let waits = sys::unacknowledged(&self.socket).map_err(failed("asking for what is sent"))?;
        Ok(Some(self.written.saturating_sub(waits)))
    }

    /// Writes as much as the socket accepts.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn write(&mut self) -> Result<(), Error> {
        let most = if sockets::is_tcp(&self.flow) { MOUTHFUL } else { self.flow.spec.mss as usize };
        let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
        while self.state == State::Open && self.unwritten > 0 {
            let bytes = &ZEROS[..self.unwritten.min(most as u64) as usize];
            match send(self.socket.as_raw_fd(), bytes, flags) {
                Ok(count) => self.accepted(count as u64),
                Err(Errno::EAGAIN | Errno::ENOTCONN | Errno::EINTR) => {
                    self.came.remove(PollFlags::POLLOUT);
                    return Ok(());
                }
                // The device's queue is full: this datagram is lost.
                Err(Errno::ENOBUFS) if !sockets::is_tcp(&self.flow) => {
                    self.accepted(bytes.len() as u64);
                }
                Err(_) => self.state = State::Done, // the connection is broken: it ends incomplete
            }
        }
        if self.unwritten == 0 {
            self.came.remove(PollFlags::POLLOUT);
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
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub(crate) fn abort(&mut self) -> Result<(), Error> {
        self.state = State::Done;
        sys::disconnect(&self.socket).map_err(failed("stopping a flow"))
    }

    /// What it waits for, if it waits for anything.
    pub(crate) fn wanted(&self) -> Option<PollFlags> {
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::POLLOUT, self.is_blocked());
        wanted.set(PollFlags::POLLIN, self.watched && self.state != State::Unopened && !self.ended);
        (!wanted.is_empty()).then_some(wanted)
    }
}

/// Lets the kernel report what is acknowledged, and accept no more than keeps the connection busy.
fn share(socket: &OwnedFd) -> Result<(), Error> {
    let set =
        sys::report_acknowledgments(socket).and_then(|()| sys::limit_unsent(socket, AHEAD as u32));
    set.map_err(failed("following a connection"))
}
