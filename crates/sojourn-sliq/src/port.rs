//! A UDP socket: datagrams of the same size go and come many to a system call.

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::time::Duration;

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token, Waker};
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rand::RngExt;
use rand::rngs::SmallRng;

const SOCKET: Token = Token(0);
const WAKER: Token = Token(1);
/// What the kernel may hold for us; it grants less where it is configured so.
const BUFFER: usize = 4 << 20;
/// What one system call sends at most.
const MOST_BYTES: usize = 60_000;
const RECEIVED: usize = 1 << 16;

/// A socket, and the datagrams that wait to be sent.
pub struct Port {
    socket: UdpSocket,
    state: UdpSocketState,
    poll: Poll,
    events: Events,
    /// Datagrams of `segment` bytes each, the last one perhaps shorter.
    out: Vec<u8>,
    segment: usize,
    count: usize,
    to: Option<SocketAddr>,
    buffers: Vec<Vec<u8>>,
    drop: f64,
    random: SmallRng,
}

impl Port {
    /// A socket at this address, which drops this share of what it is to send.
    ///
    /// # Errors
    /// If the system has none.
    pub fn new(address: SocketAddr, drop: f64) -> io::Result<Self> {
        let mut socket = UdpSocket::bind(address)?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // The kernel's limit holds if it is lower.
        let _ = state.set_send_buffer_size(UdpSockRef::from(&socket), BUFFER);
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), BUFFER);
        let poll = Poll::new()?;
        poll.registry().register(&mut socket, SOCKET, Interest::READABLE | Interest::WRITABLE)?;
        let buffers = vec![vec![0; RECEIVED]; BATCH_SIZE];
        Ok(Port {
            socket,
            state,
            poll,
            events: Events::with_capacity(8),
            out: Vec::with_capacity(RECEIVED),
            segment: 0,
            count: 0,
            to: None,
            buffers,
            drop,
            random: rand::make_rng(),
        })
    }

    /// Wakes [`Port::wait`] from another thread.
    ///
    /// # Errors
    /// If the system has none.
    pub fn waker(&self) -> io::Result<Waker> {
        Waker::new(self.poll.registry(), WAKER)
    }

    /// Where it is.
    ///
    /// # Errors
    /// If the system does not know.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Waits until a datagram may have come, or until the time is over.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub fn wait(&mut self, time: Duration) -> io::Result<()> {
        match self.poll.poll(&mut self.events, Some(time)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            done => done,
        }
    }

    /// Hands over the datagrams that have come, as many as one system call gives; whether there
    /// were any.
    ///
    /// # Errors
    /// If the system cannot receive.
    pub fn receive(&mut self, mut with: impl FnMut(SocketAddr, &[u8])) -> io::Result<bool> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<_> = self.buffers.iter_mut().map(|b| IoSliceMut::new(b)).collect();
        let socket = UdpSockRef::from(&self.socket);
        let count = match self.state.recv(socket, &mut slices, &mut metas) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            // Of an earlier datagram that was not taken.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(true),
            Err(error) => return Err(error),
        };
        for (meta, buffer) in metas[..count].iter().zip(&self.buffers) {
            for datagram in buffer[..meta.len].chunks(meta.stride.max(1)) {
                with(meta.addr, datagram);
            }
        }
        Ok(count > 0)
    }

    /// Sends a datagram, together with those that follow.
    ///
    /// # Errors
    /// If the system cannot send.
    pub fn push(&mut self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        if self.drop > 0.0 && self.random.random::<f64>() < self.drop {
            return Ok(());
        }
        let whole = self.out.len() == self.count * self.segment;
        let joins = self.to == Some(to)
            && whole
            && datagram.len() <= self.segment
            && self.count < self.state.max_gso_segments()
            && self.out.len() + datagram.len() <= MOST_BYTES;
        if !joins {
            self.flush()?;
            self.to = Some(to);
            self.segment = datagram.len();
        }
        self.out.extend_from_slice(datagram);
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
            contents: &self.out,
            segment_size: (self.count > 1).then_some(self.segment),
            src_ip: None,
        };
        let sent = self.state.try_send(UdpSockRef::from(&self.socket), &transmit);
        self.out.clear();
        self.count = 0;
        match sent {
            Err(error) if !passes(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Whether an error is of this datagram alone: a full queue, a host that cannot be reached now.
fn passes(error: &io::Error) -> bool {
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
