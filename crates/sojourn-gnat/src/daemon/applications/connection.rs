//! A connection: a socket, and the bytes between it and the overlay.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use nix::sys::epoll::EpollFlags;
use socket2::SockRef;

use crate::overlay::Applications;

/// Bytes that are moved at once, and how often at most, so that others have their turn.
const CHUNK: usize = 16 << 10;
const TIMES: usize = 8;

/// What became of a connection.
pub(super) enum Went {
    /// It waits for its socket or for the overlay.
    Waits,
    /// It goes on at the next turn.
    More,
    /// Both directions have ended in order.
    Ended,
    /// It was reset.
    Broken,
}

/// Bytes on their way.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    at: usize,
}

impl Chunk {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Takes as many bytes as are read, in place of those before.
    fn fill<E>(&mut self, read: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<usize, E> {
        self.at = 0;
        self.bytes.resize(CHUNK, 0);
        let count = read(&mut self.bytes);
        self.bytes.truncate(*count.as_ref().unwrap_or(&0));
        count
    }
}

/// A socket, and what is between it and the overlay.
pub(super) struct Connection {
    socket: TcpStream,
    phantom: u16,
    /// Whether the program has not accepted yet.
    connects: bool,
    may_read: bool,
    may_write: bool,
    has_error: bool,
    /// From the program, and to it.
    sent: Chunk,
    got: Chunk,
    /// Whether the program has ended its stream; whether the overlay knows.
    has_sent_all: bool,
    is_told: bool,
    /// Whether the other program has ended its stream; whether this one knows.
    has_got_all: bool,
    is_shut: bool,
}

impl Connection {
    /// One whose program has asked.
    pub(super) fn asked(socket: TcpStream, phantom: u16) -> Self {
        Connection {
            socket,
            phantom,
            connects: false,
            may_read: true,
            may_write: true,
            has_error: false,
            sent: Chunk::default(),
            got: Chunk::default(),
            has_sent_all: false,
            is_told: false,
            has_got_all: false,
            is_shut: false,
        }
    }

    /// One whose program is asked.
    pub(super) fn connecting(socket: TcpStream, phantom: u16) -> Self {
        Connection {
            connects: true,
            may_read: false,
            may_write: false,
            ..Self::asked(socket, phantom)
        }
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// The port of its phantom.
    pub(super) fn phantom(&self) -> u16 {
        self.phantom
    }

    /// Takes what the system tells of the socket.
    pub(super) fn happened(&mut self, events: EpollFlags) {
        let any = |of: EpollFlags| events.intersects(of);
        let broken = EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP;
        self.may_read |= any(EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP | broken);
        self.may_write |= any(EpollFlags::EPOLLOUT | broken);
        self.has_error |= any(EpollFlags::EPOLLERR);
    }

    /// The other program has ended its stream, and all of it has been told.
    pub(super) fn ends(&mut self) {
        self.has_got_all = true;
    }

    /// Moves what can be moved.
    pub(super) fn drive(&mut self, flow: u32, overlay: &Applications) -> Went {
        match self.moved(flow, overlay) {
            Err(_) => Went::Broken,
            Ok(_) if self.is_told && self.is_shut => self.ended(),
            Ok(true) => Went::More,
            Ok(false) => Went::Waits,
        }
    }

    fn ended(&self) -> Went {
        // What the program has not acknowledged yet is still sent.
        match SockRef::from(&self.socket).set_linger(None) {
            Ok(()) => Went::Ended,
            Err(_) => Went::Broken,
        }
    }

    fn moved(&mut self, flow: u32, overlay: &Applications) -> io::Result<bool> {
        if std::mem::take(&mut self.has_error)
            && let Some(error) = self.socket.take_error()?
        {
            return Err(error);
        }
        if self.connects {
            if !self.may_write {
                return Ok(false);
            }
            if let Some(error) = self.socket.take_error()? {
                return Err(error);
            }
            // From now on it may be silent for as long as any connection.
            SockRef::from(&self.socket).set_tcp_user_timeout(None)?;
            self.connects = false;
        }
        let more = self.send(flow, overlay)?;
        Ok(self.get(flow, overlay)? || more)
    }

    /// From the program to the overlay.
    fn send(&mut self, flow: u32, overlay: &Applications) -> io::Result<bool> {
        for _ in 0..TIMES {
            if !self.sent.rest().is_empty() {
                let taken = overlay.write(flow, self.sent.rest());
                self.sent.skip(taken);
                if !self.sent.rest().is_empty() {
                    return Ok(false);
                }
            }
            if self.has_sent_all && !self.is_told {
                self.is_told = true;
                overlay.finish(flow);
            }
            if self.has_sent_all || !self.may_read {
                return Ok(false);
            }
            let socket = &mut self.socket;
            match self.sent.fill(|room| socket.read(room)) {
                Ok(0) => self.has_sent_all = true,
                Ok(_) => {}
                Err(error) => self.may_read = !blocks(error)?,
            }
        }
        Ok(true)
    }

    /// From the overlay to the program.
    fn get(&mut self, flow: u32, overlay: &Applications) -> io::Result<bool> {
        for _ in 0..TIMES {
            if self.got.rest().is_empty()
                && let Ok(0) = self.got.fill(|room| Ok::<_, ()>(overlay.read(flow, room)))
            {
                if self.has_got_all && !self.is_shut {
                    self.is_shut = true;
                    self.socket.shutdown(Shutdown::Write)?;
                }
                return Ok(false);
            }
            if !self.may_write {
                return Ok(false);
            }
            match self.socket.write(self.got.rest()) {
                Ok(count) => self.got.skip(count),
                Err(error) => self.may_write = !blocks(error)?,
            }
        }
        Ok(true)
    }
}

/// Whether the socket has no more at the moment.
fn blocks(error: io::Error) -> io::Result<bool> {
    match error.kind() {
        ErrorKind::WouldBlock => Ok(true),
        ErrorKind::Interrupted => Ok(false),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;
    use crate::ServiceSpec;
    use crate::overlay::Opening;

    #[test]
    fn a_program_that_has_answered_may_be_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        socket.set_nonblocking(true).unwrap();
        SockRef::from(&socket).set_tcp_user_timeout(Some(Duration::from_secs(1))).unwrap();
        let overlay = Applications::new(vec![ServiceSpec::default()], 0, 7);
        let flow = overlay.open(1, 0, &Opening { client: (1, 2), server: (3, 4) });
        let mut connection = Connection::connecting(socket, 9);
        let patience = |of: &Connection| SockRef::from(of.socket()).tcp_user_timeout().unwrap();
        assert!(matches!(connection.drive(flow, &overlay), Went::Waits));
        assert_eq!(patience(&connection), Some(Duration::from_secs(1)));
        connection.happened(EpollFlags::EPOLLOUT);
        connection.drive(flow, &overlay);
        assert_eq!(patience(&connection), None);
    }
}
