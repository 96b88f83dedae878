//! Threads that read from a connection and discard its data, each in one system call.

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use nix::sys::socket::{Shutdown, shutdown};

use crate::sys::discard;

/// Stack size of a thread that calls no functions.
const STACK: usize = 64 * 1024;

/// Works in a thread of its own.
///
/// # Errors
/// If there are no more threads.
pub(crate) fn in_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Builder::new().stack_size(STACK).spawn(work).map(|_| ())
}

/// Reads until the other end has closed the connection.
///
/// # Errors
/// If it is broken.
pub(crate) fn read(connection: &impl AsRawFd) -> io::Result<()> {
    loop {
        match discard(connection) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A thread that reads from a connection and closes it after the other end; it ends when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Reading {
    socket: Arc<OwnedFd>,
    broken: Arc<AtomicBool>,
}

impl Reading {
    /// Begins to read from a socket, which may still be connecting.
    ///
    /// # Errors
    /// If there are no more threads.
    pub(crate) fn begin(socket: &Arc<OwnedFd>) -> io::Result<Self> {
        let (socket, broken) = (Arc::clone(socket), Arc::<AtomicBool>::default());
        let (own, found) = (Arc::clone(&socket), Arc::clone(&broken));
        in_thread(move || {
            if read(&own).is_err() {
                found.store(true, Ordering::Relaxed);
            }
            let _ = shutdown(own.as_raw_fd(), Shutdown::Write); // it may be broken
        })?;
        Ok(Reading { socket, broken })
    }

    /// Whether the connection has broken.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let _ = shutdown(self.socket.as_raw_fd(), Shutdown::Both); // it may be closed already
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::thread::sleep;
    use std::time::Duration;

    use nix::libc::linger;
    use nix::sys::socket::setsockopt;
    use nix::sys::socket::sockopt::Linger;

    use super::*;

    /// Whether a connection is found broken whose other end resets it, or else closes it.
    fn is_broken(reset: bool) -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = Arc::new(OwnedFd::from(socket));
        let (mut other, _) = listener.accept().unwrap();
        let reading = Reading::begin(&socket).unwrap();
        other.write_all(&[0; 9]).unwrap();
        if reset {
            setsockopt(&other, Linger, &linger { l_onoff: 1, l_linger: 0 }).unwrap();
        }
        drop(other);
        // The thread has the socket as long as it reads.
        while Arc::strong_count(&socket) > 2 {
            sleep(Duration::from_millis(1));
        }
        reading.is_broken()
    }

    #[test]
    fn a_broken_connection_is_told_from_a_closed_one() {
        assert_eq!([is_broken(true), is_broken(false)], [true, false]);
    }
}
