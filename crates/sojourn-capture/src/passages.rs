//! The packets of a capture as rows: when each passes which vantage, and what its headers say.
//!
//! All packets of a connection are of one flow, the first one of its sides. Numbers of bytes count from
//! the first that the capture has of the side that they are of, modulo 2^32, so that those of two
//! captures can be compared.

use std::iter;
use std::mem;

use sojourn_net::record::capture::Towards;
use sojourn_net::record::{CHUNK, Column, Table, TableSink, Values};

use crate::flow::Flow;
use crate::packets::Passing;
use crate::wire::Transport;

/// What a row has beside its time: whole numbers, [`NONE`] where the headers have none.
const COLUMNS: [&str; 17] = [
    "link", "flow", "index", "size", "event", "class", "flags", "seq", "ack", "sack_0", "sack_1",
    "sack_2", "sack_3", "sack_4", "sack_5", "sack_6", "sack_7",
];
const NONE: i64 = -1;
/// Vantages, as numbers in the column `link`: near the flow's sender, near its receiver, and
/// somewhere, where events are told as near the sender.
const SENDERS: u8 = 0;
const RECEIVERS: u8 = 1;
const UNKNOWN: u8 = 2;

type Row = [i64; COLUMNS.len()];

/// A connection.
struct Way {
    flow: u32,
    /// The side that is the flow's sender, and whether the vantage is near it.
    sender: usize,
    at_sender: Option<bool>,
    /// The first number of bytes of each side.
    first: [Option<u32>; 2],
    /// How many packets have entered the network and left it, at each vantage.
    events: [[u32; 2]; 3],
}

/// Passes rows on, some at a time.
pub(crate) struct Passages {
    pass: TableSink,
    /// Of each connection that has a flow.
    ways: Vec<Option<Way>>,
    times: Vec<f64>,
    rows: Vec<Row>,
}

impl Passages {
    pub(crate) fn new(flows: &[Flow], connections: usize, pass: TableSink) -> Self {
        let mut ways: Vec<Option<Way>> = iter::repeat_with(|| None).take(connections).collect();
        for (number, flow) in (0..).zip(flows) {
            ways[flow.connection].get_or_insert_with(|| Way::new(number, flow));
        }
        Passages { pass, ways, times: Vec::new(), rows: Vec::new() }
    }

    /// A packet of a side of a connection passes.
    pub(crate) fn note(&mut self, (number, from): (usize, usize), passing: &Passing) {
        let Some(Some(way)) = self.ways.get_mut(number) else { return };
        self.times.push(passing.now.as_secs_f64());
        self.rows.push(way.row(from, passing));
        if self.rows.len() == CHUNK {
            self.hand_over();
        }
    }

    /// Passes the remaining rows on.
    pub(crate) fn finish(mut self) {
        if !self.rows.is_empty() {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let (times, rows) = (mem::take(&mut self.times), mem::take(&mut self.rows));
        let whole = COLUMNS.into_iter().enumerate().map(|(at, name)| {
            let values = Values::Integers(rows.iter().map(|row| row[at]).collect());
            Column { name, values }
        });
        let time = Column { name: "time", values: Values::Reals(times) };
        let columns = iter::once(time).chain(whole).collect();
        (self.pass)("passages", Table { columns });
    }
}

impl Way {
    fn new(number: u32, flow: &Flow) -> Self {
        let (sender, at_sender) = (flow.side, flow.at_sender);
        Way { flow: number, sender, at_sender, first: [None; 2], events: [[0; 2]; 3] }
    }

    /// The row of a packet from a side.
    fn row(&mut self, from: usize, passing: &Passing) -> Row {
        let headers = &passing.packet.headers;
        let (link, leaves) = self.vantage(from, passing.towards);
        let events = &mut self.events[usize::from(link)][usize::from(leaves)];
        let index = *events;
        *events = index.saturating_add(1);
        let class = headers.dscp.number() << 2 | headers.ecn.codepoint();
        let mut row = [NONE; COLUMNS.len()];
        let size = headers.size;
        row[..4].copy_from_slice(&[link.into(), self.flow.into(), index.into(), size.into()]);
        row[4..6].copy_from_slice(&[leaves.into(), class.into()]);
        if let Transport::Tcp(segment) = headers.transport {
            row[6..8].copy_from_slice(&[
                segment.flags.into(),
                relative(&mut self.first[from], segment.seq),
            ]);
            if segment.has_ack() {
                let first = &mut self.first[1 - from];
                row[8] = relative(first, segment.ack);
                let edges = segment.sacks.blocks().iter().flatten();
                for (cell, edge) in row[9..].iter_mut().zip(edges) {
                    *cell = relative(first, *edge);
                }
            }
        }
        row
    }

