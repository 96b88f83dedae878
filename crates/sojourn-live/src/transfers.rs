//! Transfers on a live network, as the packets of their connections show them: rows, and counts over
//! time.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use sojourn_base::error::Fault;
use sojourn_base::packet::{Address, Direction, Header, Packet};
use sojourn_base::units::{Span, Time};
use sojourn_net::net::Step;
use sojourn_net::record::Table;
use sojourn_net::record::histogram::Histogram;
use sojourn_sim::sim::arrivals::{End, Entry, EntryCounters, EntrySamples, Row, TransferRows};

use crate::connection::Connection;
use crate::datagrams::Datagrams;
use crate::news::{Begun, Closed, Ended, News, Waits};
use crate::shown::{Carried, Shown};
use crate::waiting::Waiting;
use crate::wire::Headers;

/// The transfers of a run.
pub struct Transfers {
    entries: Vec<Entry>,
    /// By the sender's port.
    connections: BTreeMap<u16, Connection>,
    /// Transfers of datagrams under way, by the flow numbers of these: the sender gives its port back
    /// when all are sent.
    datagrams: BTreeMap<u32, Datagrams>,
    waiting: Waiting,
    /// Until the run ends nobody knows how old a transfer is that never ends.
    rows: Vec<Row>,
    samples: EntrySamples,
    /// Whether the kernel does not count timeouts.
    lacks_timeouts: bool,
    /// Times from when transfers arrived until the senders' side took them up.
    lateness: Histogram,
    /// Packets of connections of which nothing was told, which the network has not carried.
    strangers: u64,
    /// What another thread tells of connections.
    news: Option<Receiver<News>>,
}

impl Transfers {
    /// The transfers of these entries; the news of them come from another thread, or to
    /// [`Transfers::hear`].
    pub fn new(entries: Vec<Entry>, news: Option<Receiver<News>>) -> Self {
        let (connections, datagrams, waiting, rows, samples, lateness) = Default::default();
        let (lacks_timeouts, strangers) = (false, 0);
        Transfers {
            entries,
            connections,
            datagrams,
            waiting,
            rows,
            samples,
            lacks_timeouts,
            lateness,
            strangers,
            news,
        }
    }

    /// Hears of a connection, before the packets that it is about.
    pub fn hear(&mut self, news: News) {
        match news {
            News::Waits(waits) => self.wait(waits),
            News::Begun(begun) => self.begin(begun),
            News::Written(written) => {
                if let Some(shown) = self.shown(written.port) {
                    shown.written(written.number, written.ends);
                }
            }
            News::Ended(ended) => self.end(&ended),
            News::Closed(closed) => self.close(&closed),
        }
    }

    fn listen(&mut self) {
        while let Some(news) = self.news.as_ref().and_then(|news| news.try_recv().ok()) {
            self.hear(news);
        }
    }

    fn shown(&mut self, port: u16) -> Option<&mut Shown> {
        self.connections.get_mut(&port)?.shown.as_deref_mut()
    }

    fn wait(&mut self, waits: Waits) {
        let Some(entry) = self.entries.get_mut(usize::from(waits.entry)) else { return };
        entry.counts.arrived += 1;
        entry.counts.offered_bytes += waits.size;
        entry.counts.waiting += 1;
        self.waiting.add(waits);
    }

    fn begin(&mut self, begun: Begun) {
        let number = usize::from(begun.entry);
        let Some(entry) = self.entries.get_mut(number) else { return };
        if begun.waited {
            if self.waiting.begins(&begun) {
                entry.counts.waiting -= 1;
            }
        } else {
            entry.counts.arrived += 1;
            entry.counts.offered_bytes += begun.size;
            self.lateness.add(begun.start.since(begun.arrival));
        }
        entry.counts.live += 1;
        if begun.number == 0 {
            self.open(&begun);
        }
        if let Some(shown) = self.shown(begun.port) {
            shown.carry(begun);
        }
    }

