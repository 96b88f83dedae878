//! Sockets of a run, created in the namespace of the calling thread.

use std::ffi::OsString;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::sockopt::{
    Ipv4Tos, RcvBufForce, ReuseAddr, SndBufForce, TcpCongestion, TcpMaxSeg, TcpNoDelay,
};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, accept4, bind, connect, listen,
    setsockopt, socket,
};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::spec::{BufferSize, Controls, EcnMode, Flow, Pacing};

use crate::controls::{kernel_name, no_control, tcp_ecn};
use crate::error::{Error, failed, opening};
use crate::flows::FIRST_PORT;
use crate::namespace::{self, SENDERS};
use crate::{sys, windows};

/// Bytes of the timestamp option, which the kernel counts into its largest segment.
const TIMESTAMPS: u32 = 12;
/// ECT(0), in the field of the class.
const CAPABLE: i32 = 2;
const FLAGS: SockFlag = SockFlag::SOCK_NONBLOCK.union(SockFlag::SOCK_CLOEXEC);

/// Whether a flow is a TCP connection; otherwise it sends datagrams.
pub(crate) fn is_tcp(flow: &Flow<'_>) -> bool {
    flow.spec.transport.kind == "tcp"
}

/// Whether a flow's receiver opens its connections, to ask for data; otherwise it waits for them.
pub(crate) fn asks(flow: &Flow<'_>, scenario: &Scenario) -> bool {
    flow.arrives && scenario.arrivals[flow.entry].keys.request.is_some()
}

/// Address of the receiver of a flow.
fn receiver(flow: &Flow<'_>) -> SockaddrIn {
    let [a, b, c, d] = windows::receiver(flow.spec.initial_window);
    SockaddrIn::new(a, b, c, d, FIRST_PORT + flow.id as u16)
}

/// A socket of a flow's transport, with its control.
///
/// # Errors
/// If the kernel lacks the control.
pub(crate) fn open(flow: &Flow<'_>) -> Result<OwnedFd, Error> {
    let kind = if is_tcp(flow) { SockType::Stream } else { SockType::Datagram };
    let opened = socket(AddressFamily::Inet, kind, FLAGS, None);
    let socket = opened.map_err(|error| opening("opening a socket")(error.into()))?;
    if let Some(cca) = flow.spec.cca.as_ref().and_then(Controls::only).filter(|_| is_tcp(flow)) {
        let set = setsockopt(&socket, TcpCongestion, &OsString::from(kernel_name(cca)));
        set.map_err(|_| no_control(&flow.field(), kernel_name(cca)))?;
        let mss = flow.spec.mss + TIMESTAMPS;
        setsockopt(&socket, TcpMaxSeg, &mss)
            .map_err(|error| failed("setting the largest segment")(error.into()))?;
    }
    if flow.spec.nagle == Some(false) && is_tcp(flow) {
        setsockopt(&socket, TcpNoDelay, &true)
            .map_err(|error| failed("letting segments not wait")(error.into()))?;
    }
    limit_buffers(&socket, flow).map_err(failed("setting a buffer's size"))?;
    // TCP has its own ECN field.
    let capable = flow.spec.ecn == Some(EcnMode::Classic) && !is_tcp(flow);
    let ecn = if capable { CAPABLE } else { 0 };
    let class = i32::from(flow.spec.dscp.number()) << 2 | ecn;
    if class != 0 {
        setsockopt(&socket, Ipv4Tos, &class)
            .map_err(|error| failed("setting a codepoint")(error.into()))?;
    }
    Ok(socket)
}

/// The same, with a port that earlier connections may have had.
///
/// # Errors
/// As [`open`], or if the port cannot be used.
pub(crate) fn open_at(flow: &Flow<'_>, port: u16) -> Result<OwnedFd, Error> {
    open_as(flow, &SockaddrIn::new(0, 0, 0, 0, port))
}

fn open_as(flow: &Flow<'_>, own: &SockaddrIn) -> Result<OwnedFd, Error> {
    let socket = open(flow)?;
    let bound = setsockopt(&socket, ReuseAddr, &true).and_then(|()| bind(socket.as_raw_fd(), own));
    bound.map_err(|error| failed("taking a port for a connection")(error.into()))?;
    Ok(socket)
}

