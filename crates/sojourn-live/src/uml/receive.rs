//! The receivers inside a kernel in virtual time: a thread each, which stays in one system call.
//!
//! A system call costs User-Mode Linux two switches between processes. So a receiver does not return
//! for every packet: waiting for a great deal it takes what comes when it comes, as one does that is
//! always there.

use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::thread::Builder;

use crate::sys::discard;

/// Of a thread that calls nothing.
const STACK: usize = 64 * 1024;

/// Takes what comes to a listening socket, in the network namespace in which that was made.
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
