//! A connection of external programs, as observed from its packets.

use sojourn_base::units::Time;
use sojourn_net::record::FlowCounters;

use crate::observed::{Counters, Observed};
use crate::wire::{Headers, TCP, Transport, UDP};

/// What the packets of a connection have in common: a route, a protocol, and ports, which are zero for
/// a protocol other than TCP and UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Number of the route, whose two ends are the connection's.
    pub route: usize,
    protocol: u8,
    /// Of the end at side 0, and of the other.
    ports: [u16; 2],
}

impl Key {
    /// The connection of a packet that enters a route at this side, and has these headers if it is of
    /// TCP or UDP, else this protocol number.
    pub(super) fn of(route: usize, side: usize, headers: &Result<Headers, u8>) -> Self {
        let (protocol, ports) = match headers {
            Ok(Headers { transport: Transport::Tcp(_), ports, .. }) => (TCP, *ports),
            Ok(Headers { ports, .. }) => (UDP, *ports),
            Err(protocol) => (*protocol, [0; 2]),
        };
        let ports = if side == 0 { ports } else { [ports[1], ports[0]] };
        Key { route, protocol, ports }
    }

    /// Both ports in one number, by which queues classify. Hosts at the same node have addresses of
    /// their own: connections on different routes differ, even with the same ports.
    pub(super) fn ports(&self) -> u32 {
        const SPREAD: u32 = 0x9e37_79b1;
        let ports = u32::from(self.ports[0]) << 16 | u32::from(self.ports[1]);
        ports ^ (self.route as u32).wrapping_mul(SPREAD)
    }

    fn is_tcp(&self) -> bool {
        self.protocol == TCP
    }

    /// Whether its packets show what becomes of its data.
    pub(super) fn is_observed(&self) -> bool {
        matches!(self.protocol, TCP | UDP)
    }

    /// Counters of the data of a side before its first packet.
    pub(super) fn blank(&self) -> FlowCounters {
        without_kernel(Counters::default().report(self.is_tcp()))
    }

    /// A name for the data of a side: its port, then the other's, each after the name of its host.
    pub(super) fn name(&self, side: usize, hosts: [&str; 2]) -> String {
        let transport = if self.is_tcp() { "tcp" } else { "udp" };
        let end = |side: usize| match hosts[side] {
            "" => self.ports[side].to_string(),
            host => format!("{host}:{}", self.ports[side]),
        };
        format!("{transport} {}>{}", end(side), end(1 - side))
    }
}

/// The side at which a packet enters, and its sequence number if it is the first segment of a
/// connection.
pub(super) type Opening = (usize, Option<u32>);

/// The sequence number of a segment that opens a connection.
pub(super) fn opening(headers: &Headers) -> Option<u32> {
    match headers.transport {
        Transport::Tcp(segment) if segment.is_syn() && !segment.has_ack() => Some(segment.seq),
        _ => None,
    }
}

/// A connection.
pub(super) struct Connection {
    pub key: Key,
    /// Number of the flow that its packets are of.
    pub flow: u32,
    /// The side that sent the first packet.
    pub opener: usize,
    /// The sequence number of the segment that opened it.
    opening: Option<u32>,
    pub first_seen: Time,
    pub last_seen: Time,
    /// Packets that entered the network at either side.
    pub entered: [u32; 2],
    /// Observed data of each side.
    pub seen: [Observed; 2],
}

impl Connection {
    /// The connection that a packet opens at a side, with this sequence number if it is a segment that
    /// opens one.
    pub(super) fn new(key: Key, flow: u32, (opener, opening): Opening, now: Time) -> Self {
        let (entered, seen) = Default::default();
        Connection { key, flow, opener, opening, first_seen: now, last_seen: now, entered, seen }
    }

    /// Whether a packet opens another connection, with the same ports.
    pub(super) fn is_over(&self, (side, opening): Opening) -> bool {
        opening.is_some() && (self.opener, self.opening) != (side, opening)
    }

    /// The sides whose data are flows: those that sent any, or the one that tried to.
    pub(super) fn senders(&self) -> impl Iterator<Item = usize> {
        let sent = self.seen.each_ref().map(|seen| seen.counters.sent.sent_bytes > 0);
        let tried = (sent == [false; 2]).then_some(self.opener);
        let observed = self.key.is_observed();
        [0, 1].into_iter().filter(move |side| observed && (sent[*side] || tried == Some(*side)))
    }

    pub(super) fn counters(&self) -> [FlowCounters; 2] {
        self.seen.each_ref().map(|seen| without_kernel(seen.counters.report(self.key.is_tcp())))
    }
}

/// Removes counters that packets do not show.
fn without_kernel(all: FlowCounters) -> FlowCounters {
    FlowCounters { rate: None, limits: None, ..all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_segment_of_its_own_opens_another_connection() {
        let key = Key { route: 0, protocol: TCP, ports: [40_000, 80] };
        let connection = Connection::new(key, 7, (0, Some(5)), Time::ZERO);
        let over = [(0, None), (1, None), (0, Some(5)), (0, Some(6)), (1, Some(5))];
        assert_eq!(
            over.map(|packet| connection.is_over(packet)),
            [false, false, false, true, true]
        );
    }

    #[test]
    fn the_data_of_either_side_are_a_flow() {
        let key = Key { route: 0, protocol: TCP, ports: [40_000, 80] };
        let mut connection = Connection::new(key, 7, (0, None), Time::ZERO);
        let senders = |connection: &Connection| connection.senders().collect::<Vec<_>>();
        assert_eq!(senders(&connection), [0]);
        connection.opener = 1;
        assert_eq!(senders(&connection), [1]);
        connection.seen[0].counters.sent.sent_bytes = 1;
        assert_eq!(senders(&connection), [0]);
        connection.seen[1].counters.sent.sent_bytes = 1;
        assert_eq!(senders(&connection), [0, 1]);
        let ping = Connection::new(Key { protocol: 1, ..key }, 7, (0, None), Time::ZERO);
        assert!(senders(&ping).is_empty());
        let names = [0, 1].map(|side| key.name(side, ["", ""]));
        assert_eq!(names, ["tcp 40000>80", "tcp 80>40000"]);
        assert_eq!(key.name(1, ["a", "b"]), "tcp b:80>a:40000");
    }
}
