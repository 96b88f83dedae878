//! A connection and the transfers that it carries.

use std::collections::VecDeque;

use super::rows::Counted;
use crate::arrivals::{Due, Transfer as Drawn};
use crate::units::{Span, Time};

/// Something that is to be transferred.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    /// Which kind of connection it takes.
    pub variant: u16,
    /// What it belongs to besides: a group of an incast, a user, a session.
    pub group: u32,
    pub arrival: Time,
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
    /// The stream's bytes up to its end.
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
    pub variant: u16,
    /// Its flow number.
    pub flow: u32,
    pub underway: VecDeque<Underway>,
    /// Bytes written to it.
    pub written: u64,
    /// Whether its sender's end knows what has arrived; else its receiver's does.
    pub acknowledged: bool,
    /// When it last made progress, and how far.
    pub progress: (Time, u64),
    /// Whether all its transfers are over and no other one comes.
    pub over: bool,
}

impl Connection {
    /// A connection that has carried nothing yet.
    pub(super) fn new(entry: usize, variant: u16, flow: u32, acknowledged: bool) -> Self {
        Connection {
            entry,
            variant,
            flow,
            underway: VecDeque::new(),
            written: 0,
            acknowledged,
            progress: (Time::ZERO, 0),
            over: false,
        }
    }

    /// The next transfer that is over, after progress up to `done` bytes.
    pub(super) fn next_done(&mut self, done: u64) -> Option<Underway> {
        let front = self.underway.front()?;
        if front.ends <= done { self.underway.pop_front() } else { None }
    }
}
