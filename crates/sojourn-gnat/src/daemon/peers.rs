//! The neighbours as peers of a gate, and the ports to them.
//!
//! One open port is there for whoever calls. Each neighbour whose address is known has a connected port
//! besides, with a buffer of its own, so that strangers cannot fill it. A neighbour that moves is heard
//! at the open port first; its connected port follows it.

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

use sojourn_base::units::Time;
use sojourn_sliq::secure::{Boot, Gate, Heard, Moment, PeerId, Public};
use sojourn_sliq::udp::{Outbox, Port, Waiter};

use super::Error;
use super::told::{Exchanged, LinkTold};

/// Datagrams that are taken from the open port at once; more of them are lost, so that a flood takes
/// no time from the neighbours.
const STRANGERS: usize = 64;

/// What a neighbour has sent.
pub(super) enum News<'a> {
    /// The content of a datagram.
    Content(&'a [u8]),
    /// Its process has been started anew.
    Restarted,
}

/// A port that is connected.
struct Connected {
    to: SocketAddr,
    port: Port,
}

/// The neighbours, by their place among those of the part, and their ports.
pub(super) struct Peers {
    open: Port,
    ports: Vec<Option<Connected>>,
    door: Door,
    waiter: Waiter,
}

/// What all ports have in common.
struct Door {
    gate: Gate,
    links: Vec<LinkTold>,
    boots: Vec<Option<Boot>>,
    /// Whether somebody may be at another address than before.
    moved: bool,
    plain: Vec<u8>,
    sealed: Vec<u8>,
}