    /// A connection is opened for a transfer of an entry that there is.
    fn open(&mut self, begun: &Begun) {
        let number = usize::from(begun.entry);
        let entry = &mut self.entries[number];
        let Some(addresses) = entry.addresses(begun.variant) else { return };
        let own = |address: Address| Address { flow: begun.flow, ..address };
        entry.counts.connections += 1;
        let answered = !entry.sends_datagrams(begun.variant);
        let connection = Connection {
            entry: number,
            flow: begun.flow,
            addresses: addresses.map(own),
            entered: [0; 2],
            persistent: begun.persistent,
            shown: answered.then(|| Box::new(Shown::new(entry.asks()))),
            counts: answered,
        };
        self.connections.insert(begun.port, connection);
        if !answered {
            self.datagrams.insert(begun.flow, Datagrams::new(*begun));
        }
    }

    fn end(&mut self, ended: &Ended) {
        let Some(connection) = self.connections.get_mut(&ended.port) else { return };
        let Some(shown) = &mut connection.shown else { return };
        let Some(carried) = shown.end(ended.number) else { return };
        let end = end_of(&carried, &mut self.entries[connection.entry].counts);
        self.lacks_timeouts |= ended.timeouts.is_none();
        let timeouts = ended.timeouts.unwrap_or(0);
        self.rows.push(shown.row(&carried, end, timeouts, ended.min_rtt));
    }

    fn close(&mut self, closed: &Closed) {
        let Some(connection) = self.connections.get_mut(&closed.port) else { return };
        let counts = &mut self.entries[connection.entry].counts;
        connection.leave(counts);
        let Some(mut shown) = connection.shown.take() else { return };
        self.lacks_timeouts |= closed.timeouts.is_none();
        let timeouts = closed.timeouts.unwrap_or(0);
        for carried in shown.end_all() {
            let end = end_of(&carried, counts);
            self.rows.push(shown.row(&carried, end, timeouts, closed.min_rtt));
        }
    }

    /// A packet of a connection enters the network at the sender (side 0) or at the receiver:
    /// returns it as it enters. One of a connection of which nothing was told is lost.
    pub(crate) fn enters(&mut self, now: Time, side: usize, headers: &Headers) -> Option<Packet> {
        self.listen();
        let Some(connection) = self.connections.get_mut(&headers.ports[side]) else {
            self.strangers += 1;
            return None;
        };
        let header = match &mut connection.shown {
            Some(shown) => shown.enters(now, side, headers),
            None => Header::opaque(headers.payload),
        };
        let index = connection.entered[side];
        connection.entered[side] += 1;
        Some(headers.packet(&connection.addresses[side], side, index, header))
    }

    /// A packet of a connection has left the network.
    pub(crate) fn leaves(&mut self, now: Time, packet: &Packet, headers: &Headers) {
        if let Some(datagrams) = self.datagrams.get_mut(&packet.flow) {
            if datagrams.received(now, packet, headers.payload) {
                self.end_datagrams(packet.flow, Some(now));
            }
            return;
        }
        let [source, destination] = headers.ports;
        let forward = packet.direction() == Direction::Forward;
        let port = if forward { source } else { destination };
        let connection = self.connections.get_mut(&port).filter(|one| one.flow == packet.flow);
        let Some(connection) = connection else { return };
        let Some(shown) = &mut connection.shown else { return };
        if forward {
            return shown.received(now, headers);
        }
        let complete = shown.acknowledged(now, headers);
        let counts = &mut self.entries[connection.entry].counts;
        counts.live -= complete;
        counts.finished += complete;
        if complete > 0 && !connection.persistent {
            connection.leave(counts);
        }
    }

    /// A transfer of datagrams is over, since all had arrived at this time, or since it has failed.
    fn end_datagrams(&mut self, flow: u32, completed: Option<Time>) {
        let Some(mut datagrams) = self.datagrams.remove(&flow) else { return };
        let counts = &mut self.entries[datagrams.entry()].counts;
        counts.live -= 1;
        counts.connections -= 1;
        counts.carried_bytes += datagrams.arrived();
        let end = if completed.is_some() {
            counts.finished += 1;
            End::Finished
        } else {
            counts.failed += 1;
            End::Failed
        };
        self.rows.push(datagrams.row(end, completed));
    }

