//! A UDP socket.

use mio::net::UdpSocket;
use quinn_udp::UdpSocketState;

/// A socket, and what the system told about it.
pub(super) struct Socket {
    /// The socket.
    pub udp: UdpSocket,
    /// How many datagrams it takes at once.
    pub state: UdpSocketState,
}
