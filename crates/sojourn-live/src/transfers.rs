//! Transfers on a live network, as the packets of their connections show them: rows, and counts over
//! time.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use sojourn_base::packet::{Address, Direction, Header, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_net::record::Table;
use sojourn_sim::sim::arrivals::{
    Counted, End, Entry, EntryCounters, EntrySamples, Row, TransferRows,
};

use crate::news::{Closed, News, Opened};
use crate::observed::Observed;
use crate::wire::Headers;

/// A connection; what is left of one that is over still passes the network.
struct Connection {
    entry: usize,
    flow: u32,
    addresses: [Address; 2],
    /// Packets that entered the network, there and back.
    entered: [u32; 2],
    /// Its transfer, unless it is over.
    carried: Option<Box<Carried>>,
}

/// A transfer and what its packets have shown.
struct Carried {
    opened: Opened,
    seen: Observed,
    completed: Option<Time>,
}

/// The transfers of a run.
pub struct Transfers {
    entries: Vec<Entry>,
    /// By the sender's port.
    connections: BTreeMap<u16, Connection>,
    rows: TransferRows,
    samples: EntrySamples,
    /// End of the run, up to which a transfer that never ends grows old.
    end: Time,
    /// What another thread tells of connections.
    news: Option<Receiver<News>>,
}

impl Transfers {
    /// The transfers of these entries in a run up to `end`; the news of them come from another
    /// thread, or to [`Transfers::hear`].
    pub fn new(entries: Vec<Entry>, end: Time, news: Option<Receiver<News>>) -> Self {
        let (connections, rows, samples) = Default::default();
        Transfers { entries, connections, rows, samples, end, news }
    }

    /// Hears of a connection, before its first packet or after its last.
    pub fn hear(&mut self, news: News) {
        match news {
            News::Opened(opened) => self.open(opened),
            News::Closed(closed) => self.close(&closed),
        }
    }

    fn listen(&mut self) {
        while let Some(news) = self.news.as_ref().and_then(|news| news.try_recv().ok()) {
            self.hear(news);
        }
    }

    fn open(&mut self, opened: Opened) {
        let number = usize::from(opened.entry);
        let Some(entry) = self.entries.get_mut(number) else { return };
        let Some(addresses) = entry.addresses(opened.variant) else { return };
        let own = |address: Address| Address { flow: opened.flow, ..address };
        entry.counts.arrived += 1;
        entry.counts.offered_bytes += opened.size;
        entry.counts.live += 1;
        entry.counts.connections += 1;
        let carried = Carried { opened, seen: Observed::default(), completed: None };
        let connection = Connection {
            entry: number,
            flow: opened.flow,
            addresses: addresses.map(own),
            entered: [0; 2],
            carried: Some(Box::new(carried)),
        };
        self.connections.insert(opened.port, connection);
    }

    fn close(&mut self, closed: &Closed) {
        let Some(connection) = self.connections.get_mut(&closed.port) else { return };
        let Some(mut carried) = connection.carried.take() else { return };
        let end = match carried.completed {
            Some(_) => End::Finished,
            None => {
                ended(&mut self.entries[connection.entry].counts, &carried).failed += 1;
                End::Failed
            }
        };
        carried.seen.counters.recovery.rtos = closed.timeouts.into();
        self.rows.push(self.end, &carried.row(end, closed.min_rtt));
    }

    /// A packet of a connection enters the network at the sender (side 0) or at the receiver:
    /// returns it as it enters.
    pub(crate) fn enters(&mut self, now: Time, side: usize, headers: &Headers) -> Option<Packet> {
        self.listen();
        let connection = self.connections.get_mut(&headers.ports[side])?;
        let header = match &mut connection.carried {
            Some(carried) => carried.seen.enters(now, side, headers),
            None => Header::opaque(headers.payload),
        };
        let index = connection.entered[side];
        connection.entered[side] += 1;
        Some(headers.packet(&connection.addresses[side], side, index, header))
    }

