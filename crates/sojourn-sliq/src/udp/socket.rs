//! A UDP socket.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use quinn_udp::{UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, SockRef, Type};

/// What the kernel may hold for us; it grants less where it is configured so.
const BUFFER: usize = 4 << 20;

/// A socket, and what the system told about it.
#[derive(Debug)]
pub(super) struct Socket {
    /// The socket.
    pub udp: UdpSocket,
    /// How many datagrams it takes at once.
    pub state: UdpSocketState,
}

impl Socket {
    /// A socket at this address that no other process has.
    ///
    /// # Errors
    /// If the system has none, or somebody else has the address.
    pub(super) fn open(address: SocketAddr) -> io::Result<Self> {
        let socket = socket2::Socket::new(
            Domain::for_address(address),
            Type::DGRAM.cloexec(),
            Some(Protocol::UDP),
        )?;
        socket.bind(&address.into())?;
        // Only now: a second program at this address is refused, sockets with one peer are not.
        // Unlike SO_REUSEADDR, this lets no other user in.
        socket.set_reuse_port(true)?;
        Self::of(socket)
    }

    /// A socket at the same address as this one, which has one peer: what comes from there comes
    /// here, all else still to the other.
    ///
    /// # Errors
    /// If the system has none.
    pub(super) fn connected(&self, peer: SocketAddr) -> io::Result<Self> {
        let address = self.udp.local_addr()?;
        let socket = socket2::Socket::new(
            Domain::for_address(address),
            Type::DGRAM.cloexec(),
            Some(Protocol::UDP),
        )?;
        socket.set_reuse_port(true)?;
        socket.bind(&address.into())?;
        socket.connect(&peer.into())?;
        Self::of(socket)
    }

    fn of(socket: socket2::Socket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let udp = UdpSocket::from(socket);
        let state = UdpSocketState::new(UdpSockRef::from(&udp))?;
        // The kernel's limit holds if it is lower.
        let _ = SockRef::from(&udp).set_send_buffer_size(BUFFER);
        let _ = SockRef::from(&udp).set_recv_buffer_size(BUFFER);
        Ok(Socket { udp, state })
    }
}
