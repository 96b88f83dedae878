//! One iteration of the loop of either program: processes arrived datagrams, then due work.

use std::io;
use std::net::SocketAddr;

use sojourn_base::units::Time;

use crate::udp::clock::{Clock, until};
use crate::udp::outbox::Outbox;
use crate::udp::port::Port;
use crate::udp::report::End;
use crate::udp::session::Session;

/// Turns until the connection with this peer has ended.
///
/// # Errors
/// If a socket or a file cannot be used.
pub(super) fn drive(
    port: &mut Port,
    peer: SocketAddr,
    session: &mut Session,
    clock: Clock,
) -> io::Result<End> {
    loop {
        let now = clock.now();
        // An ACK is sent for every few datagrams, and not for all that a system call returns: it
        // names the latest two dozen packets, and may get lost.
        let some = port.receive(|out, from, bytes| {
            if from != peer {
                return Ok(());
            }
            session.on_bytes(now, bytes);
            send(out, peer, session, now)
        })?;
        let now = clock.now();
        session.work(now)?;
        send(&mut port.out, peer, session, now)?;
        port.out.flush()?;
        if let Some(end) = session.end(now) {
            return Ok(end);
        }
        if !some {
            port.wait(until(session.next(now), now))?;
        }
    }
}

/// Sends all datagrams that may be sent now.
///
/// # Errors
/// If a socket or a file cannot be used.
pub(super) fn send(
    out: &mut Outbox,
    peer: SocketAddr,
    session: &mut Session,
    now: Time,
) -> io::Result<()> {
    let mut datagram = Vec::new();
    while session.poll(now, &mut datagram)? {
        out.push(peer, &datagram)?;
        datagram.clear();
    }
    Ok(())
}
