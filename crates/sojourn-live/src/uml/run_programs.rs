//! A run of a scenario's programs on a kernel in virtual time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sojourn_base::error::FieldError;
use sojourn_base::units::Time;
use sojourn_net::node;
use sojourn_net::record::Outcome;
use sojourn_net::record::live::{Batch, Sink};
use sojourn_sim::scenario::Scenario;

use super::BEGINNING;
use super::arguments::{Asked, Image};
use super::console::Complaints;
use super::control::Copied;
use super::counter::{Forgone, with_clock};
use super::doings::{Doings, Ended, Heard, Started, Written};
use super::place::{Place, description};
use super::run::{Prepared, Setup, check_all, prepare};
use crate::background::{Live, Progress};
use crate::error::Error;
use crate::hosts::HostTable;
use crate::recorded::Record;

/// How a scenario's programs are run.
pub struct Run {
    /// The scenario, as it was read: JSON.
    pub scenario: String,
    /// Where they run: JSON with the directory `cwd` in which they start, the directory `hidden` below it
    /// that they see empty, if any, their environment `env`, the directory `files` to which is copied
    /// what they write there, if it is kept, and `keep`, the most bytes of that.
    pub place: String,
    /// The kernel.
    pub image: Image,
    /// Real time that a turn of the kernel may take.
    pub watchdog: Duration,
    /// Receives the records that the scenario asks for.
    pub sink: Option<Sink>,
    /// Is told what they write.
    pub heard: Option<Heard>,
}

/// A flow of the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number of the scenario's flow that it is, or whose way it went.
    pub like: u32,
    /// The name of a connection's side; none for a flow of the scenario that sends itself.
    pub label: Option<String>,
    /// The recorded links on its path, as indices.
    pub path: Vec<u32>,
}

/// Result of a run of programs.
pub struct Programmed {
    /// Outcome as of any run: flows that send themselves, then one for each side of a connection that
    /// sent data.
    pub outcome: Outcome,
    /// What these flows are.
    pub rows: Vec<Row>,
    /// The flow numbers that packets have, and the flows that these are of.
    pub connections: Vec<(u32, u32)>,
    /// The same for runs in which the same happened at the same nanoseconds.
    pub hash: String,
    /// The starts of programs that became processes, in the order of time.
    pub started: Vec<Started>,
    /// What programs wrote, in the order of time: the first 64 MiB of each.
    pub output: Vec<Written>,
    /// The programs that wrote more than that.
    pub cut: Vec<u32>,
    /// Their ends, in the order of time.
    pub ended: Vec<Ended>,
    /// Packets between hosts that no flow joins, by their names.
    pub unrouted: Vec<((String, String), u64)>,
    /// Numbers of system calls that the kernel has not, with the process that asked for one first.
    pub lacks: Vec<(i64, String)>,
    /// Processes that were ended for want of memory.
    pub killed: Vec<String>,
    /// Bytes of files that were not copied, as they were too many.
    pub left_out: u64,
    /// The first file that could not be copied, and why.
    pub uncopied: Option<String>,
}

impl Live<Programmed> {
    /// Starts a run of a scenario's programs. It lasts until all have ended that it waits for, at most
    /// for the scenario's duration.
    ///
    /// # Errors
    /// If such a run does not support the scenario.
    pub fn programs(scenario: &Scenario, run: Run) -> Result<Self, Error> {
        if scenario.programs.is_empty() {
            return Err(FieldError::new("programs", "is missing; give one").into());
        }
        check_all(scenario)?;
        let hosts = HostTable::new(scenario)?;
        let place = serde_json::from_str::<Place>(&run.place);
        let place = place.map_err(|error| FieldError::new("place", error.to_string()))?;
        let (end, scenario) = (Time::ZERO + scenario.duration, scenario.clone());
        Ok(Live::new(end, move |stop, progress| {
            run_all(&scenario, (&hosts, &place), run, (&stop, progress))
        }))
    }
}

fn run_all(
    scenario: &Scenario,
    (hosts, place): (&HostTable, &Place),
    run: Run,
    (stop, progress): (&Arc<AtomicBool>, &Progress),
) -> Result<Programmed, Error> {
    let record = Record::new(scenario, run.sink.map(sink_with_clock), hosts);
    let asked = Asked { date: started(scenario), longest: run.watchdog };
    let setup = Setup {
        scenario,
        description: description(&run.scenario, Some(&run.place)),
        image: &run.image,
        record: &record,
        hosts,
        programs: Some((asked, Doings::new(run.heard.map(heard_with_clock)))),
    };
    let Prepared { mut net, mut driver, processor: _processor } = prepare(setup, stop)?;
    let forgone = Forgone::start();
    driver.run(&mut net, Time::ZERO + scenario.duration, stop, progress)?;
    drop(forgone);
    let Copied { left_out, uncopied } = match place.files {
        Some(_) => driver.wind_up(net.now(), stop)?,
        None => Copied::default(),
    };
    let Complaints { lacks, killed, .. } = driver.console()?.complaints();
    let (watched, doings) = driver.finish();
    let unrouted = watched.unrouted().into_iter().map(|lost| ((lost.from, lost.to), lost.packets));
    let unrouted = unrouted.collect();
    let (outcome, rows) = watched.outcome(&mut net, &node::counters(scenario.catalogue()))?;
    record.finish();
    let connections = (0..).zip(&rows).map(|(row, told)| (told.packets, row)).collect();
    let doings = doings.unwrap_or_default();
    Ok(Programmed {
        outcome,
        rows: rows
            .into_iter()
            .map(|r| Row { like: r.flow, label: r.label, path: r.path })
            .collect(),
        connections,
        hash: doings.digest.text(),
        cut: doings.cut(),
        started: doings.started,
        output: doings.output,
        ended: doings.ended,
        unrouted,
        lacks,
        killed,
        left_out,
        uncopied,
    })
}

/// Receives records in the interpreter, which reads clocks.
fn sink_with_clock(mut sink: Sink) -> Sink {
    Box::new(move |batch: Batch, words: &[Arc<str>]| with_clock(|| sink(batch, words)))
}

/// Is told there what programs write.
fn heard_with_clock(mut heard: Heard) -> Heard {
    Box::new(move |program: u32, stream: u8, time: Time, bytes: &[u8]| {
        with_clock(|| heard(program, stream, time, bytes));
    })
}

/// The date of a scenario when its kernel starts, in ns since 1970: the run begins a little later.
fn started(scenario: &Scenario) -> Option<u64> {
    let before = BEGINNING.as_nanos() as u64;
    scenario.date.map(|date| date.as_nanos().saturating_sub(before))
}
