//! An entry of the scenario: what arrives when, from whom.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::connection::Transfer;
use super::path::Path;
use super::pool::Pools;
use super::rows::EntryCounters;
use crate::arrivals::{ArrivalsSpec, Connections, Draws, Due, Process};
use crate::net::Alarm;
use crate::packet::Address;
use crate::rng::StreamKey;
use crate::units::{Span, Time};

/// Flow numbers of an entry's connections lie from its place, counted from 1, times this on.
const FLOWS: u32 = 1 << 24;

/// A user of a closed loop, or a session: what ends there decides when the next arrives.
#[derive(Clone, Debug)]
struct Party {
    draws: Draws,
    /// Of a session: the variant of its transfers, once the first has arrived.
    variant: Option<u16>,
    /// Transfers and sessions so far.
    transfers: u64,
    sessions: u64,
    /// Transfers of the present session that are still to arrive.
    left: u64,
    /// Whether it goes on after a session.
    user: bool,
}

/// What a server works on: until when, in the order of such times and of arrival of the requests;
/// slot of the connection, number of the transfer on it.
type Work = (Time, u64, usize, u64);

/// An entry.
pub struct Entry {
    /// Name, for messages.
    pub name: String,
    pub(super) spec: ArrivalsSpec,
    pub(super) paths: Vec<Path>,
    pub(super) alarm: Alarm,
    /// The pools of its connections, if they are persistent.
    pub pools: Pools,
    /// What it has come to.
    pub counts: EntryCounters,
    draws: Draws,
    /// What comes whatever becomes of it, and the next of it.
    process: Option<Box<dyn Process>>,
    pending: Option<Due>,
    parties: Vec<Party>,
    free: Vec<u32>,
    /// When the next transfer of a party arrives.
    wakes: BinaryHeap<Reverse<(Time, u32)>>,
    /// What its servers work on, and how much that has been.
    works: BinaryHeap<Reverse<Work>>,
    asked: u64,
    stop: Time,
    /// Arrivals of the process, and connections, so far.
    arrivals: u64,
    connections: u64,
    /// Flow number of the first connection, and name of the draws of all.
    first_flow: u32,
    connection_draws: Draws,
}

impl Entry {
    /// Entry number `place` between these times, before its first arrival; `process` is none in a
    /// closed loop.
    pub(super) fn new(
        place: usize,
        spec: ArrivalsSpec,
        paths: Vec<Path>,
        draws: Draws,
        process: Option<Box<dyn Process>>,
        [start, stop]: [Time; 2],
    ) -> Self {
        let users = spec.keys.users.unwrap_or(0);
        let pools = Pools::new(spec.keys.pool.unwrap_or_default());
        let mut entry = Entry {
            name: format!("arrivals '{}'", spec.keys.label),
            spec,
            paths,
            alarm: Alarm::default(),
            pools,
            counts: EntryCounters::default(),
            draws,
            process,
            pending: None,
            parties: Vec::new(),
            free: Vec::new(),
            wakes: BinaryHeap::new(),
            works: BinaryHeap::new(),
            asked: 0,
            stop,
            arrivals: 0,
            connections: 0,
            first_flow: (place as u32 + 1) * FLOWS,
            connection_draws: draws,
        };
        entry.pull(start);
        for number in 0..users {
            let draws = draws.user(number.into());
            let user = Party::of(draws, true);
            let at = start + draws.think(&entry.spec, 0);
            let party = entry.add(user);
            entry.wake(at, party);
        }
        entry
    }

    fn pull(&mut self, from: Time) {
        let due = self.process.as_mut().and_then(|process| process.next(from));
        self.pending = due.filter(|due| due.at < self.stop);
    }

    fn add(&mut self, party: Party) -> u32 {
        if let Some(free) = self.free.pop() {
            self.parties[free as usize] = party;
            return free;
        }
        self.parties.push(party);
        self.parties.len() as u32 - 1
    }

    fn wake(&mut self, at: Time, party: u32) {
        if at < self.stop {
            self.wakes.push(Reverse((at, party)));
        }
    }

    /// When something arrives next, or a server responds, if it does not depend on what is still under
    /// way.
    pub fn next(&self) -> Option<Time> {
        let party = self.wakes.peek().map(|Reverse((at, _))| *at);
        let process = self.pending.map(|due| due.at);
        let server = self.works.peek().map(|Reverse((until, ..))| *until);
        [party, process, server].into_iter().flatten().min()
    }

    /// A server works on a request until then; the response goes to this connection.
    pub fn work(&mut self, until: Time, slot: usize, number: u64) {
        self.works.push(Reverse((until, self.asked, slot, number)));
        self.asked += 1;
    }

