//! Receiving from a UDP socket, many datagrams to a system call.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token, Waker};
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSockRef, UdpSocketState};

use crate::udp::outbox::{Outbox, passes};
use crate::udp::socket::Socket;

const SOCKET: Token = Token(0);
const WAKER: Token = Token(1);
/// What the kernel may hold for us; it grants less where it is configured so.
const BUFFER: usize = 4 << 20;
const RECEIVED: usize = 1 << 16;

/// A socket with its receive buffers and its outbox.
pub(super) struct Port {
    socket: Rc<Socket>,
    poll: Poll,
    events: Events,
    buffers: Vec<Vec<u8>>,
    /// Outbox of datagrams to send.
    pub out: Outbox,
}

impl Port {
    /// A socket at this address, which drops this share of what it is to send.
    ///
    /// # Errors
    /// If the system has none.
    pub(super) fn new(address: SocketAddr, drop: f64) -> io::Result<Self> {
        let mut udp = UdpSocket::bind(address)?;
        let state = UdpSocketState::new(UdpSockRef::from(&udp))?;
        // The kernel's limit holds if it is lower.
        let _ = state.set_send_buffer_size(UdpSockRef::from(&udp), BUFFER);
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&udp), BUFFER);
        let poll = Poll::new()?;
        poll.registry().register(&mut udp, SOCKET, Interest::READABLE | Interest::WRITABLE)?;
        let socket = Rc::new(Socket { udp, state });
        let buffers = vec![vec![0; RECEIVED]; BATCH_SIZE];
        Ok(Port {
            out: Outbox::new(Rc::clone(&socket), drop),
            socket,
            poll,
            events: Events::with_capacity(8),
            buffers,
        })
    }

    /// Wakes [`Port::wait`] from another thread.
    ///
    /// # Errors
    /// If the system has none.
    pub(super) fn waker(&self) -> io::Result<Waker> {
        Waker::new(self.poll.registry(), WAKER)
    }

    /// Where it is.
    ///
    /// # Errors
    /// If the system does not know.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.udp.local_addr()
    }

    /// Waits until a datagram may have come, or until the time is over.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub(super) fn wait(&mut self, time: Duration) -> io::Result<()> {
        match self.poll.poll(&mut self.events, Some(time)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            done => done,
        }
    }

    /// Passes on the datagrams that have arrived, as many as one system call returns, each with the
    /// outbox and the address of its answers; returns whether there were any.
    ///
    /// # Errors
    /// If the system cannot receive, or `with` fails.
    pub(super) fn receive(
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