impl Peers {
    /// Of a gate without peers, at this port.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub(super) fn new(gate: Gate, mut open: Port) -> io::Result<Self> {
        open.out.many = true;
        let waiter = Waiter::new()?;
        waiter.add(&open)?;
        let (links, boots, ports) = (Vec::new(), Vec::new(), Vec::new());
        let (plain, sealed) = (Vec::new(), Vec::new());
        let door = Door { gate, links, boots, moved: true, plain, sealed };
        Ok(Peers { open, ports, door, waiter })
    }

    /// Adds the next neighbour.
    pub(super) fn add(&mut self, node: &str, key: Public, address: Option<SocketAddr>) {
        let id = self.door.gate.add(key, address);
        let exchanged = Exchanged::default();
        self.door.links.push(LinkTold { id, node: node.to_owned(), exchanged });
        self.door.boots.push(None);
        self.ports.push(None);
        self.door.moved = true;
    }

    /// Gives a neighbour another key, or another address.
    pub(super) fn change(&mut self, place: usize, keys: [Public; 2], address: Option<SocketAddr>) {
        let Door { gate, links, moved, .. } = &mut self.door;
        let [old, new] = keys;
        if old != new {
            gate.remove(links[place].id);
        }
        links[place].id = gate.add(new, address);
        *moved = true;
    }

    /// That the system refuses a port something.
    pub(super) fn refused(&self, error: io::Error) -> Error {
        let address = self.open.address().map_or_else(|_| "listen".into(), |at| at.to_string());
        Error::Network { address, error }
    }

    /// The gate.
    pub(super) fn gate(&self) -> &Gate {
        &self.door.gate
    }

    /// What went over the links.
    pub(super) fn links(&self) -> &[LinkTold] {
        &self.door.links
    }

    /// Passes on what has come, by the neighbour's place; whether anything has come to a port.
    /// Neighbours whose ports are connected are heard first.
    ///
    /// # Errors
    /// If the system cannot receive or send.
    pub(super) fn receive(
        &mut self,
        at: &Moment,
        mut with: impl FnMut(usize, &mut LinkTold, News<'_>),
    ) -> io::Result<bool> {
        let Peers { open, ports, door, .. } = self;
        let mut some = false;
        for Connected { port, .. } in ports.iter_mut().flatten() {
            some |= port.receive(|out, from, bytes| door.hear(at, out, from, bytes, &mut with))?;
        }
        let mut count = 0;
        some |= open.receive(|out, from, bytes| {
            count += 1;
            if count > STRANGERS { Ok(()) } else { door.hear(at, out, from, bytes, &mut with) }
        })?;
        Ok(some)
    }

    /// Sends content to a neighbour; without a session with it, it is lost.
    ///
    /// # Errors
    /// If the system cannot send.
    pub(super) fn send(&mut self, at: &Moment, place: usize, content: &[u8]) -> io::Result<()> {
        let Door { gate, links, sealed, .. } = &mut self.door;
        let LinkTold { id, exchanged, .. } = &mut links[place];
        let Some(to) = gate.seal(at, *id, content, sealed) else {
            exchanged.unsealed_datagrams += 1;
            return Ok(());
        };
        exchanged.sent_datagrams += 1;
        exchanged.sent_bytes += sealed.len() as u64;
        let out = match &mut self.ports[place] {
            Some(connected) if connected.to == to => &mut connected.port.out,
            _ => &mut self.open.out,
        };
        out.push(to, sealed)
    }

    /// Sends what is due of the gate's own, and all that waits to be sent.
    ///
    /// # Errors
    /// If the system cannot send.
    pub(super) fn flush(&mut self, at: &Moment) -> io::Result<()> {
        self.door.work(at, &mut self.open.out)?;
        self.open.out.flush()?;
        for Connected { port, .. } in self.ports.iter_mut().flatten() {
            port.out.flush()?;
        }
        if std::mem::take(&mut self.door.moved) {
            self.follow(at.now)?;
        }
        Ok(())
    }

    /// Connects the ports to where the neighbours are. One that cannot be connected now is sent to from
    /// the open port.
    fn follow(&mut self, now: Time) -> io::Result<()> {
        for (port, link) in self.ports.iter_mut().zip(&self.door.links) {
            let there = self.door.gate.told(now, link.id).address;
            if port.as_ref().map(|connected| connected.to) == there {
                continue;
            }
            // The system allows no two ports with the same peer.
            *port = None;
            let Some(to) = there else { continue };
            let Ok(mut new) = self.open.connected(to) else { continue };
            new.out.many = true;
            self.waiter.add(&new)?;
            *port = Some(Connected { to, port: new });
        }
        Ok(())
    }

    /// The addresses of neighbours are to be looked at.
    pub(super) fn look(&mut self) {
        self.door.moved = true;
    }

    /// When the gate has work.
    pub(super) fn next(&self) -> Time {
        self.door.gate.next_timeout()
    }

    /// Lets this end waits as datagrams do, as long as it is open.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn also(&self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        self.waiter.also(descriptor)
    }

    /// Waits until a datagram comes, or until it is `until`.
    ///
    /// # Errors
    /// If the system cannot wait.
    pub(super) fn wait(&self, now: Time, until: Time) -> io::Result<()> {
        self.waiter.wait(std::time::Duration::from_nanos(until.since(now).as_nanos()))
    }
}

