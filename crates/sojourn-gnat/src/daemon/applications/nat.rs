//! Which connection of this machine's TCP stands for which connection of a program.
//!
//! A program's end and a remote one exchange packets through the device; so do a socket of this node and
//! a phantom, an address that is nowhere, with a port for each connection. What one pair sends is written
//! back as what the other one receives. Where a program asks, the socket is the node's listener;
//! where a program is asked, the node's socket asks the phantom.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};

use sojourn_base::units::{Span, Time};

use super::ip::Ends;

/// The phantoms' address. It is of the link-local range, from which nothing is ever routed elsewhere,
/// and is seen by this machine's kernel alone.
pub(super) const PHANTOM: Ipv4Addr = Ipv4Addr::new(169, 254, 78, 1);
/// How long what has been closed is remembered after its last packet: as long as Linux remembers it.
const LINGERS: Span = Span::from_millis(60_000);
/// At most so many connections are known, so that a free port is soon found.
const MOST: usize = 32_768;

/// A connection.
struct Entry {
    /// The program's end, and the remote one.
    program: Ends,
    /// The node's socket, once it is known.
    socket: Option<SocketAddrV4>,
    /// The class of what the program sends.
    class: usize,
    is_open: bool,
    seen: Time,
}

/// All connections, by the phantom's port.
pub(super) struct Table {
    entries: BTreeMap<u16, Entry>,
    by_program: BTreeMap<Ends, u16>,
    next: u16,
}

impl Table {
    /// Without any; the first port is `first` or the next.
    pub(super) fn new(first: u16) -> Self {
        Table { entries: BTreeMap::new(), by_program: BTreeMap::new(), next: first }
    }

    /// A new connection between a program and a remote end, with the node's socket if that is known and
    /// its class; the port of its phantom. It takes the place of an older one with these ends. `None` if
    /// all are taken.
    pub(super) fn add(
        &mut self,
        program: Ends,
        socket: Option<SocketAddrV4>,
        class: usize,
        now: Time,
    ) -> Option<u16> {
        if let Some(old) = self.by_program.remove(&program) {
            self.entries.remove(&old);
        }
        if self.entries.len() >= MOST {
            return None;
        }
        while self.next == 0 || self.entries.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let port = self.next;
        self.next = port.wrapping_add(1);
        self.entries.insert(port, Entry { program, socket, class, is_open: false, seen: now });
        self.by_program.insert(program, port);
        Some(port)
    }

    /// The program's end and the remote one of a phantom's connection, and its class; it has a socket from
    /// now on.
    pub(super) fn open(&mut self, phantom: SocketAddrV4) -> Option<(Ends, usize)> {
        let entry = self.entries.get_mut(&phantom.port()).filter(|_| *phantom.ip() == PHANTOM)?;
        entry.is_open = true;
        Some((entry.program, entry.class))
    }

    /// The connection's socket is closed; packets may still follow.
    pub(super) fn close(&mut self, port: u16, now: Time) {
        if let Some(entry) = self.entries.get_mut(&port) {
            (entry.is_open, entry.seen) = (false, now);
        }
    }

    /// The ends that a packet with these is to have; `None` if it belongs to no connection.
    pub(super) fn translate(&mut self, ends: Ends, now: Time) -> Option<Ends> {
        if *ends.to.ip() == PHANTOM {
            let entry = self.entries.get_mut(&ends.to.port())?;
            if *entry.socket.get_or_insert(ends.from) != ends.from {
                return None;
            }
            entry.seen = now;
            return Some(entry.program.reversed());
        }
        let port = *self.by_program.get(&ends)?;
        let entry = self.entries.get_mut(&port)?;
        entry.seen = now;
        Some(Ends { from: SocketAddrV4::new(PHANTOM, port), to: entry.socket? })
    }

    /// Forgets what has been closed for long.
    pub(super) fn sweep(&mut self, now: Time) {
        let Table { entries, by_program, .. } = self;
        entries.retain(|_, entry| {
            let stays = entry.is_open || entry.seen + LINGERS > now;
            if !stays {
                by_program.remove(&entry.program);
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddrV4 {
        text.parse().unwrap()
    }

    fn ends(from: &str, to: &str) -> Ends {
        Ends { from: at(from), to: at(to) }
    }

    #[test]
    fn a_program_that_asks_meets_the_listener() {
        let mut table = Table::new(65_535);
        let asked = ends("10.9.1.1:4000", "10.9.2.1:80");
        assert_eq!(table.translate(asked, Time::ZERO), None);
        let port = table.add(asked, Some(at("10.9.1.1:5000")), 3, Time::ZERO).unwrap();
        let inside = ends(&format!("169.254.78.1:{port}"), "10.9.1.1:5000");
        assert_eq!(table.translate(asked, Time::ZERO), Some(inside));
        assert_eq!(table.translate(inside.reversed(), Time::ZERO), Some(asked.reversed()));
        assert_eq!(table.open(inside.from), Some((asked, 3)));
        assert_eq!(table.open(at("10.9.1.1:65535")), None);
        let other = table.add(ends("10.9.1.1:4001", "10.9.2.1:80"), None, 0, Time::ZERO);
        assert_eq!((port, other), (65_535, Some(1)));
    }

    #[test]
    fn a_program_that_is_asked_sees_who_asks() {
        let mut table = Table::new(7);
        let program = ends("10.9.1.1:80", "10.9.2.1:4000");
        let port = table.add(program, None, 0, Time::ZERO).unwrap();
        assert_eq!(table.translate(program, Time::ZERO), None, "before the node has asked");
        let asks = ends("10.9.1.1:6000", &format!("169.254.78.1:{port}"));
        assert_eq!(table.translate(asks, Time::ZERO), Some(program.reversed()));
        assert_eq!(table.translate(program, Time::ZERO), Some(asks.reversed()));
        let stranger = ends("10.9.1.1:6001", &format!("169.254.78.1:{port}"));
        assert_eq!(table.translate(stranger, Time::ZERO), None);
        let again = table.add(program, None, 0, Time::ZERO).unwrap();
        assert_ne!(again, port);
        assert_eq!(table.translate(asks, Time::ZERO), None);
    }

    #[test]
    fn what_is_closed_is_forgotten_when_no_packet_comes() {
        let mut table = Table::new(7);
        let asked = ends("10.9.1.1:4000", "10.9.2.1:80");
        let port = table.add(asked, Some(at("10.9.1.1:5000")), 3, Time::ZERO).unwrap();
        table.open(SocketAddrV4::new(PHANTOM, port)).unwrap();
        let later = |seconds: u64| Time::ZERO + Span::from_millis(1_000 * seconds);
        table.sweep(later(1_000));
        table.close(port, later(1_000));
        table.sweep(later(1_059));
        assert!(table.translate(asked, later(1_059)).is_some());
        table.sweep(later(1_118));
        assert!(table.translate(asked, later(1_118)).is_some());
        table.sweep(later(1_179));
        assert_eq!(table.translate(asked, later(1_179)), None);
    }
}
