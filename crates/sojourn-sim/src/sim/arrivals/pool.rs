//! Pools of persistent connections, and what their protocols make of several transfers.
//!
//! With HTTP/1 a connection carries one transfer at a time; more connections are opened up to the
//! pool's size, then transfers wait, first come first served. With HTTP/2 a connection carries all
//! transfers at once, in frames that take turns; as many bytes are written as keep it busy.

use std::collections::{HashMap, VecDeque};

use super::Driver;
use super::connection::{Connection, Key, Transfer};
use crate::arrivals::{PoolSpec, Protocol};
use crate::net::{Network, Step};
use crate::sim::sockets::Sockets;
use crate::traffic::Action;
use crate::units::Time;

/// Bytes written ahead of what has been sent (`TCP_NOTSENT_LOWAT` as servers set it).
pub const AHEAD: u64 = 131_072;

/// A pool: its connections, by their owner's numbers, and transfers that have none yet.
#[derive(Debug, Default)]
struct Pool {
    open: Vec<usize>,
    waiting: VecDeque<Transfer>,
}

/// The pools of an entry.
#[derive(Debug)]
pub struct Pools {
    spec: PoolSpec,
    pools: HashMap<Key, Pool>,
}

/// Which connection a transfer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A new one.
    Open,
    /// The one with this number.
    Use(usize),
    /// None as yet: it waits.
    Wait,
}

impl Pools {
    /// No pools yet.
    pub(super) fn new(spec: PoolSpec) -> Self {
        Pools { spec, pools: HashMap::new() }
    }

    /// Which connection of its pool a transfer takes; `connection` finds them by their numbers.
    pub fn choose<'c>(
        &self,
        now: Time,
        transfer: &Transfer,
        connection: impl Fn(usize) -> Option<&'c Connection>,
    ) -> Choice {
        let open = self.pools.get(&key(transfer)).map_or(&[][..], |pool| &pool.open);
        let free = open.iter().copied().find(|number| {
            connection(*number).is_some_and(|connection| {
                let fresh = now.since(connection.progress.0) < self.spec.idle;
                let empty = connection.underway.is_empty();
                if empty { fresh } else { self.spec.protocol == Protocol::Http2 }
            })
        });
        match free {
            Some(number) => Choice::Use(number),
            None if open.len() >= self.spec.size() as usize => Choice::Wait,
            None => Choice::Open,
        }
    }

    /// The new connection with this number belongs to the pool of the transfer for which it is opened.
    pub fn join(&mut self, transfer: &Transfer, number: usize, connection: &mut Connection) {
        let key = key(transfer);
        self.pools.entry(key).or_default().open.push(number);
        connection.pool = Some(key);
        connection.frames = self.spec.protocol == Protocol::Http2;
    }

    /// A transfer waits.
    pub fn put_off(&mut self, transfer: Transfer) {
        self.pools.entry(key(&transfer)).or_default().waiting.push_back(transfer);
    }

    /// The next transfer that waits for a connection, if that has nothing to carry.
    pub fn next_waiting(&mut self, connection: &Connection) -> Option<Transfer> {
        let key = connection.pool.filter(|_| connection.underway.is_empty())?;
        self.pools.get_mut(&key)?.waiting.pop_front()
    }

    /// Whether a connection has been idle for so long that it is closed.
    pub fn is_idle(&self, now: Time, connection: &Connection) -> bool {
        let empty = connection.pool.is_some() && connection.underway.is_empty();
        empty && !connection.over && now.since(connection.progress.0) >= self.spec.idle
    }

    /// Those of the connections of a transfer's pool that have been idle for so long; `connection` finds
    /// them by their numbers.
    fn idle<'c>(
        &self,
        now: Time,
        transfer: &Transfer,
        connection: impl Fn(usize) -> Option<&'c Connection>,
    ) -> Vec<usize> {
        let open = self.pools.get(&key(transfer)).map_or(&[][..], |pool| &pool.open);
        let is_idle = |number: usize| connection(number).is_some_and(|one| self.is_idle(now, one));
        open.iter().copied().filter(|number| is_idle(*number)).collect()
    }

    /// The connection with this number carries no more.
    pub fn leave(&mut self, number: usize, connection: &Connection) {
        let Some(key) = connection.pool else { return };
        if let Some(pool) = self.pools.get_mut(&key) {
            pool.open.retain(|open| *open != number);
            if pool.open.is_empty() && pool.waiting.is_empty() {
                self.pools.remove(&key);
            }
        }
    }

    /// Transfers that have no connection yet.
    pub(super) fn waiting(&self) -> Vec<Transfer> {
        let waiting = self.pools.values().flat_map(|pool| pool.waiting.iter().copied());
        let mut waiting: Vec<_> = waiting.collect();
        // Pools have no order of their own.
        waiting.sort_by_key(|transfer| (transfer.arrival, transfer.variant, transfer.group));
        waiting
    }
}

fn key(transfer: &Transfer) -> Key {
    (transfer.variant, transfer.party)
}