    /// Takes a sample.
    ///
    /// # Errors
    /// If there were packets of connections of which nothing was told.
    pub(crate) fn sample(&mut self, now: Time) -> Step {
        self.listen();
        self.check(now)?;
        let failed = self.datagrams.iter().filter(|(_, datagrams)| datagrams.has_failed(now));
        let failed: Vec<u32> = failed.map(|(flow, _)| *flow).collect();
        failed.into_iter().for_each(|flow| self.end_datagrams(flow, None));
        let mut counts: Vec<EntryCounters> =
            self.entries.iter().map(|entry| entry.counts).collect();
        for connection in self.connections.values().filter(|connection| connection.counts) {
            counts[connection.entry].carried_bytes += connection.arrived();
        }
        for datagrams in self.datagrams.values() {
            counts[datagrams.entry()].carried_bytes += datagrams.arrived();
        }
        for (entry, counts) in counts.iter().enumerate() {
            self.samples.push(now, entry, counts);
        }
        Ok(())
    }

    /// A connection is told of before its first packet: else the network loses what it must not.
    fn check(&self, now: Time) -> Step {
        if self.strangers == 0 {
            return Ok(());
        }
        let message = format!(
            "{} packets came from connections of which nothing had been told, and were lost",
            self.strangers
        );
        Err(Box::new(Fault { time: now, component: "arrivals".to_owned(), message }))
    }

    /// Times from when transfers arrived until the senders' side took them up.
    pub(crate) fn lateness(&self) -> &Histogram {
        &self.lateness
    }

    /// The rows of all transfers, those under way at `now` included, and the samples.
    pub(crate) fn outcome(mut self, now: Time) -> [Table; 2] {
        self.listen();
        let shown = self.connections.values_mut().filter_map(|one| one.shown.as_deref_mut());
        let mut left: Vec<_> = Vec::new();
        for shown in shown {
            for carried in shown.end_all() {
                let end = if carried.is_complete() { End::Finished } else { End::Live };
                left.push((carried.rank(), shown.row(&carried, end, 0, Span::ZERO)));
            }
        }
        for (flow, datagrams) in &mut self.datagrams {
            left.push(((Time::NEVER, *flow, 0), datagrams.row(End::Live, None)));
        }
        left.sort_by_key(|(rank, _)| *rank);
        let left = left.into_iter().map(|(_, row)| row);
        let mut rows = TransferRows::default();
        let all = self.rows.into_iter().chain(left).chain(self.waiting.into_rows());
        all.for_each(|row| rows.push(now, &row));
        let unknown: &[&str] = if self.lacks_timeouts { &["timeouts"] } else { &[] };
        [rows.into_table().without(unknown), self.samples.into_table()]
    }
}