    /// Where a packet from a side passes, and whether it leaves the network there; else it enters it.
    fn vantage(&self, from: usize, towards: Option<Towards>) -> (u8, bool) {
        let data = from == self.sender;
        match (towards, self.at_sender) {
            (Some(Towards::Out), _) => (if data { SENDERS } else { RECEIVERS }, false),
            (Some(Towards::In), _) => (if data { RECEIVERS } else { SENDERS }, true),
            (None, Some(true)) => (SENDERS, !data),
            (None, Some(false)) => (RECEIVERS, data),
            (None, None) => (UNKNOWN, !data),
        }
    }
}

/// A number of bytes from the first one of its side on, which it is if there is none yet.
fn relative(first: &mut Option<u32>, number: u32) -> i64 {
    number.wrapping_sub(*first.get_or_insert(number)).into()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::{Arc, Mutex};

    use sojourn_base::packet::{Dscp, Ecn};
    use sojourn_base::units::{Span, Time};

    use super::*;
    use crate::ip::Packet;
    use crate::wire::{Headers, Sacks, Segment};

    const ACK: u8 = 0x10;

    /// A packet of 52 bytes and more.
    fn passing(towards: Option<Towards>, seq: u32, ack: u32, sacks: &[[u32; 2]]) -> Passing {
        let mut blocks = Sacks::default();
        sacks.iter().for_each(|block| blocks.add(*block));
        let transport = Transport::Tcp(Segment { seq, ack, flags: ACK, sacks: blocks });
        let (ports, payload, dscp) = ([1, 2], 0, Dscp::BEST_EFFORT);
        let headers = Headers { size: 52, ecn: Ecn::Ce, dscp, ports, payload, transport };
        let ends = ports.map(|port| SocketAddr::from(([10, 0, 0, 1], port)));
        let now = Time::ZERO + Span::from_millis(500);
        Passing { now, interface: 0, towards, packet: Packet { ends, headers } }
    }

    /// The rows of these packets, each with the side that it comes from, of a flow of side 0.
    fn rows(at_sender: Option<bool>, packets: &[(usize, Passing)]) -> Vec<Vec<f64>> {
        let (label, connection) = (String::new(), 1);
        let flow = Flow { label, tcp: true, at_sender, rtt: None, connection, side: 0 };
        let tables = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&tables);
        let pass = Box::new(move |_: &'static str, table: Table| into.lock().unwrap().push(table));
        let mut passages = Passages::new(&[flow], 2, pass);
        for (from, passing) in packets {
            passages.note((1, *from), passing);
            passages.note((0, *from), passing);
        }
        passages.finish();
        let tables = tables.lock().unwrap();
        let [table] = &tables[..] else { panic!("one table") };
        let columns: Vec<_> =
            table.columns.iter().map(|column| table.reals(column.name).unwrap()).collect();
        (0..packets.len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
    }

    #[test]
    fn numbers_count_from_the_first_of_their_side() {
        let near_end = u32::MAX - 9;
        let packets = [
            (0, passing(None, near_end, 700, &[])),
            (1, passing(None, 700, near_end, &[[10, 20], [90, 95]])),
        ];
        let rows = rows(Some(true), &packets);
        let [data, ack] = &rows[..] else { panic!("two rows") };
        let none = [-1.0; 8];
        assert_eq!(data[..10], [0.5, 0.0, 0.0, 0.0, 52.0, 0.0, 3.0, 16.0, 0.0, 0.0]);
        assert_eq!(data[10..], none);
        assert_eq!(ack[..10], [0.5, 0.0, 0.0, 0.0, 52.0, 1.0, 3.0, 16.0, 0.0, 0.0]);
        assert_eq!(ack[10..14], [20.0, 30.0, 100.0, 105.0]);
        assert_eq!(ack[14..], none[4..]);
    }

    #[test]
    fn a_vantage_tells_what_enters_the_network_there_and_what_leaves_it() {
        let places = |at_sender, towards| {
            let packets = [0, 1, 0].map(|from| (from, passing(towards, 5, 5, &[])));
            let rows = rows(at_sender, &packets);
            // Its vantage, its number among its like, and whether it leaves.
            let place = |row: &Vec<f64>| [row[1] as u8, row[3] as u8, row[5] as u8];
            rows.iter().map(place).collect::<Vec<_>>()
        };
        let ours = Some(true);
        assert_eq!(places(ours, Some(Towards::Out)), [[0, 0, 0], [1, 0, 0], [0, 1, 0]]);
        assert_eq!(places(ours, Some(Towards::In)), [[1, 0, 1], [0, 0, 1], [1, 1, 1]]);
        assert_eq!(places(Some(true), None), [[0, 0, 0], [0, 0, 1], [0, 1, 0]]);
        assert_eq!(places(Some(false), None), [[1, 0, 1], [1, 0, 0], [1, 1, 1]]);
        assert_eq!(places(None, None), [[2, 0, 0], [2, 0, 1], [2, 1, 0]]);
    }
}
