//! The receivers' thread: accepts connections, and reads and discards data.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv};

use crate::error::{Error, failed};

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
            self.wait()?;
            self.take()?;
        }
        Ok(())
    }

    /// The sockets to wait for.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let waiting = self.waiting.iter().map(AsFd::as_fd);
        waiting.chain(self.reading.iter().map(AsFd::as_fd))
    }

    /// Accepts and reads what has arrived.
    ///
    /// # Errors
    /// If the kernel fails to accept.
    pub(crate) fn take(&mut self) -> Result<(), Error> {
        self.accept()?;
        let bytes = &mut self.bytes;
        self.reading.retain(|socket| drain(socket, bytes));
        Ok(())
    }

    fn wait(&self) -> Result<(), Error> {
        let mut wanted: Vec<_> =
            self.sockets().map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match poll(&mut wanted, PollTimeout::from(PATIENCE)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(failed("waiting for data")(error.into())),
        }
    }

    fn accept(&mut self) -> Result<(), Error> {
        for listener in &self.waiting {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true).map_err(failed("accepting a connection"))?;
                    self.reading.push(stream.into());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed("accepting a connection")(error)),
            }
        }
        Ok(())
    }
}

/// Reads the available data; returns whether more may come.
fn drain(socket: &OwnedFd, bytes: &mut [u8]) -> bool {
    match recv(socket.as_raw_fd(), bytes, MsgFlags::MSG_TRUNC) {
        Ok(0) => false,
        Ok(_) | Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => true,
        Err(_) => false,
    }
}
