//! What is between sessions and their socket: nothing, or a gate that seals and opens.

use std::io;
use std::net::SocketAddr;

use sojourn_base::units::{Span, Time};

use crate::secure::{Boot, Gate, Heard, Moment, PeerId};
use crate::udp::clock::{Clock, unix, until};
use crate::udp::outbox::Outbox;
use crate::udp::port::Port;
use crate::udp::waiter::Waiter;

/// The other end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// Whoever is at this address.
    Open(SocketAddr),
    /// Who has this key, as long as its process runs.
    Sealed(PeerId, Boot),
}

/// The datagrams of a socket's sessions.
pub(super) struct Channel {
    gate: Option<Gate>,
    /// The content that was opened last, and what is sent.
    plain: Vec<u8>,
    sealed: Vec<u8>,
}

impl Channel {
    /// Seals and opens with this gate; without one all is open.
    pub(super) fn new(gate: Option<Gate>) -> Self {
        Channel { gate, plain: Vec::new(), sealed: Vec::new() }
    }

    /// What a datagram contains (nothing, where a session begins), and from whom it is; what is to be answered at once is sent.
    ///
    /// # Errors
    /// If the system cannot send.
    pub(super) fn hear<'a>(
        &'a mut self,
        now: Time,
        out: &mut Outbox,
        from: SocketAddr,
        bytes: &'a [u8],
    ) -> io::Result<Option<(Peer, &'a [u8])>> {
        let Some(gate) = &mut self.gate else { return Ok(Some((Peer::Open(from), bytes))) };
        let heard = gate.hear(&Moment::new(now, unix()), from, bytes, &mut self.plain);
        let peer = match heard {
            Heard::Session { peer, boot, .. } => Some(Peer::Sealed(peer, boot)),
            Heard::Data(peer) => gate.told(now, peer).boot.map(|boot| Peer::Sealed(peer, boot)),
            Heard::Nothing => None,
        };
        self.work(now, out)?;
        Ok(peer.map(|peer| (peer, &self.plain[..])))
    }

    /// Sends content; it is lost where no session is.
    ///
    /// # Errors
    /// If the system cannot send.
    pub(super) fn send(
        &mut self,
        now: Time,
        out: &mut Outbox,
        to: Peer,
        content: &[u8],
    ) -> io::Result<()> {
        match (to, &mut self.gate) {
            (Peer::Open(address), _) => out.push(address, content),
            (Peer::Sealed(peer, _), Some(gate)) => {
                let at = Moment::new(now, unix());
                let address = gate.seal(&at, peer, content, &mut self.sealed);
                address.map_or(Ok(()), |address| out.push(address, &self.sealed))
            }
            (Peer::Sealed(..), None) => Ok(()),
        }
    }

    /// Sends what is due of the gate's own.
    ///
    /// # Errors
    /// If the system cannot send.
    pub(super) fn work(&mut self, now: Time, out: &mut Outbox) -> io::Result<()> {
        let Some(gate) = &mut self.gate else { return Ok(()) };
        if gate.next_timeout() > now {
            return Ok(());
        }
        let at = Moment::new(now, unix());
        while let Some(to) = gate.poll(&at, &mut self.sealed) {
            out.push(to, &self.sealed)?;
        }
        Ok(())
    }

    /// When `work` is to be called next.
    pub(super) fn next(&self) -> Time {
        self.gate.as_ref().map_or(Time::NEVER, Gate::next_timeout)
    }

    /// Whether strangers are answered.
    pub(super) fn is_sealed(&self) -> bool {
        self.gate.is_some()
    }

    /// The server at this address, once there is a session with it; none after so long in vain.
    ///
    /// # Errors
    /// If the system cannot send or receive.
    pub(super) fn reach(
        &mut self,
        (waiter, port): (&Waiter, &mut Port),
        server: SocketAddr,
        clock: Clock,
        patience: Span,
    ) -> io::Result<Option<Peer>> {
        if self.gate.is_none() {
            return Ok(Some(Peer::Open(server)));
        }
        let end = clock.now() + patience;
        let mut found = None;
        while found.is_none() && clock.now() < end {
            let now = clock.now();
            self.work(now, &mut port.out)?;
            port.out.flush()?;
            let some = port.receive(|out, from, bytes| {
                found = found.or(self.hear(now, out, from, bytes)?.map(|(peer, _)| peer));
                Ok(())
            })?;
            port.out.flush()?;
            if !some {
                waiter.wait(until(self.next().min(end), now))?;
            }
        }
        Ok(found)
    }
}
