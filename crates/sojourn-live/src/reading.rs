//! Threads that read from a connection and discard its data, each in one system call.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
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

/// Reads until the other end has closed the connection, or it is broken.
pub(crate) fn read(connection: &impl AsRawFd) {
    while discard(connection).is_ok_and(|bytes| bytes > 0) {}
}

/// A thread that reads from a connection and closes it after the other end; it ends when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct Reading(Arc<OwnedFd>);

impl Reading {
    /// Begins to read from a socket, which may still be connecting.
    ///
    /// # Errors
    /// If there are no more threads.
    pub(crate) fn begin(socket: &Arc<OwnedFd>) -> io::Result<Self> {
        let own = Arc::clone(socket);
        in_thread(move || {
            read(&own);
            let _ = shutdown(own.as_raw_fd(), Shutdown::Write); // it may be broken
        })?;
        Ok(Reading(Arc::clone(socket)))
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let _ = shutdown(self.0.as_raw_fd(), Shutdown::Both); // it may be closed already
    }
}