impl Driver {
    /// A transfer takes a connection of its pool, or waits for one.
    pub(super) fn carry_in_pool(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        entry: usize,
        transfer: Transfer,
    ) -> Step {
        let (now, slots) = (net.now(), &self.slots);
        let idle = self.entries[entry].pools.idle(now, &transfer, |slot| slots[slot].as_deref());
        // They would fill the pool, and never have an end for which the transfer could wait.
        for slot in idle {
            self.close(hosts, now, slot);
        }
        let (owner, slots) = (&mut self.entries[entry], &self.slots);
        match owner.pools.choose(now, &transfer, |slot| slots[slot].as_deref()) {
            Choice::Use(slot) => self.send(hosts, net, slot, transfer, false),
            Choice::Wait => {
                owner.counts.waiting += 1;
                owner.pools.put_off(transfer);
                Ok(())
            }
            Choice::Open => {
                let slot = self.open(hosts, net, entry, transfer.variant)?;
                if let Some(connection) = &mut self.slots[slot] {
                    self.entries[entry].pools.join(&transfer, slot, connection);
                }
                self.send(hosts, net, slot, transfer, true)
            }
        }
    }

    /// A connection of a pool has nothing to carry: the next transfer that waits takes it.
    pub(super) fn serve_waiting(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        slot: usize,
    ) -> Step {
        let Some(connection) = &self.slots[slot] else { return Ok(()) };
        let owner = &mut self.entries[connection.entry];
        let Some(next) = owner.pools.next_waiting(connection) else { return Ok(()) };
        owner.counts.waiting -= 1;
        self.send(hosts, net, slot, next, false)
    }

    /// Writes frames of the transfers of a connection in turn, as long as it has little to send.
    pub(super) fn write_frames(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        slot: usize,
    ) -> Step {
        let sender = self.first_socket + 2 * slot;
        while let Some(connection) = &mut self.slots[slot]
            && hosts.end(sender).unsent() < AHEAD
            && let Some((bytes, _)) = connection.next_frame()
        {
            hosts.act(net.now(), sender, Action::Write(bytes));
            hosts.pump(net, sender)?;
        }
        Ok(())
    }

    /// Closes connections of pools that have been idle for long.
    pub(super) fn close_idle(&mut self, hosts: &mut dyn Sockets, now: Time) {
        for slot in 0..self.slots.len() {
            let Some(connection) = &self.slots[slot] else { continue };
            if self.entries[connection.entry].pools.is_idle(now, connection) {
                self.close(hosts, now, slot);
            }
        }
    }

    pub(super) fn leave_pool(&mut self, slot: usize) {
        let Some(connection) = &self.slots[slot] else { return };
        self.entries[connection.entry].pools.leave(slot, connection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::arrivals::{Counted, Underway};
    use crate::units::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn transfer(party: Option<u32>) -> Transfer {
        let (variant, group, arrival, size) = (0, 0, at(0), 40_000);
        let (request, server_time) = (None, Span::ZERO);
        Transfer { variant, group, arrival, size, request, server_time, party }
    }

    fn underway(transfer: Transfer) -> Underway {
        let (start, ends, ideal) = (at(0), u64::MAX, Span::ZERO);
        Underway { transfer, start, ends, ideal, before: Counted::default() }
    }

    #[test]
    fn a_transfer_takes_the_first_connection_that_is_free_and_fresh() {
        let spec = PoolSpec { size: Some(2), idle: Span::from_secs(1), ..PoolSpec::default() };
        let mut pools = Pools::new(spec);
        let one = transfer(None);
        let mut all: Vec<Connection> = Vec::new();
        for number in 0..2 {
            let choice = pools.choose(at(0), &one, |number| all.get(number));
            assert_eq!(choice, Choice::Open);
            let mut connection = Connection::new(0, 0, true);
            pools.join(&one, number, &mut connection);
            connection.carry(underway(one));
            assert_eq!(connection.begin(0), Some(40_000));
            all.push(connection);
        }
        assert_eq!(pools.choose(at(0), &one, |number| all.get(number)), Choice::Wait);
        assert_eq!(pools.choose(at(0), &transfer(Some(3)), |_| None), Choice::Open);
        pools.put_off(one);
        assert_eq!(pools.waiting().len(), 1);
        assert!(pools.next_waiting(&all[1]).is_none(), "it is busy");
        all[1].advance(at(500), 40_000);
        assert!(all[1].next_done(39_999).is_none());
        assert_eq!(all[1].next_done(40_000).map(|(number, _)| number), Some(0));
        assert!(pools.next_waiting(&all[1]).is_some());
        assert_eq!(pools.choose(at(1_499), &one, |number| all.get(number)), Choice::Use(1));
        assert_eq!(pools.choose(at(1_500), &one, |number| all.get(number)), Choice::Wait);
        assert!(pools.is_idle(at(1_500), &all[1]) && !pools.is_idle(at(1_500), &all[0]));
        pools.leave(1, &all[1]);
        assert_eq!(pools.choose(at(1_500), &one, |number| all.get(number)), Choice::Open);
    }

    #[test]
    fn transfers_of_one_connection_take_turns_in_frames() {
        let spec = PoolSpec { protocol: Protocol::Http2, ..PoolSpec::default() };
        let mut pools = Pools::new(spec);
        let mut connection = Connection::new(0, 0, true);
        let (long, short) = (transfer(None), Transfer { size: 100, ..transfer(None) });
        pools.join(&long, 7, &mut connection);
        for (number, one) in (0..).zip([long, short]) {
            connection.carry(underway(one));
            assert_eq!(connection.begin(number), None);
            assert_eq!(pools.choose(at(0), &one, |_| Some(&connection)), Choice::Use(7));
        }
        let frames: Vec<_> = std::iter::from_fn(|| connection.next_frame()).collect();
        assert_eq!(frames, [(16_384, None), (100, Some(1)), (16_384, None), (7_232, Some(0))]);
        assert_eq!(connection.next_done(16_484).map(|(number, _)| number), Some(1));
        assert_eq!(connection.next_done(40_100).map(|(number, _)| number), Some(0));
    }
}
