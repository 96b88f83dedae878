//! The random draws of an entry, by name.
//!
//! Below `root/arrivals/LABEL`: `when` in sequence for the times of arrivals; for the n-th transfer
//! `mix`, `size`, `request` and `server`; for the n-th connection `flow`. The transfers of a user
//! of a closed loop are counted below `user/U`, those of a session that arrives by itself below
//! `session/N`, so that the order in which transfers of different ones end changes no draw.

use super::{ArrivalsSpec, Due, Process, Sizes, variant};
use crate::rng::StreamKey;
use crate::units::{Span, Time};

/// The names of an entry's draws, or of one of its users or sessions.
#[derive(Clone, Copy, Debug)]
pub struct Draws(StreamKey);

/// What is drawn of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Index of its variant.
    pub variant: u16,
    /// Its payload in bytes.
    pub size: u64,
    /// Payload of its request in bytes, if the entry has requests.
    pub request: Option<u64>,
    /// Time from the arrival of its request to the response.
    pub server_time: Span,
}

impl Draws {
    /// Those of the entry called `label` in a run with this seed.
    pub fn new(seed: u64, label: &str) -> Self {
        Draws(StreamKey::root(seed).child("arrivals").child(label))
    }

    /// Draws whose connections have the names of the flows of a run.
    #[cfg(test)]
    pub(crate) fn of_flows(seed: u64) -> Self {
        Draws(StreamKey::root(seed))
    }

    /// Those of the user of this number.
    #[must_use]
    pub fn user(self, number: u64) -> Draws {
        Draws(self.0.child("user").index(number))
    }

    /// Those of the session of this number, among the entry's arrivals.
    #[must_use]
    pub fn session(self, number: u64) -> Draws {
        Draws(self.0.child("session").index(number))
    }

    /// Name of the draws of the times of arrivals.
    pub fn when(self) -> StreamKey {
        self.0.child("when")
    }

    /// Name of the draws of the control and the transport of the entry's n-th connection.
    pub fn connection(self, n: u64) -> StreamKey {
        self.0.child("flow").index(n)
    }

    /// The n-th transfer. What its arrival gives already is not drawn.
    pub fn transfer(self, entry: &ArrivalsSpec, n: u64, due: &Due) -> Transfer {
        let keys = &entry.keys;
        let drawn = |of: &Option<Sizes>, name: &str| {
            of.as_ref().map(|sizes| sizes.draw(self.0.child(name), n))
        };
        let chosen = || variant::choose(entry, self.0.child("mix").uniform_at(n));
        let server_time = keys
            .server_time
            .as_ref()
            .map(|times| times.draw(&mut self.0.child("server").index(n).stream()));
        Transfer {
            variant: due.variant.unwrap_or_else(chosen),
            size: due.size.or_else(|| drawn(&keys.size, "size")).unwrap_or(1),
            request: drawn(&keys.request, "request"),
            server_time: server_time.unwrap_or(Span::ZERO),
        }
    }

    /// The n-th think time of a user.
    pub fn think(self, entry: &ArrivalsSpec, n: u64) -> Span {
        let think = entry.keys.think.as_ref();
        think.map_or(Span::ZERO, |times| times.draw(&mut self.0.child("think").index(n).stream()))
    }

    /// Number of transfers of the n-th session of a user, or of the only one of a session's draws;
    /// 1 without sessions.
    pub fn transfers(self, entry: &ArrivalsSpec, n: u64) -> u64 {
        let session = entry.keys.session.as_ref();
        session.map_or(1, |session| {
            session.transfers.draw(&mut self.0.child("transfers").index(n).stream())
        })
    }

    /// The n-th reading time, counted as transfers are.
    pub fn reading(self, entry: &ArrivalsSpec, n: u64) -> Span {
        let session = entry.keys.session.as_ref();
        session.map_or(Span::ZERO, |session| {
            session.reading.draw(&mut self.0.child("reading").index(n).stream())
        })
    }
}

impl ArrivalsSpec {
    /// When its transfers, or sessions, arrive at `rate` per second ([`Offer::rate`]), up to its
    /// `stop`; `None` for a closed loop, whose users arrive by themselves.
    ///
    /// [`Offer::rate`]: super::Offer::rate
    pub fn process(&self, rate: f64, draws: Draws) -> Option<Box<dyn Process>> {
        let start = Time::ZERO + self.flow.start;
        let stop = self.flow.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop);
        self.keys.process.process(rate, [start, stop], draws.when())
    }
}
