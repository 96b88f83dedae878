//! A connection of external programs, as observed from its packets.

use sojourn_base::units::Time;
use sojourn_net::record::FlowCounters;

use crate::observed::{Counters, Observed};
use crate::wire::{Headers, Transport};

/// Transport and ports: the initiator's, then the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    tcp: bool,
    pub ports: [u16; 2],
}

impl Key {
    pub(super) fn of(side: usize, headers: &Headers) -> Self {
        let [source, destination] = headers.ports;
        let ports = if side == 0 { [source, destination] } else { [destination, source] };
        Key { tcp: matches!(headers.transport, Transport::Tcp(_)), ports }
    }

    /// Counters of the data of a side before its first packet.
    pub(super) fn blank(&self) -> FlowCounters {
        without_kernel(Counters::default().report(self.tcp))
    }

    /// A name for the data of a side: its port, then the other's.
    pub(super) fn name(&self, side: usize) -> String {
        let transport = if self.tcp { "tcp" } else { "udp" };
        format!("{transport} {}>{}", self.ports[side], self.ports[1 - side])
    }
}

/// A connection; side 0 opened it.
pub(super) struct Connection {
    pub key: Key,
    pub first_seen: Time,
    pub last_seen: Time,
    /// Packets that entered the network at either side.
    pub entered: [u32; 2],
    /// Observed data of each side.
    pub seen: [Observed; 2],
}

impl Connection {
    pub(super) fn new(key: Key, now: Time) -> Self {
        let (entered, seen) = Default::default();
        Connection { key, first_seen: now, last_seen: now, entered, seen }
    }

    /// The sides whose data are flows: those that sent any, or the one that tried to.
    pub(super) fn senders(&self) -> impl Iterator<Item = usize> {
        let sent = self.seen.each_ref().map(|seen| seen.counters.sent.sent_bytes > 0);
        [0, 1].into_iter().filter(move |side| sent[*side] || *side == 0 && !sent[1])
    }

    pub(super) fn counters(&self) -> [FlowCounters; 2] {
        self.seen.each_ref().map(|seen| without_kernel(seen.counters.report(self.key.tcp)))
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
        let key = Key { tcp: true, ports: [40_000, 80] };
        let mut connection = Connection::new(key, Time::ZERO);
        let senders = |connection: &Connection| connection.senders().collect::<Vec<_>>();
        assert_eq!(senders(&connection), [0]);
        connection.seen[1].counters.sent.sent_bytes = 1;
        assert_eq!(senders(&connection), [1]);
        connection.seen[0].counters.sent.sent_bytes = 1;
        assert_eq!(senders(&connection), [0, 1]);
        assert_eq!([0, 1].map(|side| key.name(side)), ["tcp 40000>80", "tcp 80>40000"]);
    }
}
