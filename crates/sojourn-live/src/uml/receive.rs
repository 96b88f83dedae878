//! The receivers inside a kernel in virtual time: a thread for each connection at a time, which blocks
//! in one system call.
//!
//! A system call costs User-Mode Linux two switches between processes. So a receiver does not
//! return for every packet: it waits for a large amount, and takes data as it arrives, like a
//! receiver that always reads.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::thread::Builder;

use crate::sys::discard;

/// Stack size of a thread that calls no functions.
const STACK: usize = 64 * 1024;

/// Reads from the connections of a listening socket one after the other, in the network namespace in
/// which that was created.
///
/// # Errors
/// If there are no more threads.
pub(super) fn receive(socket: OwnedFd) -> io::Result<()> {
    let listener = TcpListener::from(socket);
    listener.set_nonblocking(false)?;
    in_thread(move || {
        while let Ok((connection, _)) = listener.accept() {
            read(&connection);
        }
    })
}

/// The same of connections that come and go, from all at once. A connection for which there is no
/// thread is reset.
///
/// # Errors
/// If there are no more threads.
pub(super) fn receive_all(socket: OwnedFd) -> io::Result<()> {
    let listener = TcpListener::from(socket);
    listener.set_nonblocking(false)?;
    in_thread(move || {
        while let Ok((connection, _)) = listener.accept() {
            let _ = in_thread(move || read(&connection)); // its sender tells that it failed
        }
    })
}

fn read(connection: &TcpStream) {
    while discard(connection).is_ok_and(|bytes| bytes > 0) {}
}

fn in_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Builder::new().stack_size(STACK).spawn(work).map(|_| ())
}
