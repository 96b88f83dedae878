//! Datagrams that go out: those of the same size together, many to a system call.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use quinn_udp::{Transmit, UdpSockRef};
use rand::RngExt;
use rand::rngs::SmallRng;

use crate::udp::socket::Socket;

/// What one system call sends at most.
const MOST_BYTES: usize = 60_000;

/// The datagrams that wait to be sent from a socket.
#[derive(Debug)]
pub struct Outbox {
    socket: Rc<Socket>,
    /// Datagrams of `segment` bytes each, the last one perhaps shorter.
    bytes: Vec<u8>,
    segment: usize,
    count: usize,
    to: Option<SocketAddr>,
    /// Share of the datagrams that it drops, to see what losses do.
    pub drop: f64,
    /// Whether it sends to many, so that no error of one ends it: what cannot be sent is lost.
    pub many: bool,
    random: SmallRng,
}

impl Outbox {
    /// Of this socket.
    pub(super) fn new(socket: Rc<Socket>) -> Self {
        Outbox {
            socket,
            bytes: Vec::with_capacity(MOST_BYTES),
            segment: 0,
            count: 0,
            to: None,
            drop: 0.0,
            many: false,
            random: rand::make_rng(),
        }
    }

    /// Sends a datagram, together with those that follow.
    ///
    /// # Errors
    /// If the system cannot send.
    pub fn push(&mut self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        if self.drop > 0.0 && self.random.random::<f64>() < self.drop {
            return Ok(());
        }
        let whole = self.bytes.len() == self.count * self.segment;
        let joins = self.to == Some(to)
            && whole
            && datagram.len() <= self.segment
            && self.count < self.socket.state.max_gso_segments()
            && self.bytes.len() + datagram.len() <= MOST_BYTES;
        if !joins {
            self.flush()?;
            self.to = Some(to);
            self.segment = datagram.len();
        }
        self.bytes.extend_from_slice(datagram);
        self.count += 1;
        Ok(())
    }

    /// Sends what waits. What the system has no room for is lost, as it would be further on.
    ///
    /// # Errors
    /// If the system cannot send.
    pub fn flush(&mut self) -> io::Result<()> {
        let Some(destination) = self.to.take() else { return Ok(()) };
        let transmit = Transmit {
            destination,
            ecn: None,
            contents: &self.bytes,
            segment_size: (self.count > 1).then_some(self.segment),
            src_ip: None,
        };
        let sent = self.socket.state.try_send(UdpSockRef::from(&self.socket.udp), &transmit);
        self.bytes.clear();
        self.count = 0;
        match sent {
            Err(error) if !self.many && !passes(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Whether an error is of this datagram alone: a full queue, a host that cannot be reached now.
pub(super) fn passes(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionRefused, HostUnreachable, Interrupted, NetworkDown, NetworkUnreachable,
        WouldBlock,
    };
    let of_path = [ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable];
    of_path.contains(&error.kind())
        || [Interrupted, WouldBlock].contains(&error.kind())
        || error.raw_os_error() == Some(NO_BUFFERS)
}

/// `ENOBUFS`.
const NO_BUFFERS: i32 = 105;
