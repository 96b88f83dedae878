//! Connections of a capture: which packets belong together, and who opened them.

use std::collections::HashMap;
use std::net::SocketAddr;

use sojourn_base::units::{Span, Time};

use crate::packets::Passing;
use crate::wire::{Segment, Transport};

/// Transport and ends: that which opened the connection, as far as it shows, and the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) tcp: bool,
    pub(crate) ends: [SocketAddr; 2],
}

impl Key {
    fn reversed(self) -> Self {
        Key { ends: [self.ends[1], self.ends[0]], ..self }
    }
}

/// A handshake as it passes the vantage.
#[derive(Clone, Copy, Debug, Default)]
struct Handshake {
    /// The SYN's sequence number, and when it passed last.
    opened: Option<(u32, Time)>,
    answered: Option<Time>,
    confirmed: Option<Time>,
}

/// What a side has sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) payload: u64,
    pub(crate) largest_payload: u16,
    pub(crate) largest_packet: u32,
    /// Whether its SYN is in the capture.
    pub(crate) began: bool,
}

/// A connection; side 0 opened it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) key: Key,
    pub(crate) first: Time,
    pub(crate) last: Time,
    /// The interface of its first packet.
    pub(crate) interface: usize,
    pub(crate) sent: [Sent; 2],
    handshake: Handshake,
}

impl Connection {
    /// The side that the vantage is at: that which has the shorter part of the handshake's
    /// time. Nothing of one that began before.
    pub(crate) fn nearer(&self) -> Option<usize> {
        let Handshake { opened: Some((_, opened)), answered, confirmed } = self.handshake else {
            return None;
        };
        let (answered, confirmed) = answered.zip(confirmed)?;
        Some(usize::from(answered.since(opened) < confirmed.since(answered)))
    }

    /// The sides whose data are flows: those that sent any, or the one that tried to.
    pub(crate) fn senders(&self) -> impl Iterator<Item = usize> + use<> {
        let sent = self.sent.map(|sent| sent.payload > 0);
        [0, 1].into_iter().filter(move |side| sent[*side] || *side == 0 && !sent[1])
    }

    /// How long it lasted.
    pub(crate) fn lasted(&self) -> Span {
        self.last.since(self.first)
    }

    fn note(&mut self, side: usize, passing: &Passing) {
        self.last = passing.now;
        let headers = &passing.packet.headers;
        let sent = &mut self.sent[side];
        sent.payload += u64::from(headers.payload);
        sent.largest_payload = sent.largest_payload.max(headers.payload);
        sent.largest_packet = sent.largest_packet.max(headers.size);
        let Transport::Tcp(segment) = headers.transport else { return };
        sent.began |= segment.is_syn();
        let handshake = &mut self.handshake;
        match (side, segment.is_syn()) {
            (0, true) => handshake.opened = Some((segment.seq, passing.now)),
            (1, true) => handshake.answered = handshake.answered.or(Some(passing.now)),
            (0, false) if handshake.answered.is_some() => {
                handshake.confirmed = handshake.confirmed.or(Some(passing.now));
            }
            _ => {}
        }
    }
}

/// All connections so far, in the order in which they were seen.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    known: HashMap<Key, usize>,
    pub(crate) all: Vec<Connection>,
}

impl Connections {
    /// The number of the connection that a packet belongs to, which is new if the packet begins one,
    /// and the side that it comes from; `None` if it passes another interface than its connection.
    pub(crate) fn place(&mut self, passing: &Passing) -> Option<(usize, usize)> {
        let transport = passing.packet.headers.transport;
        let tcp = matches!(transport, Transport::Tcp(_));
        let key = Key { tcp, ends: passing.packet.ends };
        let found = [key, key.reversed()].map(|key| self.known.get(&key).copied());
        let found = match found {
            [Some(number), _] => Some((number, 0)),
            [None, number] => number.map(|number| (number, 1)),
        };
        let opening = match transport {
            Transport::Tcp(segment) if segment.is_syn() => Some(segment),
            _ => None,
        };
        let (number, side) = match found {
            Some(found) if !self.is_succeeded(found.0, opening) => found,
            _ => self.add(key, opening, passing),
        };
        let connection = &mut self.all[number];
        if passing.towards.is_none() && connection.interface != passing.interface {
            return None;
        }
        connection.note(side, passing);
        Some((number, side))
    }

