//! The desk: tells a node's state to those who ask, from what the node tells last. It has a thread of
//! its own, so that nobody who asks, and nobody who asks badly, holds up the node.
//!
//! | part | file |
//! | --- | --- |
//! | the socket's file | `socket` |
//! | somebody who asks | `call` |
//! | the little of HTTP that is needed | `http` |

mod call;
mod http;
mod socket;
#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind, PipeReader, PipeWriter};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use self::call::{Call, Stream};
use self::socket::SocketFile;
use super::told::Shared;
use super::{Config, Error};

/// How many are served at once at each of the two places where one can ask.
const MOST_CALLS: usize = 4;
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// The desk of a node. It is closed, and its socket removed, when it is dropped.
#[derive(Debug)]
pub struct Desk {
    open: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
    /// Where metrics are told.
    metrics: Option<SocketAddr>,
    _socket: Option<SocketFile>,
}

impl Desk {
    /// Opens one as configured: the state at the socket `status`, metrics at the address `metrics`.
    ///
    /// # Errors
    /// Names the socket, where it cannot be made or somebody answers at it, or the address, and the
    /// remedy.
    pub fn open(config: &Config, shared: &Arc<Shared>) -> Result<Self, Error> {
        let mut doors = Vec::new();
        let socket = config.status.as_deref().map(SocketFile::open).transpose()?;
        let (socket, listener) = socket.unzip();
        doors.extend(listener.map(|listener| Door::new(Listener::Unix(listener))));
        let listener = config.metrics.map(listen).transpose()?;
        let metrics = listener.as_ref().and_then(|listener| listener.local_addr().ok());
        doors.extend(listener.map(|listener| Door::new(Listener::Tcp(listener))));
        let (closed, open) = io::pipe().map_err(Error::file("status".as_ref()))?;
        let mut room = Room { doors, closed, shared: Arc::clone(shared) };
        let thread = thread::Builder::new().name("desk".to_owned());
        let thread = thread.spawn(move || while room.turn() {});
        let thread = Some(thread.map_err(Error::file("status".as_ref()))?);
        Ok(Desk { open: Some(open), thread, metrics, _socket: socket })
    }

    /// Where metrics are told.
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        drop(self.open.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Listens at an address for those who want metrics.
fn listen(address: SocketAddr) -> Result<TcpListener, Error> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| Error::Network {
        address: address.to_string(),
        error: io::Error::new(error.kind(), format!("{error}; give `metrics` another address")),
    })
}

#[derive(Debug)]
enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// A place where one can ask.
#[derive(Debug)]
struct Door {
    listener: Listener,
    calls: Vec<Call>,
    /// Nobody is let in before.
    shut_until: Option<Instant>,
}

/// What the desk's thread has.
#[derive(Debug)]
struct Room {
    doors: Vec<Door>,
    /// Comes to its end when the desk is closed.
    closed: PipeReader,
    shared: Arc<Shared>,
}

impl Room {
    /// Waits, and serves those who wait; whether the desk is still open.
    fn turn(&mut self) -> bool {
        let now = now();
        let until = self.doors.iter().filter_map(|door| door.next(now)).min();
        let timeout = until.map(|until| until.saturating_duration_since(now));
        let mut ready = self.doors.iter().flat_map(|door| door.waits_for(now)).collect::<Vec<_>>();
        ready.push(PollFd::new(self.closed.as_fd(), PollFlags::POLLIN));
        if poll(&mut ready, milliseconds(timeout)).is_err() {
            // Only for want of memory, or because of a signal.
            thread::sleep(Duration::from_millis(10));
            return true;
        }
        let closed = ready.pop().is_none_or(|closed| closed.any() != Some(false));
        drop(ready);
        let now = self::now();
        self.doors.iter_mut().for_each(|door| door.serve(now, &self.shared));
        !closed
    }
}

impl Door {
    fn new(listener: Listener) -> Self {
        Door { listener, calls: Vec::new(), shut_until: None }
    }

    fn is_shut(&self, now: Instant) -> bool {
        self.calls.len() >= MOST_CALLS || self.shut_until.is_some_and(|until| now < until)
    }

    /// When somebody's time is over, or it opens again.
    fn next(&self, now: Instant) -> Option<Instant> {
        let opens = self.shut_until.filter(|until| now < *until);
        self.calls.iter().map(Call::until).chain(opens).min()
    }

    fn waits_for(&self, now: Instant) -> impl Iterator<Item = PollFd<'_>> {
        let listener: Option<BorrowedFd<'_>> = (!self.is_shut(now)).then(|| match &self.listener {
            Listener::Unix(listener) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        });
        let listener = listener.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        listener.into_iter().chain(self.calls.iter().map(Call::waits_for))
    }

    /// Goes on with those who ask, and lets others in.
    fn serve(&mut self, now: Instant, shared: &Shared) {
        self.calls.retain_mut(|call| call.until() > now && call.go_on(shared));
        while !self.is_shut(now) {
            match self.accept() {
                Ok(stream) => {
                    let mut call = Call::new(stream, now + PATIENCE, shared);
                    if call.go_on(shared) {
                        self.calls.push(call);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Such as for want of descriptors: it would be tried at once again and again.
                Err(_) => self.shut_until = Some(now + PATIENCE),
            }
        }
    }

    fn accept(&self) -> io::Result<Stream> {
        let stream = match &self.listener {
            Listener::Unix(listener) => Stream::Unix(listener.accept()?.0),
            Listener::Tcp(listener) => Stream::Tcp(listener.accept()?.0),
        };
        stream.set_nonblocking()?;
        Ok(stream)
    }
}

/// For `poll`: rounded up, without end if there is no time.
fn milliseconds(timeout: Option<Duration>) -> PollTimeout {
    let Some(timeout) = timeout else { return PollTimeout::NONE };
    u16::try_from(timeout.as_millis() + 1).unwrap_or(u16::MAX).into()
}

#[allow(clippy::disallowed_methods)] // here the real time comes in
fn now() -> Instant {
    Instant::now()
}
