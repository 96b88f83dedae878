//! A connection and the transfers that it carries.

use std::collections::VecDeque;

use super::rows::Counted;
use crate::arrivals::{Due, Transfer as Drawn};
use crate::units::{Span, Time};

/// Which pool a connection belongs to: its kind, and its user or session where there are any.
pub(super) type Key = (u16, Option<u32>);

/// Something that is to be transferred.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Which kind of connection it takes.
    pub variant: u16,
    /// What it belongs to besides: a group of an incast, a user, a session.
    pub group: u32,
    /// When it arrives.
    pub arrival: Time,
    /// Its payload in bytes.
    pub size: u64,
    /// Who waits for its end: a user or a session.
    pub party: Option<u32>,
}

impl Transfer {
    /// What arrives, and what was drawn of it.
    pub(super) fn new(due: &Due, drawn: &Drawn, party: Option<u32>) -> Self {
        let Drawn { variant, size, .. } = *drawn;
        Transfer { variant, group: due.group, arrival: due.at, size, party }
    }
}

/// A transfer that a connection carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Underway {
    pub transfer: Transfer,
    pub start: Time,
    /// The stream's bytes up to its end, once all of it is written.
    pub ends: u64,
    /// Least time that it would take.
    pub ideal: Span,
    /// What the connection had counted before.
    pub before: Counted,
}

/// A connection of an entry.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub entry: usize,
    /// Its flow number.
    pub flow: u32,
    /// Its transfers, by number of arrival.
    pub underway: VecDeque<(u64, Underway)>,
    /// Bytes written to it.
    pub written: u64,
    /// The pool that it belongs to.
    pub pool: Option<Key>,
    /// Whether transfers are written in frames that take turns: which is whose turn, by number of
    /// arrival, and what is left of each.
    pub frames: bool,
    pub turns: VecDeque<(u64, u64)>,
    /// Transfers so far.
    carried: u64,
    /// Whether its sender's end knows what has arrived; else its receiver's does.
    pub acknowledged: bool,
    /// When it last made progress, and how far.
    pub progress: (Time, u64),
    /// Whether all its transfers are over and no other one comes.
    pub over: bool,
}

impl Connection {
    /// A connection that has carried nothing yet.
    pub(super) fn new(entry: usize, flow: u32, acknowledged: bool) -> Self {
        Connection {
            entry,
            flow,
            underway: VecDeque::new(),
            written: 0,
            pool: None,
            frames: false,
            turns: VecDeque::new(),
            carried: 0,
            acknowledged,
            progress: (Time::ZERO, 0),
            over: false,
        }
    }

    /// Takes a transfer: as one write, or frame by frame.
    pub(super) fn carry(&mut self, underway: Underway) {
        let (size, number) = (underway.transfer.size, self.carried);
        self.carried += 1;
        let mut ends = u64::MAX;
        if self.frames {
            self.turns.push_back((number, size));
        } else {
            self.written += size;
            ends = self.written;
        }
        self.underway.push_back((number, Underway { ends, ..underway }));
    }

    /// The last frame of a transfer is written.
    pub(super) fn last_frame(&mut self, number: u64) {
        let found = self.underway.iter_mut().find(|(other, _)| *other == number);
        if let Some((_, underway)) = found {
            underway.ends = self.written;
        }
    }

    /// The next transfer that is over, after progress up to `done` bytes.
    pub(super) fn next_done(&mut self, done: u64) -> Option<Underway> {
        let at = self.underway.iter().position(|(_, underway)| underway.ends <= done)?;
        self.underway.remove(at).map(|(_, underway)| underway)
    }
}