    /// Whether a SYN opens another connection with the ends of one whose data have been seen.
    fn is_succeeded(&self, number: usize, opening: Option<Segment>) -> bool {
        let Connection { sent, handshake, .. } = &self.all[number];
        let is_new = |segment: Segment| {
            let begins = !segment.has_ack();
            begins && handshake.opened.is_none_or(|(seq, _)| seq != segment.seq)
        };
        opening.is_some_and(is_new) && sent.iter().any(|sent| sent.payload > 0)
    }

    /// Adds a connection; a SYN that answers comes from the side that did not open it.
    fn add(&mut self, key: Key, opening: Option<Segment>, passing: &Passing) -> (usize, usize) {
        let side = usize::from(opening.is_some_and(|segment| segment.has_ack()));
        let key = if side == 0 { key } else { key.reversed() };
        let number = self.all.len();
        self.known.remove(&key.reversed());
        self.known.insert(key, number);
        let Passing { now, interface, .. } = *passing;
        let (sent, handshake) = Default::default();
        self.all.push(Connection { key, first: now, last: now, interface, sent, handshake });
        (number, side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::Packet;
    use crate::wire::{Headers, Sacks};
    use sojourn_base::packet::{Dscp, Ecn};

    const SYN: u8 = 0x02;
    const ACK: u8 = 0x10;

    fn passing(ms: u64, from: u16, flags: u8, seq: u32, payload: u16) -> Passing {
        let ports = [from, 1 - from];
        let transport = Transport::Tcp(Segment { seq, ack: 0, flags, sacks: Sacks::default() });
        let (size, ecn, dscp) = (52 + u32::from(payload), Ecn::NotEct, Dscp::BEST_EFFORT);
        let headers = Headers { size, ecn, dscp, ports, payload, transport };
        let ends = ports.map(|port| SocketAddr::from(([10, 0, 0, 1], port)));
        let now = Time::ZERO + Span::from_millis(ms);
        Passing { now, interface: 0, towards: None, packet: Packet { ends, headers } }
    }

    #[test]
    fn the_handshake_tells_who_opened_and_where_the_point_is() {
        for (answered, nearer) in [(40, 0), (2, 1)] {
            let mut connections = Connections::default();
            let mut place = |passing| connections.place(&passing);
            assert_eq!(place(passing(0, 1, SYN, 7, 0)), Some((0, 0)));
            assert_eq!(place(passing(answered, 0, SYN | ACK, 9, 0)), Some((0, 1)));
            assert_eq!(place(passing(42, 1, ACK, 8, 0)), Some((0, 0)));
            assert_eq!(place(passing(90, 0, ACK, 10, 100)), Some((0, 1)));
            let connection = &connections.all[0];
            assert_eq!(connection.nearer(), Some(nearer));
            assert_eq!(connection.senders().collect::<Vec<_>>(), [1]);
            assert!(connection.sent.iter().all(|sent| sent.began));
            assert_eq!(connection.lasted(), Span::from_millis(90));
        }
    }

    #[test]
    fn a_connection_that_began_before_has_no_handshake() {
        let mut connections = Connections::default();
        assert_eq!(connections.place(&passing(0, 1, ACK, 8, 100)), Some((0, 0)));
        assert_eq!(connections.place(&passing(5, 0, ACK, 8, 0)), Some((0, 1)));
        let connection = &connections.all[0];
        assert_eq!((connection.nearer(), connection.sent[0].began), (None, false));
    }

    #[test]
    fn ends_may_be_used_again_and_an_answer_alone_tells_the_opener() {
        let mut connections = Connections::default();
        assert_eq!(connections.place(&passing(0, 1, SYN | ACK, 7, 0)), Some((0, 1)));
        assert_eq!(connections.place(&passing(1, 0, ACK, 8, 100)), Some((0, 0)));
        // The same SYN once more opens none, another does.
        assert_eq!(connections.place(&passing(2, 0, SYN, 50, 0)), Some((1, 0)));
        assert_eq!(connections.place(&passing(3, 0, SYN, 50, 0)), Some((1, 0)));
        assert_eq!(connections.place(&passing(4, 1, SYN, 60, 0)), Some((1, 1)));
        assert_eq!(connections.place(&passing(5, 0, ACK, 51, 10)), Some((1, 0)));
        assert_eq!(connections.place(&passing(6, 1, SYN, 61, 0)), Some((2, 0)));
        let elsewhere = Passing { interface: 1, ..passing(7, 0, ACK, 8, 0) };
        assert_eq!(connections.place(&elsewhere), None);
    }
}