    /// The next response that is due: slot of its connection, number of the transfer.
    pub fn respond(&mut self, now: Time) -> Option<(usize, u64)> {
        let Reverse((_, _, slot, number)) =
            *self.works.peek().filter(|Reverse((until, ..))| *until <= now)?;
        self.works.pop();
        Some((slot, number))
    }

    /// The next transfer that arrives by `now`, counted as arrived.
    pub fn arrive(&mut self, now: Time) -> Option<Transfer> {
        let transfer = self.party_due(now).or_else(|| self.process_due(now))?;
        self.counts.arrived += 1;
        self.counts.offered_bytes += transfer.size;
        Some(transfer)
    }

    fn party_due(&mut self, now: Time) -> Option<Transfer> {
        let Reverse((at, number)) = *self.wakes.peek().filter(|Reverse((at, _))| *at <= now)?;
        self.wakes.pop();
        let party = &mut self.parties[number as usize];
        if party.left == 0 {
            party.left = party.draws.transfers(&self.spec, party.sessions);
            party.sessions += 1;
            party.variant = None;
        }
        Some(self.next_of(number, Due { at, size: None, variant: None, group: number }))
    }

    fn process_due(&mut self, now: Time) -> Option<Transfer> {
        let due = self.pending.filter(|due| due.at <= now)?;
        self.pull(due.at);
        let number = self.arrivals;
        self.arrivals += 1;
        if self.spec.keys.session.is_none() {
            let drawn = self.draws.transfer(&self.spec, number, &due);
            return Some(Transfer::new(&due, &drawn, None));
        }
        let draws = self.draws.session(number);
        let left = draws.transfers(&self.spec, 0);
        let party = self.add(Party { left, ..Party::of(draws, false) });
        Some(self.next_of(party, due))
    }

    /// The next transfer of a party's session.
    fn next_of(&mut self, number: u32, due: Due) -> Transfer {
        let party = &mut self.parties[number as usize];
        let due = Due { variant: party.variant.or(due.variant), ..due };
        let drawn = party.draws.transfer(&self.spec, party.transfers, &due);
        party.variant = Some(drawn.variant);
        party.transfers += 1;
        party.left -= 1;
        Transfer::new(&due, &drawn, Some(number))
    }

    /// A transfer is over: its party, if it has one, reads, or thinks, or ends. Returns whether it
    /// ends.
    pub fn on_end(&mut self, now: Time, transfer: &Transfer) -> bool {
        let Some(number) = transfer.party else { return false };
        let party = &self.parties[number as usize];
        let at = if party.left > 0 {
            now + party.draws.reading(&self.spec, party.transfers)
        } else if party.user {
            now + party.draws.think(&self.spec, party.sessions)
        } else {
            self.free.push(number);
            return true;
        };
        self.wake(at, number);
        false
    }

    /// Flow number and name of the draws of the next connection; `None` if there are no more numbers.
    pub fn number(&mut self) -> Option<(u32, StreamKey)> {
        let number = self.connections;
        self.connections += 1;
        let flow = self.first_flow + u32::try_from(number).ok()?;
        (number < FLOWS.into()).then_some((flow, self.connection_draws.connection(number)))
    }

    /// Numbers connections from 0 on, with the draws of the flows of a run with this seed.
    #[cfg(test)]
    pub(super) fn number_as_flows(&mut self, seed: u64) {
        (self.first_flow, self.connection_draws) = (0, Draws::of_flows(seed));
    }

    /// Whether its connections are those of pools.
    pub fn is_pooled(&self) -> bool {
        self.spec.keys.connections == Connections::Pool
    }

    /// Whether the receivers of its transfers open connections, and ask for them.
    pub fn asks(&self) -> bool {
        self.spec.keys.request.is_some()
    }

    /// Least time that a transfer takes.
    pub fn ideal(&self, transfer: &Transfer, handshake: bool) -> Span {
        self.paths[usize::from(transfer.variant)].ideal(transfer, handshake)
    }

    /// Addresses of the packets of a variant's connections there and back, but for flow number and
    /// sockets.
    pub fn addresses(&self, variant: u16) -> Option<[Address; 2]> {
        self.paths.get(usize::from(variant)).map(|path| path.addresses)
    }

    /// Whether a variant's connections send datagrams, of which nothing comes back.
    pub fn sends_datagrams(&self, variant: u16) -> bool {
        self.paths.get(usize::from(variant)).is_some_and(|path| path.datagrams)
    }

    /// Size in bytes of the largest IP packet of its connections.
    pub fn largest_packet(&self) -> u32 {
        self.paths.iter().map(|path| path.flow.mss + path.headers).fold(0, u32::max)
    }
}

impl Party {
    fn of(draws: Draws, user: bool) -> Self {
        Party { draws, variant: None, transfers: 0, sessions: 0, left: 0, user }
    }
}
