//! Somebody who asks, from coming to leaving.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use nix::poll::{PollFd, PollFlags};

use super::http;
use crate::daemon::metrics;
use crate::daemon::told::Shared;

/// The longest request, in bytes.
const LONGEST_REQUEST: usize = 4_096;
/// How many bytes are read after the answer, so that its end is not lost because of them.
const MOST_IGNORED: usize = 65_536;

/// A connection: status over Unix sockets, metrics over TCP.
#[derive(Debug)]
pub(super) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

#[derive(Debug)]
enum State {
    /// Reads a request: its bytes so far.
    Asked(Vec<u8>),
    /// Writes an answer: its bytes, and how many are written.
    Answers(Vec<u8>, usize),
    /// Waits until the other end closes: how many bytes have come since the answer.
    Leaves(usize),
}

/// A connection and how far it is.
#[derive(Debug)]
pub(super) struct Call {
    stream: Stream,
    state: State,
    until: Instant,
}

impl Stream {
    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_nonblocking(true),
            Stream::Tcp(stream) => stream.set_nonblocking(true),
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(bytes),
            Stream::Tcp(stream) => stream.read(bytes),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(bytes),
            Stream::Tcp(stream) => stream.write(bytes),
        }
    }

    fn end(&self) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write),
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
        }
    }
}

impl Call {
    /// One that may take until then.
    pub(super) fn new(stream: Stream, until: Instant, shared: &Shared) -> Self {
        let state = match stream {
            Stream::Unix(_) => State::Answers(status(shared), 0),
            Stream::Tcp(_) => State::Asked(Vec::new()),
        };
        Call { stream, state, until }
    }

    pub(super) fn until(&self) -> Instant {
        self.until
    }

    pub(super) fn waits_for(&self) -> PollFd<'_> {
        let flags = match self.state {
            State::Asked(_) | State::Leaves(_) => PollFlags::POLLIN,
            State::Answers(..) => PollFlags::POLLOUT,
        };
        let fd = match &self.stream {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        };
        PollFd::new(fd, flags)
    }

    /// Does what can be done without waiting; whether anything is left to do.
    pub(super) fn go_on(&mut self, shared: &Shared) -> bool {
        loop {
            match self.step(shared) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }

    /// Reads or writes once; false at the end.
    fn step(&mut self, shared: &Shared) -> io::Result<bool> {
        let mut bytes = [0; LONGEST_REQUEST];
        match &mut self.state {
            State::Asked(request) => {
                let room = LONGEST_REQUEST - request.len();
                let read = self.stream.read(&mut bytes[..room])?;
                request.extend_from_slice(&bytes[..read]);
                let is_full = request.len() == LONGEST_REQUEST;
                if http::is_whole(request) {
                    let answer = http::answer(request, || metrics::page(&shared.get()));
                    self.state = State::Answers(answer, 0);
                } else if is_full {
                    self.state = State::Answers(http::too_long(), 0);
                } else if read == 0 {
                    return Ok(false);
                }
            }
            State::Answers(answer, written) => {
                *written += self.stream.write(&answer[*written..])?;
                if *written == answer.len() {
                    self.stream.end()?;
                    self.state = State::Leaves(0);
                }
            }
            State::Leaves(ignored) => {
                let read = self.stream.read(&mut bytes)?;
                *ignored += read;
                return Ok(read > 0 && *ignored < MOST_IGNORED);
            }
        }
        Ok(true)
    }
}

/// The state as a line of JSON.
fn status(shared: &Shared) -> Vec<u8> {
    let mut line = serde_json::to_vec(&shared.get()).unwrap_or_default();
    line.push(b'\n');
    line
}
