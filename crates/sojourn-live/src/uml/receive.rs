//! The receivers inside a kernel in virtual time: a thread for each connection at a time, which blocks
//! in one system call.
//!
//! A system call costs User-Mode Linux two switches between processes. So a receiver does not
//! return for every packet: it waits for a large amount, and takes data as it arrives, like a
//! receiver that always reads.

use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;

use crate::reading::{in_thread, read};

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
