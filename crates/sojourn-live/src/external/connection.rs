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

    /// Both ports in one number, by which queues classify.
    pub(super) fn ports(&self) -> u32 {
        u32::from(self.ports[0]) << 16 | u32::from(self.ports[1])
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

/// A connection.
pub(super) struct Connection {
    pub key: Key,
    /// Number of the flow that its packets are of.
    pub flow: u32,
    /// The side that sent the first packet.
    pub opener: usize,
    pub first_seen: Time,
    pub last_seen: Time,
    /// Packets that entered the network at either side.
    pub entered: [u32; 2],
    /// Observed data of each side.
    pub seen: [Observed; 2],
}

impl Connection {
    pub(super) fn new(key: Key, flow: u32, opener: usize, now: Time) -> Self {
        let (entered, seen) = Default::default();
        Connection { key, flow, opener, first_seen: now, last_seen: now, entered, seen }
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
    fn the_data_of_either_side_are_a_flow() {
        let key = Key { route: 0, protocol: TCP, ports: [40_000, 80] };
        let mut connection = Connection::new(key, 7, 0, Time::ZERO);
        let senders = |connection: &Connection| connection.senders().collect::<Vec<_>>();
        assert_eq!(senders(&connection), [0]);
        connection.opener = 1;
        assert_eq!(senders(&connection), [1]);
        connection.seen[0].counters.sent.sent_bytes = 1;
        assert_eq!(senders(&connection), [0]);
        connection.seen[1].counters.sent.sent_bytes = 1;
        assert_eq!(senders(&connection), [0, 1]);
        let ping = Connection::new(Key { protocol: 1, ..key }, 7, 0, Time::ZERO);
        assert!(senders(&ping).is_empty());
        let names = [0, 1].map(|side| key.name(side, ["", ""]));
        assert_eq!(names, ["tcp 40000>80", "tcp 80>40000"]);
        assert_eq!(key.name(1, ["a", "b"]), "tcp b:80>a:40000");
    }
}
