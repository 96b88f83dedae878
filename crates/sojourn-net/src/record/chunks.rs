//! Tables that leave the core while a run goes on: of a long one, nobody keeps all rows in memory.
//!
//! Who makes rows asks [`Chunks::are_due`] as often as it likes and passes on what it has gathered,
//! all columns of the table, with [`Chunks::pass`]; then it starts anew. What is left when the run
//! ends goes into the [`Outcome`](super::Outcome), as all rows of a short run do: a table is what was
//! passed on under its name, in that order, and then what the outcome has. Samples of flows, links
//! and nodes do so themselves, at the end of an interval
//! ([`Recorder::streaming`](super::Recorder::streaming)).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::table::Table;

/// Rows of a table from which on they are passed on.
pub const CHUNK: usize = 1 << 16;

/// Receives the name of a table and its next rows.
pub type TableSink = Box<dyn FnMut(&'static str, Table) + Send>;

/// Destination of the rows that do not wait for the end of the run; clones share it.
#[derive(Clone)]
pub struct Chunks {
    sink: Arc<Mutex<TableSink>>,
    rows: usize,
}

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl Chunks {
    /// Passes rows on to `sink`, [`CHUNK`] at a time or a few more.
    pub fn new(sink: TableSink) -> Self {
        Chunks::of(CHUNK, sink)
    }

    /// The same with chunks of `rows`, at least 1.
    pub fn of(rows: usize, sink: TableSink) -> Self {
        Chunks { sink: Arc::new(Mutex::new(sink)), rows: rows.max(1) }
    }

    /// Number of rows from which on they are passed on.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether so many rows are to be passed on.
    pub fn are_due(&self, rows: usize) -> bool {
        rows >= self.rows
    }

    /// Passes on the next rows of the table called `name`; every time with the same columns.
    pub fn pass(&self, name: &'static str, rows: Table) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        (*sink)(name, rows);
    }
}
