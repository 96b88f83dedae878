//! Receiving from a UDP socket, many datagrams to a system call.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::rc::Rc;

use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSockRef};

use crate::udp::outbox::{Outbox, passes};
use crate::udp::socket::Socket;

const RECEIVED: usize = 1 << 16;

/// A socket with its receive buffers and its outbox.
#[derive(Debug)]
pub struct Port {
    socket: Rc<Socket>,
    buffers: Vec<Vec<u8>>,
    /// Outbox of datagrams to send.
    pub out: Outbox,
}

impl Port {
    /// A port at this address, which anybody can send to.
    ///
    /// # Errors
    /// If the system has none, or somebody else has the address.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        Ok(Port::of(Socket::open(address)?))
    }

    /// Another port at the same address, with buffers of its own for what comes from this peer:
    /// however much strangers send, none of it is lost for that. What came from others in the instant
    /// before the system knew the peer may be found here too.
    ///
    /// # Errors
    /// If the system has none, or no way leads to the peer.
    pub fn connected(&self, peer: SocketAddr) -> io::Result<Self> {
        Ok(Port::of(self.socket.connected(peer)?))
    }

    fn of(socket: Socket) -> Self {
        let socket = Rc::new(socket);
        let buffers = vec![vec![0; RECEIVED]; BATCH_SIZE];
        Port { out: Outbox::new(Rc::clone(&socket)), socket, buffers }
    }

    /// Where it is.
    ///
    /// # Errors
    /// If the system does not know.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.udp.local_addr()
    }

    pub(super) fn socket(&self) -> &UdpSocket {
        &self.socket.udp
    }

    /// Passes on the datagrams that have arrived, as many as one system call returns, each with the
    /// outbox and the address of its answers; returns whether there were any.
    ///
    /// # Errors
    /// If the system cannot receive, or `with` fails.
    pub fn receive(
        &mut self,
        mut with: impl FnMut(&mut Outbox, SocketAddr, &[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<_> = self.buffers.iter_mut().map(|b| IoSliceMut::new(b)).collect();
        let socket = UdpSockRef::from(&self.socket.udp);
        let count = match self.socket.state.recv(socket, &mut slices, &mut metas) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            // Of an earlier datagram that was not taken.
            Err(error) if passes(&error) => return Ok(true),
            Err(error) => return Err(error),
        };
        for (meta, buffer) in metas[..count].iter().zip(&self.buffers) {
            for datagram in buffer[..meta.len].chunks(meta.stride.max(1)) {
                with(&mut self.out, meta.addr, datagram)?;
            }
        }
        Ok(count > 0)
    }
}
