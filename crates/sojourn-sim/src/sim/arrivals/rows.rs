//! Rows of transfers that are over, and counts of each entry over time.

use crate::record::{Chunks, FlowCounters, Table};
use crate::units::{Span, Time};

/// What became of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All of it has arrived.
    Finished = 0,
    /// It had not ended when the run did.
    Live = 1,
    /// It never ends.
    Failed = 2,
}

/// What a connection has counted, as far as rows tell it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Marks, as echoed to the sender.
    pub marks: u64,
    /// Sum of the RTT samples.
    pub rtt_sum: Span,
    /// Number of the RTT samples.
    pub rtt_count: u64,
    /// Smallest RTT; zero where none is known.
    pub min_rtt: Span,
}

impl From<&FlowCounters> for Counted {
    fn from(flow: &FlowCounters) -> Self {
        let recovery = flow.recovery.unwrap_or_default();
        let rtt = flow.rtt.unwrap_or_default();
        let echoed = flow.echoes.map(|echoes| echoes.ece_acks + echoes.esce_acks);
        let received = flow.received.map(|received| received.ce_received);
        Counted {
            retransmissions: recovery.retransmissions,
            timeouts: recovery.rtos,
            marks: echoed.or(received).unwrap_or(0),
            rtt_sum: rtt.rtt_sum,
            rtt_count: rtt.rtt_count,
            min_rtt: rtt.min_rtt,
        }
    }
}

impl Counted {
    /// Since `before`; the smallest RTT is that of the whole connection.
    pub fn since(&self, before: &Counted) -> Counted {
        Counted {
            retransmissions: self.retransmissions - before.retransmissions,
            timeouts: self.timeouts - before.timeouts,
            marks: self.marks - before.marks,
            rtt_sum: self.rtt_sum - before.rtt_sum,
            rtt_count: self.rtt_count - before.rtt_count,
            min_rtt: self.min_rtt,
        }
    }
}

/// A transfer that is over, or was alive at the end.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Index of its entry.
    pub entry: usize,
    /// Index of its variant.
    pub variant: u16,
    /// What it belongs to besides: a group of an incast, a user, a session.
    pub group: u32,
    /// When it arrived.
    pub arrival: Time,
    /// When it was handed to a connection, if it was.
    pub start: Option<Time>,
    /// When all of it had arrived, if it has.
    pub completed: Option<Time>,
    /// Its payload in bytes.
    pub size: u64,
    /// Least time that it would take.
    pub ideal: Span,
    /// What its connection has counted for it.
    pub counted: Counted,
    /// What became of it.
    pub end: End,
}

/// Rows so far.
#[derive(Debug, Default)]
pub struct TransferRows {
    chunks: Option<Chunks>,
    whole: [Vec<i64>; 8],
    real: [Vec<f64>; 6],
}

const WHOLE: [&str; 8] =
    ["arrivals", "variant", "group", "size", "retransmissions", "timeouts", "marks", "outcome"];
const REAL: [&str; 6] = ["arrival", "start", "completed", "slowdown", "rtt", "min_rtt"];

impl TransferRows {
    /// No rows yet; many do not wait for the end if there are chunks.
    pub fn new(chunks: Option<Chunks>) -> Self {
        TransferRows { chunks, ..TransferRows::default() }
    }

    /// Adds a row; what has not been completed is as old as at `until`.
    pub fn push(&mut self, until: Time, row: &Row) {
        let counted = &row.counted;
        let whole = [
            row.entry as i64,
            row.variant.into(),
            row.group.into(),
            row.size as i64,
            counted.retransmissions as i64,
            counted.timeouts as i64,
            counted.marks as i64,
            row.end as i64,
        ];
        let known = |time: Option<Time>| time.map_or(f64::NAN, Time::as_secs_f64);
        let took = row.completed.unwrap_or(until).since(row.arrival).as_secs_f64();
        let rtt = match counted.rtt_count {
            0 => f64::NAN,
            count => counted.rtt_sum.as_secs_f64() / count as f64,
        };
        let least = Some(counted.min_rtt).filter(|least| *least > Span::ZERO);
        let real = [
            row.arrival.as_secs_f64(),
            known(row.start),
            known(row.completed),
            took / row.ideal.as_secs_f64(),
            rtt,
            least.map_or(f64::NAN, Span::as_secs_f64),
        ];
        self.whole.iter_mut().zip(whole).for_each(|(column, value)| column.push(value));
        self.real.iter_mut().zip(real).for_each(|(column, value)| column.push(value));
        if let Some(chunks) = self.chunks.as_ref().filter(|c| c.are_due(self.whole[0].len())) {
            let chunks = chunks.clone();
            let next = TransferRows::new(Some(chunks.clone()));
            chunks.pass("transfers", std::mem::replace(self, next).into_table());
        }
    }

    /// The rows as a table.
    pub fn into_table(self) -> Table {
        let table = WHOLE
            .iter()
            .zip(self.whole)
            .fold(Table::default(), |table, (name, values)| table.integers(name, values));
        REAL.iter().zip(self.real).fold(table, |table, (name, values)| table.with(name, values))
    }
}

/// Counts of an entry, from the beginning on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryCounters {
    /// Transfers that arrived.
    pub arrived: u64,
    /// Payload of these.
    pub offered_bytes: u64,
    /// Transfers that were completed.
    pub finished: u64,
    /// Transfers that failed.
    pub failed: u64,
    /// Payload that has reached receivers.
    pub carried_bytes: u64,
    /// Transfers that are under way.
    pub live: u64,
    /// Connections that are open.
    pub connections: u64,
    /// Transfers that wait for a connection.
    pub waiting: u64,
}

/// Counts of all entries at the instants of samples.
#[derive(Debug, Default)]
pub struct EntrySamples {
    chunks: Option<Chunks>,
    time: Vec<f64>,
    whole: [Vec<i64>; 9],
}

const COUNTS: [&str; 9] = [
    "arrivals",
    "arrived",
    "offered_bytes",
    "finished",
    "failed",
    "carried_bytes",
    "live",
    "connections",
    "waiting",
];

impl EntrySamples {
    /// No samples yet; many do not wait for the end if there are chunks.
    pub fn new(chunks: Option<Chunks>) -> Self {
        EntrySamples { chunks, ..EntrySamples::default() }
    }

    /// Adds the counts of an entry.
    pub fn push(&mut self, now: Time, entry: usize, counts: &EntryCounters) {
        self.time.push(now.as_secs_f64());
        let values = [
            entry as u64,
            counts.arrived,
            counts.offered_bytes,
            counts.finished,
            counts.failed,
            counts.carried_bytes,
            counts.live,
            counts.connections,
            counts.waiting,
        ];
        self.whole.iter_mut().zip(values).for_each(|(column, value)| column.push(value as i64));
        if let Some(chunks) = self.chunks.clone().filter(|c| c.are_due(self.time.len())) {
            let next = EntrySamples::new(Some(chunks.clone()));
            chunks.pass("arrival_samples", std::mem::replace(self, next).into_table());
        }
    }

    /// The counts as a table.
    pub fn into_table(self) -> Table {
        let table = Table::default().with("time", self.time);
        COUNTS
            .iter()
            .zip(self.whole)
            .fold(table, |table, (name, values)| table.integers(name, values))
    }
}
