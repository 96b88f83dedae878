//! The receivers' thread: accepts connections, and reads and discards data.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv};

use crate::error::{Error, failed, opening};

/// Longest time in milliseconds until it notices the end of the run.
const PATIENCE: u16 = 20;
/// Bytes read at once.
const MOUTHFUL: usize = 1 << 20;

/// Sockets that wait for flows, and those of accepted flows.
#[derive(Debug, Default)]
pub(crate) struct Receivers {
    waiting: Vec<TcpListener>,
    reading: Vec<OwnedFd>,
    /// Never written: the kernel discards what is read from a stream.
    bytes: Vec<u8>,
}

impl Receivers {
    /// Receivers of listening sockets, and of sockets for datagrams.
    pub(crate) fn new(listening: Vec<OwnedFd>, datagrams: Vec<OwnedFd>) -> Self {
        let waiting = listening.into_iter().map(TcpListener::from).collect();
        Receivers { waiting, reading: datagrams, bytes: vec![0; MOUTHFUL] }
    }

    /// Accepts and reads until `stop` is set.
    ///
    /// # Errors
    /// If the kernel fails to accept or to wait.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> Result<(), Error> {
        while !stop.load(Ordering::Relaxed) {
            let called = self.wait()?;
            self.take(&called)?;
        }
        Ok(())
    }

    /// Waits until anything has come; returns for which sockets: those that wait first.
    fn wait(&self) -> Result<Vec<bool>, Error> {
        let sockets = self.waiting.iter().map(AsFd::as_fd);
        let sockets = sockets.chain(self.reading.iter().map(AsFd::as_fd));
        let mut wanted: Vec<_> = sockets.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match poll(&mut wanted, PollTimeout::from(PATIENCE)) {
            Ok(_) => Ok(wanted.iter().map(|polled| polled.any() != Some(false)).collect()),
            Err(Errno::EINTR) => Ok(vec![false; wanted.len()]),
            Err(error) => Err(failed("waiting for data")(error.into())),
        }
    }

    /// Reads and accepts what has arrived.
    fn take(&mut self, called: &[bool]) -> Result<(), Error> {
        let (waiting, reading) = called.split_at(self.waiting.len());
        let (bytes, mut called) = (&mut self.bytes, reading.iter());
        self.reading.retain(|socket| called.next() != Some(&true) || drain(socket, bytes));
        for (listener, _) in self.waiting.iter().zip(waiting).filter(|(_, called)| **called) {
            accept_all(listener, &mut self.reading)?;
        }
        Ok(())
    }
}

/// Takes all connections that have come.
fn accept_all(listener: &TcpListener, reading: &mut Vec<OwnedFd>) -> Result<(), Error> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true).map_err(failed("accepting a connection"))?;
                reading.push(stream.into());
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            // It was reset before it was taken.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(error) => return Err(opening("accepting a connection")(error)),
        }
    }
}

/// Reads the available data; returns whether more may come.
fn drain(socket: &OwnedFd, bytes: &mut [u8]) -> bool {
    match recv(socket.as_raw_fd(), bytes, MsgFlags::MSG_TRUNC) {
        Ok(0) => false,
        Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => true,
        Err(_) => false,
    }
}