impl Door {
    /// Opens a datagram, and answers what the gate answers.
    fn hear(
        &mut self,
        at: &Moment,
        out: &mut Outbox,
        from: SocketAddr,
        bytes: &[u8],
        with: &mut impl FnMut(usize, &mut LinkTold, News<'_>),
    ) -> io::Result<()> {
        let heard = self.gate.hear(at, from, bytes, &mut self.plain);
        let (peer, boot) = match heard {
            Heard::Data(peer) => (peer, None),
            Heard::Session { peer, boot, .. } => (peer, Some(boot)),
            Heard::Nothing => return self.work(at, out),
        };
        if let Some(place) = self.place(peer) {
            let Door { links, boots, moved, plain, .. } = self;
            let link = &mut links[place];
            if let Some(boot) = boot {
                *moved = true;
                if boots[place].replace(boot).is_some_and(|before| before != boot) {
                    with(place, link, News::Restarted);
                }
            }
            link.exchanged.received_datagrams += 1;
            link.exchanged.received_bytes += bytes.len() as u64;
            if !plain.is_empty() {
                with(place, link, News::Content(plain));
            }
        }
        if boot.is_some() { self.work(at, out) } else { Ok(()) }
    }

    fn place(&self, peer: PeerId) -> Option<usize> {
        self.links.iter().position(|link| link.id == peer)
    }

    /// Sends what is due of the gate's own.
    fn work(&mut self, at: &Moment, out: &mut Outbox) -> io::Result<()> {
        if self.gate.next_timeout() > at.now {
            return Ok(());
        }
        while let Some(to) = self.gate.poll(at, &mut self.sealed) {
            out.push(to, &self.sealed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sojourn_base::units::Span;
    use sojourn_sliq::secure::{Ages, Secret};

    use super::*;

    fn key(of: u8) -> Secret {
        Secret::from_bytes([of; 32])
    }

    fn port() -> (Port, SocketAddr) {
        let port = Port::open(([127, 0, 0, 1], 0).into()).unwrap();
        let address = port.address().unwrap();
        (port, address)
    }

    /// A process with a neighbour, which is there.
    fn process(port: Port, [own, other]: [u8; 2], boot: u8, there: SocketAddr) -> Peers {
        let gate = Gate::new(key(own), [boot; 8], Ages::default());
        let mut peers = Peers::new(gate, port).unwrap();
        peers.add("other", key(other).public(), Some(there));
        peers
    }

    /// Two processes and a clock.
    struct Both([Peers; 2], u64);

    impl Both {
        fn new() -> Self {
            let [(one, here), (two, there)] = [port(), port()];
            Both([process(one, [1, 2], 1, there), process(two, [2, 1], 1, here)], 0)
        }

        fn at(&self) -> Moment {
            let elapsed = Duration::from_millis(self.1);
            Moment::new(Time::ZERO + Span::from_millis(self.1), elapsed)
        }

        /// Lets one send this until the other has got it; returns how often it heard of a restart.
        fn send(&mut self, from: usize, content: &[u8]) -> u32 {
            let (mut got, mut restarts) = (false, 0);
            for _ in 0..1_000 {
                self.1 += 10;
                let at = self.at();
                for place in 0..2 {
                    let heard = self.0[place].receive(&at, |_, _, news| match news {
                        News::Content(bytes) => got |= place != from && bytes == content,
                        News::Restarted => restarts += 1,
                    });
                    heard.unwrap();
                    self.0[place].flush(&at).unwrap();
                }
                if got {
                    return restarts;
                }
                self.0[from].send(&at, 0, content).unwrap();
            }
            panic!("nothing has come");
        }

        fn is_connected(&self, of: usize, to: SocketAddr) -> bool {
            self.0[of].ports[0].as_ref().is_some_and(|connected| connected.to == to)
        }
    }

    #[test]
    fn a_neighbour_that_moves_is_followed() {
        let mut both = Both::new();
        assert_eq!(both.send(0, b"one"), 0);
        let (port, there) = port();
        both.0[1].open = port;
        both.0[1].open.out.many = true;
        both.0[1].ports[0] = None;
        assert!(!both.is_connected(0, there));
        assert_eq!(both.send(1, b"two"), 0);
        both.0[0].look();
        assert_eq!(both.send(0, b"three"), 0);
        assert!(both.is_connected(0, there));
    }

    #[test]
    fn a_process_that_is_started_anew_is_known_as_such() {
        let mut both = Both::new();
        assert_eq!(both.send(1, b"one"), 0);
        let here = both.0[0].open.address().unwrap();
        // A new one has the address of the old one, whose ports are closed first.
        let there = both.0[1].open.address().unwrap();
        both.0[1].ports[0] = None;
        both.0[1].open = port().0;
        both.0[1] = process(Port::open(there).unwrap(), [2, 1], 2, here);
        assert_eq!(both.send(1, b"two"), 1);
        assert_eq!(both.send(0, b"three"), 0);
    }

    #[test]
    fn of_a_flood_some_is_counted_and_nothing_more() {
        let mut both = Both::new();
        let here = both.0[0].open.address().unwrap();
        let mut stranger = port().0;
        for _ in 0..200 {
            stranger.out.push(here, &[9; 40]).unwrap();
        }
        stranger.out.flush().unwrap();
        let at = both.at();
        both.0[0].receive(&at, |_, _, _| panic!("a stranger")).unwrap();
        let heard = both.0[0].gate().counters().malformed;
        assert!((1..=STRANGERS as u64).contains(&heard), "{heard}");
        assert_eq!(both.send(0, b"one"), 0);
    }
}
