//! A connection and the transfers that it carries.

use std::collections::VecDeque;

use super::rows::Counted;
use crate::arrivals::{Due, Transfer as Drawn};
use crate::units::{Span, Time};

/// Payload of a frame of HTTP/2 (RFC 9113, 4.2: the least that a peer allows).
const FRAME: u64 = 16_384;

/// Which pool a connection belongs to: its kind, and its user or session where there are any.
pub type Key = (u16, Option<u32>);

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
    /// Payload of its request in bytes, if it has one.
    pub request: Option<u64>,
    /// Time that the server takes to respond.
    pub server_time: Span,
    /// Who waits for its end: a user or a session.
    pub party: Option<u32>,
}

impl Transfer {
    /// What arrives, and what was drawn of it.
    pub(super) fn new(due: &Due, drawn: &Drawn, party: Option<u32>) -> Self {
        let Drawn { variant, size, request, server_time } = *drawn;
        let (group, arrival) = (due.group, due.at);
        Transfer { variant, group, arrival, size, request, server_time, party }
    }
}

/// A transfer that a connection carries.
#[derive(Clone, Copy, Debug)]
pub struct Underway {
    /// What is transferred.
    pub transfer: Transfer,
    /// When the connection got it.
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
pub struct Connection {
    /// Index of its entry.
    pub entry: usize,
    /// Its flow number.
    pub flow: u32,
    /// Its transfers, by number of arrival.
    pub underway: VecDeque<(u64, Underway)>,
    /// Bytes before which none of them ends: with most packets none does.
    first_end: u64,
    /// Bytes written to it.
    pub written: u64,
    /// The pool that it belongs to.
    pub pool: Option<Key>,
    /// Whether transfers are written in frames that take turns.
    pub frames: bool,
    /// Whose turn is next, by number of arrival, and what is left of each.
    turns: VecDeque<(u64, u64)>,
    /// Bytes of requests so far, and the transfers that wait for theirs to arrive: the bytes up to the
    /// request's end, and number of arrival.
    requested: u64,
    asked: VecDeque<(u64, u64)>,
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
    pub fn new(entry: usize, flow: u32, acknowledged: bool) -> Self {
        Connection {
            entry,
            flow,
            // Mostly it carries one, and a ring that grows begins with four.
            underway: VecDeque::with_capacity(1),
            first_end: u64::MAX,
            written: 0,
            pool: None,
            frames: false,
            turns: VecDeque::new(),
            requested: 0,
            asked: VecDeque::new(),
            carried: 0,
            acknowledged,
            progress: (Time::ZERO, 0),
            over: false,
        }
    }

    /// Whether it has carried nothing yet.
    pub fn is_new(&self) -> bool {
        self.carried == 0
    }

    /// Takes a transfer, none of which is written yet. Returns its number, from 0 on.
    pub fn carry(&mut self, underway: Underway) -> u64 {
        let number = self.carried;
        self.carried += 1;
        if let Some(request) = underway.transfer.request {
            self.requested += request;
            self.asked.push_back((self.requested, number));
        }
        self.underway.push_back((number, Underway { ends: u64::MAX, ..underway }));
        number
    }

    /// Whether any request is on its way.
    pub(super) fn waits_for_requests(&self) -> bool {
        !self.asked.is_empty()
    }

    /// The next transfer whose request has arrived, of `arrived` bytes of requests, and the time that
    /// the server takes.
    pub fn next_asked(&mut self, arrived: u64) -> Option<(u64, Span)> {
        let (_, number) = *self.asked.front().filter(|(end, _)| *end <= arrived)?;
        self.asked.pop_front();
        let server_time = self.find(number)?.transfer.server_time;
        Some((number, server_time))
    }

    /// The data of a transfer is there: all of it to be written now, if it is not written in frames.
    pub fn begin(&mut self, number: u64) -> Option<u64> {
        let size = self.find(number)?.transfer.size;
        if self.frames {
            self.turns.push_back((number, size));
            return None;
        }
        self.written += size;
        self.all_written(number);
        Some(size)
    }

    /// The next frame to be written: its payload, and the number of the transfer whose last one it
    /// is.
    pub fn next_frame(&mut self) -> Option<(u64, Option<u64>)> {
        let (number, left) = self.turns.pop_front()?;
        let bytes = left.min(FRAME);
        self.written += bytes;
        if left > bytes {
            self.turns.push_back((number, left - bytes));
            return Some((bytes, None));
        }
        self.all_written(number);
        Some((bytes, Some(number)))
    }

    /// All of a transfer is written.
    fn all_written(&mut self, number: u64) {
        let written = self.written;
        self.first_end = self.first_end.min(written);
        if let Some(underway) = self.find(number) {
            underway.ends = written;
        }
    }

    fn find(&mut self, number: u64) -> Option<&mut Underway> {
        let found = self.underway.iter_mut().find(|(other, _)| *other == number);
        found.map(|(_, underway)| underway)
    }

    /// So many bytes are done.
    pub fn advance(&mut self, now: Time, done: u64) {
        if done > self.progress.1 {
            self.progress = (now, done);
        }
    }

    /// The next transfer that is over, after progress up to `done` bytes, with its number.
    pub fn next_done(&mut self, done: u64) -> Option<(u64, Underway)> {
        if done < self.first_end {
            return None;
        }
        let at = self.underway.iter().position(|(_, underway)| underway.ends <= done);
        let over = at.and_then(|at| self.underway.remove(at));
        let ends = self.underway.iter().map(|(_, underway)| underway.ends);
        self.first_end = ends.min().unwrap_or(u64::MAX);
        over
    }
}
