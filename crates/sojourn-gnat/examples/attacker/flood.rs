//! A flood of handshakes: as many as one core sends.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sojourn_sliq::secure::Public;

use crate::attack::Attack;
use crate::between::State;
use crate::strangers::Stranger;

/// Addresses that it comes from, and strangers: each calls one of the two nodes.
const PLACES: usize = 64;
/// One in so many comes from the neighbour's own address.
const OWN: usize = 8;
/// Datagrams until it is asked for another attack.
const ROUND: usize = 256;

/// What a flood needs.
pub(crate) struct Flood {
    sockets: Vec<UdpSocket>,
    strangers: Vec<Stranger>,
    /// The sockets at addresses that the nodes take for their neighbours', and where the nodes are.
    sides: [(UdpSocket, SocketAddr); 2],
    state: Arc<State>,
}

/// A socket at an address of its own, where the system has many.
fn socket(number: usize, node: SocketAddr) -> io::Result<UdpSocket> {
    let own = match node.ip() {
        IpAddr::V4(ip) if ip.is_loopback() => Ipv4Addr::new(127, 0, 1, number as u8 + 1).into(),
        IpAddr::V4(_) => IpAddr::from([0; 4]),
        IpAddr::V6(_) => IpAddr::from([0; 16]),
    };
    let socket = UdpSocket::bind((own, 0))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Flood {
    /// One of the nodes with these keys.
    ///
    /// # Errors
    /// If sockets cannot be opened.
    pub(crate) fn new(
        sides: [(UdpSocket, SocketAddr); 2],
        keys: [Public; 2],
        state: Arc<State>,
    ) -> io::Result<Self> {
        let nodes = [sides[0].1, sides[1].1];
        let open = |number: usize| socket(number, nodes[number % 2]);
        let caller = |number: usize| {
            let which = number % 2;
            Stranger::new(1 + number as u64, keys[which], nodes[which])
        };
        Ok(Flood {
            sockets: (0..PLACES).map(open).collect::<io::Result<_>>()?,
            strangers: (0..PLACES).map(caller).collect(),
            sides,
            state,
        })
    }

    /// Floods whenever it is asked to, until the end.
    pub(crate) fn run(mut self) {
        let mut number = 0;
        while !self.state.ends() {
            if self.state.attack() != Attack::Flood {
                thread::sleep(Duration::from_millis(5));
                continue;
            }
            let sent = (0..ROUND).filter(|_| {
                number += 1;
                self.send(number)
            });
            let sent = sent.count() as u64;
            self.state.count(sent);
        }
    }

    /// Whether the system has taken the datagram of this number.
    fn send(&mut self, number: usize) -> bool {
        let place = number % PLACES;
        let (side, node) = &self.sides[place % 2];
        let call = &self.strangers[place].call;
        if (number / PLACES).is_multiple_of(OWN) {
            return side.send_to(call, node).is_ok();
        }
        let sent = self.sockets[place].send_to(call, node).is_ok();
        if number / PLACES % 16 == 1 {
            self.hear(place);
        }
        sent
    }

    /// Takes the cookies that have come, with which an address has proved to be its own.
    fn hear(&mut self, place: usize) {
        let mut bytes = [0; 256];
        while let Ok((length, from)) = self.sockets[place].recv_from(&mut bytes) {
            self.strangers[place].hears(from, &bytes[..length]);
        }
    }
}