    /// A packet of a connection has left the network.
    pub(crate) fn leaves(&mut self, now: Time, packet: &Packet, headers: &Headers) {
        let [source, destination] = headers.ports;
        let port = if packet.direction() == Direction::Forward { source } else { destination };
        let connection = self.connections.get_mut(&port).filter(|one| one.flow == packet.flow);
        let Some(Connection { entry, carried: Some(carried), .. }) = connection else { return };
        if packet.direction() == Direction::Forward {
            return carried.seen.received(now, headers);
        }
        carried.seen.acknowledged(now, headers);
        if carried.completed.is_none() && carried.seen.acked().0 >= carried.opened.size {
            carried.completed = Some(now);
            ended(&mut self.entries[*entry].counts, carried).finished += 1;
        }
    }

    /// Takes a sample.
    pub(crate) fn sample(&mut self, now: Time) {
        self.listen();
        let mut counts: Vec<EntryCounters> =
            self.entries.iter().map(|entry| entry.counts).collect();
        for connection in self.connections.values() {
            if let Some(carried) = connection.carried.as_ref().filter(|one| one.completed.is_none())
            {
                counts[connection.entry].carried_bytes += carried.arrived();
            }
        }
        for (entry, counts) in counts.iter().enumerate() {
            self.samples.push(now, entry, counts);
        }
    }

    /// The rows of all transfers, those under way at `now` included, and the samples.
    pub(crate) fn outcome(mut self, now: Time) -> [Table; 2] {
        self.listen();
        let left = self.connections.into_values().filter_map(|connection| connection.carried);
        let mut left: Vec<_> = left.collect();
        left.sort_by_key(|carried| (carried.completed.unwrap_or(Time::NEVER), carried.opened.flow));
        for carried in left {
            let end = if carried.completed.is_some() { End::Finished } else { End::Live };
            self.rows.push(now, &carried.row(end, Span::ZERO));
        }
        [self.rows.into_table(), self.samples.into_table()]
    }
}

/// A transfer is not under way any more.
fn ended<'a>(counts: &'a mut EntryCounters, carried: &Carried) -> &'a mut EntryCounters {
    counts.live -= 1;
    counts.connections -= 1;
    counts.carried_bytes += carried.arrived();
    counts
}

impl Carried {
    /// Payload that has reached the receiver in order.
    fn arrived(&self) -> u64 {
        self.seen.counters.received.in_order_bytes
    }