/// A socket of the sender that waits for the receiver to ask for data.
///
/// # Errors
/// As [`open`], or if the port cannot be used.
pub(crate) fn wait_at(flow: &Flow<'_>, port: u16) -> Result<OwnedFd, Error> {
    let socket = open_at(flow, port)?;
    let waits = listen(&socket, Backlog::MAXALLOWABLE);
    waits.map_err(|error| failed("waiting for a request")(error.into()))?;
    Ok(socket)
}

/// The connection for which a socket of [`wait_at`] waits, if it is there.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn accept(waiting: &OwnedFd, flow: &Flow<'_>) -> Result<Option<OwnedFd>, Error> {
    let socket = match accept4(waiting.as_raw_fd(), FLAGS) {
        Ok(socket) => sys::owned(socket),
        Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
        Err(error) => return Err(opening("accepting a connection")(error.into())),
    };
    pace(&socket, flow.spec.pacing).map_err(failed("pacing a connection"))?;
    Ok(Some(socket))
}

/// A socket of the receiver that is connecting to the sender's port, to ask for data; its calls wait,
/// unless they are told not to. The calling thread is in the receivers' namespace.
///
/// # Errors
/// As [`open`], or if the kernel refuses.
pub(crate) fn ask(flow: &Flow<'_>, port: u16) -> Result<OwnedFd, Error> {
    let socket = open_as(flow, &receiver(flow))?;
    let [a, b, c, d] = SENDERS;
    connect_to(&socket, flow, &SockaddrIn::new(a, b, c, d, port))?;
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false).map_err(failed("connecting a flow"))?;
    Ok(stream.into())
}

/// Linux paces a socket from the first rate on that it is given: the largest is no limit. What is not
/// given one is paced if its control asks for it.
fn pace(socket: &OwnedFd, pacing: Option<Pacing>) -> io::Result<()> {
    match pacing {
        Some(Pacing::AtMost(rate)) => sys::pace(socket, (rate.as_bps() / 8).max(1)),
        Some(Pacing::On) => sys::pace(socket, sys::FASTEST),
        Some(Pacing::Off) | None => Ok(()),
    }
}

/// Sets the sizes of buffers that the flow gives, if any: the kernel doubles the given value, to
/// have room for its own bookkeeping.
fn limit_buffers(socket: &OwnedFd, flow: &Flow<'_>) -> io::Result<()> {
    if let BufferSize::Bytes(bytes) = flow.spec.send_buffer {
        setsockopt(socket, SndBufForce, &(bytes as usize / 2))?;
    }
    if let BufferSize::Bytes(bytes) = flow.spec.receive_buffer {
        setsockopt(socket, RcvBufForce, &(bytes as usize / 2))?;
    }
    Ok(())
}

/// A socket that waits for a flow.
///
/// # Errors
/// As [`open`], or if the address cannot be used.
pub(crate) fn wait_for(flow: &Flow<'_>) -> Result<OwnedFd, Error> {
    let socket = open(flow)?;
    let bound = bind(socket.as_raw_fd(), &receiver(flow));
    let ready = bound.and_then(|()| match is_tcp(flow) {
        true => listen(&socket, Backlog::MAXALLOWABLE),
        false => Ok(()),
    });
    ready.map_err(|error| failed("listening for a flow")(error.into()))?;
    Ok(socket)
}

/// Starts to connect a socket to the receiver of its flow.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn begin_connecting(socket: &OwnedFd, flow: &Flow<'_>) -> Result<(), Error> {
    connect_to(socket, flow, &receiver(flow))
}

fn connect_to(socket: &OwnedFd, flow: &Flow<'_>, address: &SockaddrIn) -> Result<(), Error> {
    if let Some(value) = tcp_ecn(flow.spec.ecn.unwrap_or_default()) {
        namespace::set("ipv4/tcp_ecn", value).map_err(failed("setting tcp_ecn"))?;
    }
    pace(socket, flow.spec.pacing).map_err(failed("connecting a flow"))?;
    match connect(socket.as_raw_fd(), address) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(()),
        Err(error) => Err(failed("connecting a flow")(error.into())),
    }
}
