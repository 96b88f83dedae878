//! A capture as the columns of a run. It is read twice: to find its flows, and to measure them.

use std::io::Read;

use sojourn_base::units::{Span, Time};
use sojourn_net::record::{Outcome, TableSink};

use crate::connections::{Connection, Connections};
use crate::flow::{Flow, flows};
use crate::left::{Left, Told};
use crate::measuring::Measuring;
use crate::packets::Packets;
use crate::passages::Passages;
use crate::reader::Refusal;

/// Rows of samples.
const MOST_ROWS: u64 = 1_000_000;

/// The flows that a capture has.
#[derive(Debug)]
pub struct Survey {
    flows: Vec<Flow>,
    connections: Vec<Connection>,
    ours: bool,
    end: Time,
}

/// What a capture has come to.
pub struct Imported {
    /// The columns, as of a run; what packets do not show is NaN. Its only link has no numbers.
    pub outcome: Outcome,
    /// The flows.
    pub flows: Vec<Flow>,
    /// What was counted and what was not.
    pub told: Told,
    /// Whether it is of a run of Sojourn, and has vantages at both ends of each flow.
    pub ours: bool,
    /// Time from its beginning to its end.
    pub duration: Span,
}

impl Survey {
    /// Looks for the flows of a capture.
    ///
    /// # Errors
    /// If it is no capture, or has no packets of TCP or UDP.
    pub fn of(source: impl Read + Send) -> Result<Self, Refusal> {
        let mut packets = Packets::open(source)?;
        let mut found = Connections::default();
        let mut end = Time::ZERO;
        for passing in packets.by_ref() {
            found.place(&passing);
            end = passing.now;
        }
        let (ours, connections) = (packets.is_ours(), found.all);
        let flows = flows(&connections, ours);
        if flows.is_empty() {
            return Err(nothing(&packets.told));
        }
        Ok(Survey { flows, connections, ours, end })
    }

    /// Measures them over intervals; `source` has the same bytes once more. Each packet that counts
    /// becomes a row of the table `passages`, which is given to `passages` in parts, if anybody takes
    /// it.
    ///
    /// # Errors
    /// If the samples were too many.
    pub fn measure(
        self,
        source: impl Read + Send,
        interval: Span,
        passages: Option<TableSink>,
    ) -> Result<Imported, Refusal> {
        let interval = interval.max(Span::from_nanos(1));
        let end = self.end.max(Time::ZERO + interval);
        self.check(end, interval)?;
        let mut packets = Packets::open(source)?;
        let mut found = Connections::default();
        let mut measuring = Measuring::new(&self.flows, &self.connections, interval);
        let noting = |pass| Passages::new(&self.flows, self.connections.len(), pass);
        let mut passages = passages.map(noting);
        let mut placed = Told::default();
        for passing in packets.by_ref() {
            match found.place(&passing) {
                None => placed.leave(Left::Elsewhere),
                Some(_) if passing.now > end => placed.leave(Left::Surplus),
                Some(place) if measuring.pass(place, &passing) => {
                    placed.counted += 1;
                    if let Some(passages) = &mut passages {
                        passages.note(place, &passing);
                    }
                }
                Some(_) => placed.leave(Left::Surplus),
            }
        }
        if let Some(passages) = passages {
            passages.finish();
        }
        let told = packets.told.with(placed);
        let (outcome, flows) = measuring.outcome(end, self.ours, told.frames);
        let duration = end.since(Time::ZERO);
        Ok(Imported { outcome, flows, told, ours: self.ours, duration })
    }

    fn check(&self, end: Time, interval: Span) -> Result<(), Refusal> {
        let intervals = end.as_nanos() / interval.as_nanos().max(1) + 1;
        let rows = intervals.saturating_mul(self.flows.len() as u64);
        if rows <= MOST_ROWS {
            return Ok(());
        }
        let (seconds, flows) = (end.as_secs_f64(), self.flows.len());
        Err(Refusal(format!(
            "lasts {seconds:.1} s, with {flows} flows: {rows} samples at intervals of {interval:?}; \
             allowed: {MOST_ROWS}; give a longer interval"
        )))
    }
}

fn nothing(told: &Told) -> Refusal {
    let left: Vec<String> =
        told.left.iter().map(|(why, count)| format!("{count} {}", why.words())).collect();
    let left = if left.is_empty() { "it has none".to_owned() } else { left.join(", ") };
    Refusal(format!("has no packets of TCP or UDP that can be read ({left})"))
}
