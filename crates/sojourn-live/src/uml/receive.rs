//! The receivers inside a kernel in virtual time: a thread for each connection at a time, which blocks
//! in one system call.
//!
//! A system call costs User-Mode Linux two switches between processes. So a receiver does not
//! return for every packet: it waits for a large amount, and takes data as it arrives, like a
//! receiver that always reads.

use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::exit;

use crate::reading::{in_thread, read};

/// Reads from the connections of a listening socket one after the other, in the network namespace in
/// which that was created.
///
/// # Errors
/// If there are no more threads.
pub(super) fn receive(socket: OwnedFd) -> io::Result<()> {
    accept(socket, |connection| {
        let _ = read(&connection); // its sender tells that it is broken
    })
}

/// The same of connections that come and go, from all at once. A connection for which there is no
/// thread is reset.
///
/// # Errors
/// If there are no more threads.
pub(super) fn receive_all(socket: OwnedFd) -> io::Result<()> {
    accept(socket, |connection| {
        let _ = in_thread(move || {
            let _ = read(&connection); // its sender tells that it is broken, or failed
        });
    })
}

/// Takes the connections of a listening socket, in a thread of its own.
fn accept(socket: OwnedFd, take: impl Fn(TcpStream) + Send + 'static) -> io::Result<()> {
    let listener = TcpListener::from(socket);
    listener.set_nonblocking(false)?;
    in_thread(move || {
        let error = until_error(&listener, take);
        // Nobody would receive any more. The kernel ends with this process, and its console is told.
        eprintln!("sojourn: accepting connections inside the kernel: {error}");
        exit(1);
    })
}

/// Takes connections as long as that can be done.
fn until_error(listener: &TcpListener, take: impl Fn(TcpStream)) -> io::Error {
    loop {
        match listener.accept() {
            Ok((connection, _)) => take(connection),
            Err(error) if is_passing(error.kind()) => {}
            Err(error) => return error,
        }
    }
}

/// Whether the next connection may be accepted all the same.
fn is_passing(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::ConnectionAborted | ErrorKind::Interrupted)
}
