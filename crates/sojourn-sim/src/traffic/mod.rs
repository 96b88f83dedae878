//! Traffic models: one file each, one registry line each.
//!
//! A model gives the times between an application's writes and their sizes ([`Workload`]);
//! [`Source`] turns them into the actions on a connection: open at the flow's start, write, and
//! close after the last write. A source is pulled: it has one pending action at a time. Models do
//! not observe deliveries: data that is written faster than the network carries it waits in the
//! send buffer.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::quantity::Bytes;
use crate::registry::{self, Catalogue, Entry, Listing, Params, members};
use crate::rng::Stream;
use crate::spec::Traffic;
use crate::units::{Rate, Span, Time};

mod draw;
mod kind;
#[cfg(test)]
mod testing;

/// What `sojourn new traffic` writes must compile and pass its own test.
#[cfg(test)]
#[path = "../../../../python/sojourn/templates/traffic.rs"]
#[allow(clippy::upper_case_acronyms)]
mod template;

members! {
    Traffic;
    "greedy" greedy::Greedy,
    "sized" sized::Transfers,
    "cbr" cbr::Cbr,
    "on-off" on_off::OnOff,
    "poisson" poisson::Poisson,
    "web" web::Web,
}

/// An application's action on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Opens it.
    Open,
    /// Writes this many bytes; [`UNLIMITED`] means that there is always more.
    Write(u64),
    /// Writes no more.
    Close,
}

/// More bytes than can be sent.
pub const UNLIMITED: u64 = u64::MAX;

/// Source of an application's actions.
pub trait TrafficSource: Send {
    /// The next action and its time, not before `now`. Called first at the flow's start, then each
    /// time right after the last action was taken; `None` when there are no more actions.
    fn next(&mut self, now: Time, rng: &mut Stream) -> Option<(Time, Action)>;
}

/// The application writes `bytes` after having waited since its last write (or the start).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Time since the last write, or since the start.
    pub after: Span,
    /// Size of the write; over UDP, each write is a datagram (or several, if it is larger than the
    /// flow's `mss`).
    pub bytes: u64,
}

/// Sequence of an application's writes. `None` after the last write.
pub trait Workload: Send {
    /// The next write.
    fn next(&mut self, rng: &mut Stream) -> Option<Write>;
}

/// A workload that can be registered.
pub trait Registered: Workload + Sized + 'static {
    /// Its parameters.
    type Params: Params;

    /// Builds it. Parameters are validated.
    fn new(params: Self::Params) -> Self;

    /// Whether it writes at its own rate. If not, it needs a transport that slows it down.
    const SELF_PACED: bool = true;
}

/// A workload on a connection: opened first, closed last.
#[derive(Debug)]
pub struct Source<W> {
    workload: W,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Unopened,
    Writing,
    Done,
}

impl<W: Workload> Source<W> {
    /// A source that has taken no action yet.
    pub fn new(workload: W) -> Self {
        Source { workload, stage: Stage::Unopened }
    }
}

impl<W: Workload> TrafficSource for Source<W> {
    fn next(&mut self, now: Time, rng: &mut Stream) -> Option<(Time, Action)> {
        match self.stage {
            Stage::Unopened => {
                self.stage = Stage::Writing;
                Some((now, Action::Open))
            }
            Stage::Writing => match self.workload.next(rng) {
                Some(write) => {
                    // Unlimited data never ends, so no close follows it.
                    if write.bytes == UNLIMITED {
                        self.stage = Stage::Done;
                    }
                    Some((now + write.after, Action::Write(write.bytes)))
                }
                None => {
                    self.stage = Stage::Done;
                    Some((now, Action::Close))
                }
            },
            Stage::Done => None,
        }
    }
}

/// Facts about a traffic model besides its listing.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TrafficFacts {
    /// Whether it writes at its own rate; a model that does not needs a transport that slows it
    /// down.
    pub self_paced: bool,
}

/// Constructor of a source. Errors: a parameter is unknown, of the wrong type or out of range.
pub type Make = fn(&Map<String, Value>, &Catalogue) -> Result<Box<dyn TrafficSource>, FieldError>;

/// The entry of the workload `W`, whose `source` begins with its documentation.
pub fn entry<W: Registered>(name: &'static str, source: &'static str) -> Entry<Traffic> {
    Entry {
        listing: Listing::new::<W::Params>(name, source),
        facts: TrafficFacts { self_paced: W::SELF_PACED },
        make: |params, catalogue| {
            Ok(Box::new(Source::new(W::new(registry::parse_params(params, catalogue)?))))
        },
    }
}

/// Largest single write: a datagram cannot be longer, and a stream does not need it.
const LARGEST_WRITE: u64 = 65_000;
/// Most writes of one source in a second, and most datagrams: each is an event.
pub const MOST_WRITES: u64 = 10_000_000;
/// Shortest time between writes of a source.
const SHORTEST_INTERVAL: Span = Span::from_nanos(1_000_000_000 / MOST_WRITES);

/// Checks the size of writes, and that there are not too many of them at this rate.
fn check_writes(rate: Rate, size: Bytes) -> Result<(), FieldError> {
    if !(1..=LARGEST_WRITE).contains(&size.0) {
        let message = format!("{size} given; allowed: 1 B to {LARGEST_WRITE} B");
        return Err(FieldError::new("size", message));
    }
    let most = Rate::from_bps(MOST_WRITES * 8 * size.0);
    if rate > most {
        let message = format!("{rate} given; allowed: up to {most} in writes of {size}");
        return Err(FieldError::new("rate", message));
    }
    Ok(())
}

/// Checks the time between writes, or between the starts of transfers or pages.
fn check_interval(field: &str, interval: Span) -> Result<(), FieldError> {
    if interval < SHORTEST_INTERVAL {
        let message = format!("{interval} given; allowed: at least {SHORTEST_INTERVAL}");
        return Err(FieldError::new(field, message));
    }
    Ok(())
}
