//! Pools of persistent connections, and what their protocols make of several transfers.
//!
//! With HTTP/1 a connection carries one transfer at a time; more connections are opened up to the
//! pool's size, then transfers wait, first come first served. With HTTP/2 a connection carries all
//! transfers at once, in frames that take turns; as many bytes are written as keep it busy.

use std::collections::{HashMap, VecDeque};

use super::Driver;
use super::connection::{Key, Transfer};
use crate::arrivals::{Connections, Protocol};
use crate::net::{Network, Step};
use crate::sim::sockets::Sockets;
use crate::traffic::Action;
use crate::units::Time;

/// Payload of a frame of HTTP/2 (RFC 9113, 4.2: the least that a peer allows).
const FRAME: u64 = 16_384;
/// Bytes written ahead of what has been sent (`TCP_NOTSENT_LOWAT` as servers set it).
const AHEAD: u64 = 131_072;

/// A pool.
#[derive(Debug, Default)]
pub(super) struct Pool {
    open: Vec<u32>,
    waiting: VecDeque<Transfer>,
}

impl Pool {
    /// Transfers that have no connection yet.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Transfer> {
        self.waiting.iter().copied()
    }
}

/// The pools of an entry.
pub(super) type Pools = HashMap<Key, Pool>;

impl Driver {
    /// A transfer takes a connection of its pool, or waits for one.
    pub(super) fn carry_in_pool(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        entry: usize,
        transfer: Transfer,
    ) -> Step {
        let spec = self.entries[entry].spec.keys.pool.unwrap_or_default();
        let key = (transfer.variant, transfer.party);
        let open = self.entries[entry].pools.get(&key).map_or(&[][..], |pool| &pool.open);
        let now = net.now();
        let free = open.iter().copied().find(|slot| {
            self.slots[*slot as usize].as_ref().is_some_and(|connection| {
                let fresh = now.since(connection.progress.0) < spec.idle;
                let empty = connection.underway.is_empty();
                if empty { fresh } else { spec.protocol == Protocol::Http2 }
            })
        });
        if let Some(slot) = free {
            return self.send(hosts, net, slot as usize, transfer, false);
        }
        if open.len() >= spec.size() as usize {
            let owner = &mut self.entries[entry];
            owner.counts.waiting += 1;
            owner.pools.entry(key).or_default().waiting.push_back(transfer);
            return Ok(());
        }
        let slot = self.open(hosts, net, entry, transfer.variant)?;
        self.entries[entry].pools.entry(key).or_default().open.push(slot as u32);
        if let Some(connection) = &mut self.slots[slot] {
            connection.pool = Some(key);
            connection.frames = spec.protocol == Protocol::Http2;
        }
        self.send(hosts, net, slot, transfer, true)
    }

    /// A connection of a pool has nothing to carry: the next transfer that waits takes it.
    pub(super) fn serve_waiting(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        slot: usize,
    ) -> Step {
        let Some(connection) = &self.slots[slot] else { return Ok(()) };
        let Some(key) = connection.pool.filter(|_| connection.underway.is_empty()) else {
            return Ok(());
        };
        let owner = &mut self.entries[connection.entry];
        let Some(next) = owner.pools.get_mut(&key).and_then(|pool| pool.waiting.pop_front()) else {
            return Ok(());
        };
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
            && let Some((number, left)) = connection.turns.pop_front()
        {
            let bytes = left.min(FRAME);
            connection.written += bytes;
            if left > bytes {
                connection.turns.push_back((number, left - bytes));
            } else {
                connection.all_written(number);
            }
            hosts.act(net.now(), sender, Action::Write(bytes));
            hosts.pump(net, sender)?;
        }
        Ok(())
    }

    /// Closes connections of pools that have been idle for long.
    pub(super) fn close_idle(&mut self, hosts: &mut dyn Sockets, now: Time) {
        for slot in 0..self.slots.len() {
            let Some(connection) = &self.slots[slot] else { continue };
            let owner = &self.entries[connection.entry];
            if connection.pool.is_none() || connection.over || !connection.underway.is_empty() {
                continue;
            }
            let idle = owner.spec.keys.pool.unwrap_or_default().idle;
            if now.since(connection.progress.0) >= idle {
                self.leave_pool(slot);
                self.close(hosts, now, slot);
            }
        }
    }

    pub(super) fn leave_pool(&mut self, slot: usize) {
        let Some(connection) = &self.slots[slot] else { return };
        let pools = &mut self.entries[connection.entry].pools;
        let Some(key) = connection.pool else { return };
        if let Some(pool) = pools.get_mut(&key) {
            pool.open.retain(|open| *open as usize != slot);
            if pool.open.is_empty() && pool.waiting.is_empty() {
                pools.remove(&key);
            }
        }
    }

    /// Whether the connections of an entry are those of pools.
    pub(super) fn pools(&self, entry: usize) -> bool {
        self.entries[entry].spec.keys.connections == Connections::Pool
    }
}
