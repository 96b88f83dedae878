//! The sending end of a connection, or of a flow of datagrams, on a real socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{MsgFlags, Shutdown, recv, send, shutdown};
use nix::sys::time::TimeSpec;
use sojourn_sim::spec::Flow;
use sojourn_sim::traffic::{Action, UNLIMITED};

use crate::controls::tcp_ecn;
use crate::error::{Error, failed};
use crate::flows::Told;
use crate::namespace;
use crate::{sockets, sys};

/// Bytes written at once.
const MOUTHFUL: usize = 1 << 17;
static ZEROS: [u8; MOUTHFUL] = [0; MOUTHFUL];

/// A socket, and what is written to it.
pub(crate) struct Outlet<'a> {
    flow: Flow<'a>,
    socket: Arc<OwnedFd>,
    told: Arc<Told>,
    /// Bytes written by the application, not yet accepted by the socket.
    unwritten: u64,
    written: u64,
    closing: bool,
    /// Whether it is of interest when the other end closes, too.
    watched: bool,
    /// Whether what it waits for has come, as far as is known. After a socket has refused data, it
    /// is not tried again until it reports room, as any program would do: data offered before would
    /// be added to the last buffer of the kernel's queue beyond the limit of the send buffer.
    ready: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unopened,
    Open,
    Done,
}

impl<'a> Outlet<'a> {
    /// The end of a flow that is not open yet.
    pub(crate) fn new(flow: Flow<'a>, socket: Arc<OwnedFd>, told: Arc<Told>) -> Self {
        let (unwritten, written) = (0, 0);
        let (closing, watched, ready) = (false, false, false);
        let state = State::Unopened;
        Outlet { flow, socket, told, unwritten, written, closing, watched, ready, state }
    }

    /// The same of a connection that is followed up to its end.
    pub(crate) fn watched(flow: Flow<'a>, socket: OwnedFd) -> Self {
        let outlet = Outlet::new(flow, Arc::new(socket), Arc::default());
        Outlet { watched: true, ..outlet }
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
        self.ready && self.is_blocked()
    }

    /// Whether all is written, or nothing more can be.
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether a watched one is done and its other end has closed as well, or it is broken.
    pub(crate) fn is_over(&mut self) -> bool {
        if !self.is_done() || !std::mem::take(&mut self.ready) {
            return false;
        }
        let read = recv(self.socket.as_raw_fd(), &mut [0], MsgFlags::MSG_DONTWAIT);
        read != Err(Errno::EAGAIN)
    }

    /// Takes an action of the application.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn act(&mut self, action: Action) -> Result<(), Error> {
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
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly.
    pub(crate) fn write(&mut self) -> Result<(), Error> {
        let most = if sockets::is_tcp(&self.flow) { MOUTHFUL } else { self.flow.spec.mss as usize };
        while self.state == State::Open && self.unwritten > 0 {
            let bytes = &ZEROS[..self.unwritten.min(most as u64) as usize];
            match send(self.socket.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) => self.accepted(count as u64),
                Err(Errno::EAGAIN | Errno::ENOTCONN | Errno::EINTR) => {
                    self.ready = false;
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
    ///
    /// # Errors
    /// If the kernel refuses it.
    pub(crate) fn abort(&mut self) -> Result<(), Error> {
        self.state = State::Done;
        sys::disconnect(&self.socket).map_err(failed("stopping a flow"))
    }

    /// What it waits for, if it waits for anything.
    fn wanted(&self) -> Option<PollFlags> {
        if self.is_blocked() {
            return Some(PollFlags::POLLOUT);
        }
        (self.watched && self.is_done()).then_some(PollFlags::POLLIN)
    }
}

/// Waits until something has come that one of these waits for, at most for `most`.
///
/// # Errors
/// Errors of the kernel.
pub(crate) fn wait<'w, 'a: 'w>(
    outlets: impl Iterator<Item = &'w mut Outlet<'a>>,
    most: Duration,
) -> io::Result<()> {
    let mut waiting: Vec<_> =
        outlets.filter_map(|outlet| Some((outlet.wanted()?, outlet))).collect();
    let sockets: Vec<_> =
        waiting.iter().map(|(flags, outlet)| (*flags, Arc::clone(&outlet.socket))).collect();
    let mut wanted: Vec<_> =
        sockets.iter().map(|(flags, socket)| PollFd::new(socket.as_fd(), *flags)).collect();
    match ppoll(&mut wanted, Some(TimeSpec::from_duration(most)), None) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    for ((_, outlet), polled) in waiting.iter_mut().zip(&wanted) {
        outlet.ready = polled.any() == Some(true);
    }
    Ok(())
}
