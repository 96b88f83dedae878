//! The receivers inside a kernel in virtual time: a thread each, which blocks in one system call.
//!
//! A system call costs User-Mode Linux two switches between processes. So a receiver does not
//! return for every packet: it waits for a large amount, and takes data as it arrives, like a
//! receiver that always reads.

use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::thread::Builder;

use crate::sys::discard;

/// Stack size of a thread that calls no functions.
const STACK: usize = 64 * 1024;

/// Reads from the connections of a listening socket, in the network namespace in which that was
/// created.
///
/// # Errors
/// If there are no more threads.
pub(super) fn receive(socket: OwnedFd) -> io::Result<()> {
    let listener = TcpListener::from(socket);
    listener.set_nonblocking(false)?;
    let taking = move || {
        while let Ok((connection, _)) = listener.accept() {
            while discard(&connection).is_ok_and(|bytes| bytes > 0) {}
        }
    };
    Builder::new().stack_size(STACK).spawn(taking).map(|_| ())
}