    /// Its row; `min_rtt` is the kernel's, or zero.
    fn row(&self, end: End, min_rtt: Span) -> Row {
        let Opened { entry, variant, group, arrival, start, size, ideal, .. } = self.opened;
        let mut counters = self.seen.counters;
        counters.rtt.min_rtt = match min_rtt {
            Span::ZERO => self.seen.least_rtt().unwrap_or(Span::ZERO),
            known => known,
        };
        Row {
            entry: entry.into(),
            variant,
            group,
            arrival,
            start: Some(start),
            completed: self.completed,
            size,
            ideal,
            counted: Counted::from(&counters.report(true)),
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sojourn_base::packet::{Dscp, Ecn};
    use sojourn_sim::catalogue;
    use sojourn_sim::scenario::Scenario;
    use sojourn_sim::sim::{Surroundings, arrivals};

    use super::*;
    use crate::wire::{Sacks, Segment, Transport};

    const SYN: u8 = 0x02;
    const ACK: u8 = 0x10;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn transfers() -> Transfers {
        let text = "duration = \"9 s\"\n[topology]\nkind = \"dumbbell\"\n\
                    bottleneck = { rate = \"10 Mbit/s\" }\n[[arrivals]]\ncca = \"reno\"\n\
                    rtt = \"20 ms\"\nrate = \"1 /s\"\nsize = \"2 kB\"";
        let scenario = Scenario::from_toml(text, &Arc::new(catalogue::core())).unwrap();
        let addresses = Surroundings::new(&scenario, None).unwrap().addresses;
        let entries = arrivals::entries(&scenario, &addresses).unwrap();
        Transfers::new(entries, at(9_000), None)
    }

    /// A connection is opened at this time from this port, for 2000 bytes.
    fn open(transfers: &mut Transfers, ms: u64, port: u16) {
        let (entry, variant, group) = (0, 0, 0);
        let (arrival, start, ideal) = (at(ms), at(ms), Span::from_millis(50));
        let flow = 1 << 24 | u32::from(port);
        let size = 2000;
        transfers.hear(News::Opened(Opened {
            port,
            entry,
            variant,
            flow,
            group,
            arrival,
            start,
            size,
            ideal,
        }));
    }

    fn close(transfers: &mut Transfers, port: u16) {
        let min_rtt = Span::from_millis(15);
        transfers.hear(News::Closed(Closed { port, timeouts: 2, min_rtt }));
    }

    /// A segment from this side of port 1024's connection crosses the network in 10 ms.
    fn pass(transfers: &mut Transfers, side: usize, ms: u64, numbers: [u32; 2], what: (u8, u16)) {
        let ports = if side == 0 { [1024, 10_000] } else { [10_000, 1024] };
        let ([seq, ack], (flags, payload)) = (numbers, what);
        let transport = Transport::Tcp(Segment { seq, ack, flags, sacks: Sacks::default() });
        let size = 52 + u32::from(payload);
        let dscp = Dscp::BEST_EFFORT;
        let headers = Headers { size, ecn: Ecn::NotEct, dscp, ports, payload, transport };
        let packet = transfers.enters(at(ms), side, &headers).unwrap();
        assert_eq!((packet.flow, packet.tuple.ports), (1 << 24 | 1024, 1024 << 16 | 10_000));
        transfers.leaves(at(ms + 10), &packet, &headers);
    }

    #[test]
    fn packets_tell_what_becomes_of_transfers() {
        let mut transfers = transfers();
        open(&mut transfers, 1_000, 1024);
        pass(&mut transfers, 0, 1_000, [0, 0], (SYN, 0));
        pass(&mut transfers, 1, 1_010, [0, 1], (SYN | ACK, 0));
        pass(&mut transfers, 0, 1_020, [1, 1], (ACK, 1000));
        pass(&mut transfers, 0, 1_021, [1001, 1], (ACK, 1000));
        transfers.sample(at(1_035));
        pass(&mut transfers, 1, 1_031, [1, 2001], (ACK, 0));
        open(&mut transfers, 1_500, 1025);
        open(&mut transfers, 1_500, 1026);
        close(&mut transfers, 1024);
        close(&mut transfers, 1026);
        pass(&mut transfers, 1, 1_550, [1, 2002], (ACK, 0)); // the network still lets it through
        transfers.sample(at(2_000));
        let [rows, samples] = transfers.outcome(at(2_000));
        let column = |name: &str| rows.reals(name).unwrap();
        assert_eq!(column("outcome"), [0.0, 2.0, 1.0]);
        assert_eq!(column("completed")[0], 1.041);
        assert_eq!(column("slowdown"), [0.041 / 0.05, 7.5 / 0.05, 0.5 / 0.05]);
        assert_eq!(column("timeouts"), [2.0, 2.0, 0.0]);
        assert_eq!((column("rtt")[0], column("min_rtt")[0]), (0.02, 0.015));
        let column = |name: &str| samples.reals(name).unwrap();
        assert_eq!((column("arrived"), column("live")), (vec![1.0, 3.0], vec![1.0, 1.0]));
        assert_eq!((column("finished"), column("failed")), (vec![0.0, 1.0], vec![0.0, 1.0]));
        assert_eq!(column("carried_bytes"), [2000.0, 2000.0]);
        assert_eq!(column("connections"), column("live"));
    }
}
