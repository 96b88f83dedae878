//! The node's ends of programs' connections: sockets of this machine's TCP, whose bytes the overlay carries.
//!
//! Each is reset if this process ends: only the orderly end of a stream is told as such.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::connection::{Connection, Went};
use super::nat::PHANTOM;
use crate::overlay::Applications;

/// At most so many connections.
const MOST: usize = 4_096;
/// Descriptors that are not programs' connections.
const OTHERS: u64 = 64;
/// Connections that have not been accepted yet.
const WAITING: i32 = 1_024;
/// Bytes that the kernel keeps of a connection in each direction, so that what a program has written is
/// not far from what has been sent.
const KEPT: usize = 128 << 10;
/// How long a program that is asked may say nothing. The kernel would wait for two minutes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Events that are told of at once.
const EVENTS: usize = 256;
/// What an event is of, if not of a connection.
const LISTENER: u64 = u64::MAX;
const DEVICE: u64 = u64::MAX - 1;

/// All of them, by their flows.
pub(super) struct Sockets {
    poll: Epoll,
    listener: TcpListener,
    node: SocketAddrV4,
    all: BTreeMap<u32, Connection>,
    /// Those with something to do.
    active: BTreeSet<u32>,
    /// The ports of the phantoms of those that have been closed.
    pub(super) closed: Vec<u16>,
    most: usize,
}

impl Sockets {
    /// At a node's address, to which nothing is connected yet. It also waits for packets of a device.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn new(address: Ipv4Addr, device: BorrowedFd<'_>) -> io::Result<Self> {
        let most = raise_limit()?.saturating_sub(OTHERS).min(MOST as u64) as usize;
        let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        prepare(SockRef::from(&socket))?;
        socket.bind(&SocketAddrV4::new(address, 0).into())?;
        socket.listen(WAITING)?;
        let listener = TcpListener::from(socket);
        let node = SocketAddrV4::new(address, listener.local_addr()?.port());
        let poll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        poll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
        poll.add(device, EpollEvent::new(EpollFlags::EPOLLIN, DEVICE))?;
        let (all, active, closed) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        Ok(Sockets { poll, listener, node, all, active, closed, most })
    }

    /// Where it listens.
    pub(super) fn node(&self) -> SocketAddrV4 {
        self.node
    }

    /// What tells that there is something to do.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.poll.0.as_fd()
    }

    /// Whether there may be no more.
    pub(super) fn are_full(&self) -> bool {
        self.all.len() >= self.most
    }

    /// The next phantom that has connected, with its socket; one that was reset before has none.
    pub(super) fn accept(&self) -> Option<(SocketAddrV4, TcpStream)> {
        loop {
            match self.listener.accept() {
                Ok((stream, SocketAddr::V4(phantom)))
                    if stream.set_nonblocking(true).is_ok()
                        && prepare(SockRef::from(&stream)).is_ok() =>
                {
                    return Some((phantom, stream));
                }
                Err(error) if error.kind() != ErrorKind::ConnectionAborted => return None,
                _ => {}
            }
        }
    }

    /// Connects to a phantom.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn connect(&mut self, flow: u32, port: u16) -> io::Result<()> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        prepare(SockRef::from(&socket))?;
        socket.set_tcp_user_timeout(Some(PATIENCE))?;
        socket.bind(&SocketAddrV4::new(*self.node.ip(), 0).into())?;
        match socket.connect(&SocketAddrV4::new(PHANTOM, port).into()) {
            Err(error) if error.raw_os_error() != Some(Errno::EINPROGRESS as i32) => Err(error),
            _ => self.add(flow, Connection::connecting(socket.into(), port)),
        }
    }

    /// A connection from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn add(&mut self, flow: u32, connection: Connection) -> io::Result<()> {
        let all = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP;
        let event = EpollEvent::new(all | EpollFlags::EPOLLET, flow.into());
        self.poll.add(connection.socket(), event)?;
        self.all.insert(flow, connection);
        self.active.insert(flow);
        Ok(())
    }

    /// A connection, which has something to do then.
    pub(super) fn of(&mut self, flow: u32) -> Option<&mut Connection> {
        let found = self.all.get_mut(&flow)?;
        self.active.insert(flow);
        Some(found)
    }

    /// Gives a connection up, which is reset unless it has ended in order.
    pub(super) fn drop(&mut self, flow: u32) {
        self.active.remove(&flow);
        // Its socket is dropped, by which it is reset if it may not linger.
        self.closed.extend(self.all.remove(&flow).map(|gone| gone.phantom()));
    }

    /// Reads what has happened to sockets.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn look(&mut self) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); EVENTS];
        let count = match self.poll.wait(&mut events, EpollTimeout::ZERO) {
            Err(Errno::EINTR) => 0,
            count => count?,
        };
        for event in &events[..count] {
            let Ok(flow) = u32::try_from(event.data()) else { continue };
            if let Some(connection) = self.of(flow) {
                connection.happened(event.events());
            }
        }
        Ok(())
    }

    /// Moves bytes between sockets and the overlay; whether there is more to do at once.
    pub(super) fn drive(&mut self, overlay: &Applications) -> bool {
        for flow in std::mem::take(&mut self.active) {
            let Some(connection) = self.all.get_mut(&flow) else { continue };
            match connection.drive(flow, overlay) {
                Went::Waits => {}
                Went::More => {
                    self.active.insert(flow);
                }
                Went::Ended => self.drop(flow),
                Went::Broken => {
                    overlay.reset(flow);
                    self.drop(flow);
                }
            }
        }
        !self.active.is_empty()
    }
}

/// Whether this machine has a way to an address; packets to another one vanish in it.
pub(super) fn leads_to(address: Ipv4Addr) -> bool {
    // What is connected without a connection only looks for its way.
    const ANY: (Ipv4Addr, u16) = (Ipv4Addr::UNSPECIFIED, 0);
    const DISCARD: u16 = 9;
    UdpSocket::bind(ANY).and_then(|socket| socket.connect((address, DISCARD))).is_ok()
}

/// What a socket of the node is like from the beginning.
fn prepare(socket: SockRef<'_>) -> io::Result<()> {
    socket.set_linger(Some(Duration::ZERO))?;
    socket.set_tcp_nodelay(true)?;
    socket.set_recv_buffer_size(KEPT)?;
    socket.set_send_buffer_size(KEPT)
}

/// Allows this process as many descriptors as it may have; how many that is.
fn raise_limit() -> io::Result<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let wanted = hard.min(MOST as u64 + OTHERS).max(soft);
    setrlimit(Resource::RLIMIT_NOFILE, wanted, hard)?;
    Ok(wanted)
}
