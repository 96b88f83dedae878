//! One iteration of the loop of either program: processes arrived datagrams, then due work.

use std::io;
use std::net::SocketAddr;

use sojourn_base::units::Time;

use crate::udp::channel::{Channel, Peer};
use crate::udp::clock::{Clock, until};
use crate::udp::outbox::Outbox;
use crate::udp::port::Port;
use crate::udp::report::End;
use crate::udp::session::Session;
use crate::udp::waiter::Waiter;

/// A port at this address, which drops this share of what it is to send, and what waits for it.
///
/// # Errors
/// If the system has none.
pub(super) fn bind(address: SocketAddr, drop: f64) -> io::Result<(Port, Waiter)> {
    let mut port = Port::open(address)?;
    port.out.drop = drop;
    let waiter = Waiter::new()?;
    waiter.add(&port)?;
    Ok((port, waiter))
}

/// Turns until the connection with this peer has ended.
///
/// # Errors
/// If a socket or a file cannot be used.
pub(super) fn drive(
    (waiter, port): (&Waiter, &mut Port),
    channel: &mut Channel,
    peer: Peer,
    session: &mut Session,
    clock: Clock,
) -> io::Result<End> {
    loop {
        let now = clock.now();
        // An ACK is sent for every few datagrams, and not for all that a system call returns: it
        // names the latest two dozen packets, and may get lost.
        let some = port.receive(|out, from, bytes| {
            match channel.hear(now, out, from, bytes)? {
                Some((from, content)) if from == peer && !content.is_empty() => {
                    session.on_bytes(now, content)
                }
                _ => return Ok(()),
            }
            send(out, channel, peer, session, now)
        })?;
        let now = clock.now();
        session.work(now)?;
        send(&mut port.out, channel, peer, session, now)?;
        channel.work(now, &mut port.out)?;
        port.out.flush()?;
        if let Some(end) = session.end(now) {
            return Ok(end);
        }
        if !some {
            waiter.wait(until(session.next(now).min(channel.next()), now))?;
        }
    }
}

/// Sends all datagrams that may be sent now.
///
/// # Errors
/// If a socket or a file cannot be used.
pub(super) fn send(
    out: &mut Outbox,
    channel: &mut Channel,
    peer: Peer,
    session: &mut Session,
    now: Time,
) -> io::Result<()> {
    let mut datagram = Vec::new();
    while session.poll(now, &mut datagram)? {
        channel.send(now, out, peer, &datagram)?;
        datagram.clear();
    }
    Ok(())
}