/// What becomes of a transfer with which a connection has nothing to do any more.
fn end_of(carried: &Carried, counts: &mut EntryCounters) -> End {
    if carried.is_complete() {
        return End::Finished;
    }
    counts.live -= 1;
    counts.failed += 1;
    End::Failed
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sojourn_base::packet::{Dscp, Ecn};
    use sojourn_sim::catalogue;
    use sojourn_sim::scenario::Scenario;
    use sojourn_sim::sim::{Surroundings, arrivals};

    use super::*;
    use crate::news::Written;
    use crate::wire::{Sacks, Segment, Transport};

    const SYN: u8 = 0x02;
    const ACK: u8 = 0x10;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Those of an entry with these keys.
    fn transfers(keys: &str) -> Transfers {
        let text = format!(
            "duration = \"9 s\"\n[topology]\nkind = \"dumbbell\"\n\
             bottleneck = {{ rate = \"10 Mbit/s\" }}\n[[arrivals]]\n\
             rtt = \"20 ms\"\nrate = \"1 /s\"\nsize = \"2 kB\"\n{keys}"
        );
        let scenario = Scenario::from_toml(&text, &Arc::new(catalogue::core())).unwrap();
        let addresses = Surroundings::new(&scenario, None).unwrap().addresses;
        let entries = arrivals::entries(&scenario, &addresses).unwrap();
        Transfers::new(entries, None)
    }

    /// A connection is opened at this time from this port, for 2000 bytes.
    fn begun(ms: u64, port: u16) -> Begun {
        let (entry, variant, number, group) = (0, 0, 0, 0);
        let (arrival, start, ideal) = (at(ms), at(ms), Span::from_millis(50));
        let flow = 1 << 24 | u32::from(port);
        let (size, ends, waited, persistent) = (2000, 2000, false, false);
        Begun {
            port,
            entry,
            variant,
            flow,
            number,
            group,
            arrival,
            start,
            size,
            ideal,
            ends,
            waited,
            persistent,
        }
    }

    fn open(transfers: &mut Transfers, ms: u64, port: u16) {
        transfers.hear(News::Begun(begun(ms, port)));
    }

    fn close(transfers: &mut Transfers, port: u16) {
        let min_rtt = Span::from_millis(15);
        transfers.hear(News::Closed(Closed { port, timeouts: Some(2), min_rtt }));
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
        let mut transfers = transfers("cca = \"reno\"");
        open(&mut transfers, 1_000, 1024);
        pass(&mut transfers, 0, 1_000, [0, 0], (SYN, 0));
        pass(&mut transfers, 1, 1_010, [0, 1], (SYN | ACK, 0));
        pass(&mut transfers, 0, 1_020, [1, 1], (ACK, 1000));
        pass(&mut transfers, 0, 1_021, [1001, 1], (ACK, 1000));
        transfers.sample(at(1_035)).unwrap();
        pass(&mut transfers, 1, 1_031, [1, 2001], (ACK, 0));
        open(&mut transfers, 1_500, 1025);
        open(&mut transfers, 1_500, 1026);
        close(&mut transfers, 1024);
        close(&mut transfers, 1026);
        pass(&mut transfers, 1, 1_550, [1, 2002], (ACK, 0)); // the network still lets it through
        transfers.sample(at(2_000)).unwrap();
        let [rows, samples] = transfers.outcome(at(2_000));
        let column = |name: &str| rows.reals(name).unwrap();
        assert_eq!(column("outcome"), [0.0, 2.0, 1.0]);
        assert_eq!(column("completed")[0], 1.041);
        // Failed ones grow old as long as the run lasts.
        assert_eq!(column("slowdown"), [0.041 / 0.05, 0.5 / 0.05, 0.5 / 0.05]);
        assert_eq!(column("timeouts"), [2.0, 2.0, 0.0]);
        assert_eq!((column("rtt")[0], column("min_rtt")[0]), (0.02, 0.015));
        let column = |name: &str| samples.reals(name).unwrap();
        assert_eq!((column("arrived"), column("live")), (vec![1.0, 3.0], vec![1.0, 1.0]));
        assert_eq!((column("finished"), column("failed")), (vec![0.0, 1.0], vec![0.0, 1.0]));
        assert_eq!(column("carried_bytes"), [2000.0, 2000.0]);
        assert_eq!(column("connections"), column("live"));
    }

    #[test]
    fn transfers_of_a_persistent_connection_end_where_their_bytes_do() {
        let mut transfers = transfers("cca = \"reno\"\nconnections = \"pool\"");
        let first = Begun { persistent: true, ..begun(1_000, 1024) };
        let Begun { entry, variant, group, arrival, size, ideal, .. } = first;
        let waits = Waits { entry, variant, group, arrival, size, ideal };
        [News::Begun(first), News::Waits(waits), News::Waits(waits)]
            .into_iter()
            .for_each(|news| transfers.hear(news));
        pass(&mut transfers, 0, 1_000, [0, 0], (SYN, 0));
        pass(&mut transfers, 1, 1_010, [0, 1], (SYN | ACK, 0));
        pass(&mut transfers, 0, 1_020, [1, 1], (ACK, 1000));
        pass(&mut transfers, 0, 1_021, [1001, 1], (ACK, 1000));
        transfers.sample(at(1_035)).unwrap();
        pass(&mut transfers, 1, 1_031, [1, 2001], (ACK, 0));
        let (port, min_rtt) = (1024, Span::from_millis(15));
        transfers.hear(News::Ended(Ended { port, number: 0, timeouts: Some(1), min_rtt }));
        let (number, start, ends) = (1, at(1_041), u64::MAX);
        transfers.hear(News::Begun(Begun { number, start, ends, waited: true, ..first }));
        pass(&mut transfers, 0, 1_041, [2001, 1], (ACK, 1000));
        transfers.hear(News::Written(Written { port, number, ends: 4000 }));
        pass(&mut transfers, 0, 1_042, [3001, 1], (ACK, 1000));
        pass(&mut transfers, 0, 1_060, [2001, 1], (ACK, 1000));
        pass(&mut transfers, 1, 1_070, [1, 3001], (ACK, 0));
        pass(&mut transfers, 1, 1_090, [1, 4001], (ACK, 0));
        transfers.hear(News::Ended(Ended { port, number, timeouts: Some(0), min_rtt }));
        close(&mut transfers, port);
        transfers.sample(at(2_000)).unwrap();
        let [rows, samples] = transfers.outcome(at(2_000));
        let column = |name: &str| rows.reals(name).unwrap();
        assert_eq!(column("outcome"), [0.0, 0.0, 1.0]);
        assert_eq!(column("start")[..2], [1.0, 1.041]);
        assert_eq!(column("completed")[..2], [1.041, 1.1]);
        assert!(column("start")[2].is_nan() && column("completed")[2].is_nan());
        assert_eq!(column("retransmissions"), [0.0, 1.0, 0.0]);
        assert_eq!(column("timeouts"), [1.0, 0.0, 0.0]);
        let column = |name: &str| samples.reals(name).unwrap();
        assert_eq!((column("arrived"), column("waiting")), (vec![3.0, 3.0], vec![2.0, 1.0]));
        assert_eq!((column("live"), column("connections")), (vec![1.0, 0.0], vec![1.0, 0.0]));
        assert_eq!((column("finished"), column("failed")), (vec![0.0, 2.0], vec![0.0, 0.0]));
        assert_eq!(column("carried_bytes"), [2000.0, 4000.0]);
    }

    #[test]
    fn a_response_is_complete_when_it_is_acknowledged_and_its_request_counts() {
        let mut transfers = transfers("cca = \"reno\"\nrequest = \"500 B\"");
        open(&mut transfers, 1_000, 1024);
        pass(&mut transfers, 1, 1_000, [0, 0], (SYN, 0));
        pass(&mut transfers, 0, 1_010, [0, 1], (SYN | ACK, 0));
        pass(&mut transfers, 1, 1_020, [1, 1], (ACK, 500));
        pass(&mut transfers, 1, 1_025, [1, 1], (ACK, 500));
        pass(&mut transfers, 0, 1_040, [1, 501], (ACK, 1000));
        pass(&mut transfers, 0, 1_041, [1001, 501], (ACK, 1000));
        transfers.sample(at(1_055)).unwrap();
        pass(&mut transfers, 1, 1_060, [501, 2001], (ACK, 0));
        close(&mut transfers, 1024);
        let [rows, samples] = transfers.outcome(at(2_000));
        let column = |name: &str| rows.reals(name).unwrap();
        assert_eq!((column("outcome"), column("completed")), (vec![0.0], vec![1.07]));
        assert_eq!((column("retransmissions"), column("rtt")), (vec![1.0], vec![0.029]));
        assert_eq!(samples.reals("carried_bytes").unwrap(), [2000.0]);
    }

    #[test]
    fn timeouts_are_unknown_where_the_kernel_counts_none() {
        let mut transfers = transfers("cca = \"reno\"");
        open(&mut transfers, 1_000, 1024);
        let (port, timeouts, min_rtt) = (1024, None, Span::ZERO);
        transfers.hear(News::Closed(Closed { port, timeouts, min_rtt }));
        let [rows, _] = transfers.outcome(at(2_000));
        assert!(rows.reals("timeouts").unwrap()[0].is_nan());
    }

    #[test]
    fn a_connection_that_nobody_told_of_fails_the_run() {
        let mut transfers = transfers("cca = \"reno\"");
        let transport = Transport::Udp;
        let (ecn, dscp, ports) = (Ecn::NotEct, Dscp::BEST_EFFORT, [1024, 10_000]);
        let headers = Headers { size: 60, ecn, dscp, ports, payload: 0, transport };
        transfers.sample(at(1_000)).unwrap();
        assert!(transfers.enters(at(1_001), 0, &headers).is_none());
        let fault = transfers.sample(at(2_000)).unwrap_err();
        assert!(fault.message.starts_with("1 packets"), "{fault}");
    }

    #[test]
    fn datagrams_are_over_when_all_have_arrived_once() {
        let mut transfers = transfers("transport = \"udp\"");
        let headers = |port: u16| Headers {
            size: 1028,
            ecn: Ecn::Ect0,
            dscp: Dscp::BEST_EFFORT,
            ports: [port, 10_000],
            payload: 1000,
            transport: Transport::Udp,
        };
        let send = |transfers: &mut Transfers, ms: u64, port: u16| {
            [0, 1].map(|_| transfers.enters(at(ms), 0, &headers(port)).unwrap())
        };
        let arrive = |transfers: &mut Transfers, ms: u64, packet: &Packet| {
            transfers.leaves(at(ms), packet, &headers(1024));
        };
        [1024, 1025].into_iter().for_each(|port| open(&mut transfers, 1_000, port));
        let [first, incomplete] = [1024, 1025].map(|port| send(&mut transfers, 1_000, port));
        // The port is given back when all are sent.
        let again = Begun { flow: 7, ..begun(1_001, 1024) };
        transfers.hear(News::Begun(again));
        let second = send(&mut transfers, 1_001, 1024);
        assert_eq!([first[1].index, second[0].index, second[0].flow], [1, 0, 7]);
        [1_010, 1_011].into_iter().for_each(|ms| arrive(&mut transfers, ms, &first[0]));
        transfers.sample(at(1_015)).unwrap();
        arrive(&mut transfers, 1_020, &Packet { ecn: Ecn::Ce, ..first[1] });
        arrive(&mut transfers, 1_021, &first[1]);
        second.iter().for_each(|packet| arrive(&mut transfers, 1_022, packet));
        arrive(&mut transfers, 1_030, &incomplete[1]);
        [61_029, 61_030].into_iter().for_each(|ms| transfers.sample(at(ms)).unwrap());
        open(&mut transfers, 61_100, 1026);
        let [rows, samples] = transfers.outcome(at(61_200));
        let column = |name: &str| rows.reals(name).unwrap();
        assert_eq!(column("outcome"), [0.0, 0.0, 2.0, 1.0]);
        assert_eq!(column("completed")[..2], [1.02, 1.022]);
        assert_eq!((column("start")[1], column("marks")), (1.001, vec![1.0, 0.0, 0.0, 0.0]));
        assert!(column("rtt").iter().chain(&column("min_rtt")).all(|rtt| rtt.is_nan()));
        let column = |name: &str| samples.reals(name).unwrap();
        assert_eq!((column("arrived"), column("live")), (vec![3.0; 3], vec![3.0, 1.0, 0.0]));
        let ended = ["finished", "failed"].map(column);
        assert_eq!(ended, [[0.0, 2.0, 2.0], [0.0, 0.0, 1.0]]);
        assert_eq!(column("carried_bytes"), [1000.0, 5000.0, 5000.0]);
        assert_eq!(column("connections"), column("live"));
    }
}
