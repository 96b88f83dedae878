//! Connections that come and go: who opens them, what they carry, when they are over.
//!
//! | part | file |
//! | --- | --- |
//! | an entry of the scenario: what arrives when | `entry` |
//! | what connections of one kind have in common | `path` |
//! | a connection and its transfers | `connection` |
//! | persistent connections | `pool` |
//! | rows of transfers, counts over time | `rows` |
//!
//! A connection has two sockets behind those of the declared flows. They are used again a second
//! after its last transfer is over; a packet that comes later finds them closed. Its flow number is
//! its own, so that no link, queue or record takes it for another one.

mod build;
mod connection;
mod entry;
mod path;
mod pool;
mod rows;
#[cfg(test)]
mod tests;

pub(super) use build::Place;

use std::collections::VecDeque;
use std::sync::Arc;

use super::hosts::FlowHosts;
use super::timer::Timer;
use crate::net::{Network, Step, Wake};
use crate::packet::{Address, FiveTuple};
use crate::record::{FlowCounters, Table};
use crate::registry::Catalogue;
use crate::spec::Transport;
use crate::tcp::HostMemory;
use crate::traffic::Action;
use crate::transport::TransportInit;
use crate::units::{Span, Time};
use connection::{Connection, Transfer, Underway};
use entry::Entry;
use rows::{Counted, End, EntrySamples, Row, TransferRows};

/// A connection's ends answer late packets for so long after its last transfer.
const LINGER: Span = Span::from_secs(1);
/// A transfer of datagrams that makes no progress for so long has failed.
const PATIENCE: Span = Span::from_secs(60);
/// Connections that can be open at once: timers are numbered.
const MOST: usize = 1_000_000;

/// Opens connections and follows them.
pub(super) struct Driver {
    entries: Vec<Entry>,
    /// By slot: two sockets each, from the first one that is not of a declared flow.
    slots: Vec<Option<Connection>>,
    free: Vec<u32>,
    /// Slots of connections that are over, and since when.
    lingering: VecDeque<(Time, u32)>,
    first_socket: usize,
    catalogue: Arc<Catalogue>,
    memory: Option<HostMemory>,
    copied: bool,
    rows: TransferRows,
    samples: EntrySamples,
    /// Packets that came after their connection was over.
    late_packets: u64,
}

impl Driver {
    /// Sets the timers with which a run begins.
    pub(super) fn start(&mut self, net: &mut Network) {
        for entry in 0..self.entries.len() {
            self.arm(net, entry);
        }
    }

    fn arm(&mut self, net: &mut Network, entry: usize) {
        let next = self.entries[entry].next().unwrap_or(Time::NEVER);
        let alarm = &mut self.entries[entry].alarm;
        if let Some(time) = alarm.arm(next.max(net.now())) {
            net.set_timer(time, Timer::Arrivals(entry as u32).pack());
        }
    }

    /// The transfers of an entry that are due arrive.
    pub(super) fn on_timer(
        &mut self,
        hosts: &mut FlowHosts,
        net: &mut Network,
        entry: usize,
    ) -> Step {
        let timer = Timer::Arrivals(entry as u32).pack();
        match self.entries[entry].alarm.fired(net.now()) {
            Wake::Now => {}
            Wake::At(time) => {
                net.set_timer(time, timer);
                return Ok(());
            }
            Wake::Not => return Ok(()),
        }
        while let Some(transfer) = self.entries[entry].arrive(net.now()) {
            self.carry(hosts, net, entry, transfer)?;
            net.count_step(hosts, timer)?;
        }
        self.arm(net, entry);
        Ok(())
    }

    /// A transfer gets a connection.
    fn carry(
        &mut self,
        hosts: &mut FlowHosts,
        net: &mut Network,
        entry: usize,
        transfer: Transfer,
    ) -> Step {
        if self.pools(entry) {
            return self.carry_in_pool(hosts, net, entry, transfer);
        }
        let slot = self.open(hosts, net, entry, transfer.variant)?;
        self.send(hosts, net, slot, transfer, true)?;
        let sender = self.first_socket + 2 * slot;
        hosts.act(net.now(), sender, Action::Close);
        hosts.pump(net, sender)
    }

    /// A connection carries a transfer; a `new` one is opened for it.
    fn send(
        &mut self,
        hosts: &mut FlowHosts,
        net: &mut Network,
        slot: usize,
        transfer: Transfer,
        new: bool,
    ) -> Step {
        let (now, sender) = (net.now(), self.first_socket + 2 * slot);
        let before = if new { Counted::default() } else { self.counted(hosts, now, slot) };
        let connection = self.slots[slot].as_mut().expect("it is open");
        let owner = &mut self.entries[connection.entry];
        owner.counts.live += 1;
        let ideal = owner.ideal(&transfer, new);
        connection.carry(Underway { transfer, start: now, ends: u64::MAX, ideal, before });
        connection.progress.0 = now;
        if new {
            hosts.act(now, sender, Action::Open);
            hosts.pump(net, sender)?;
        }
        if self.slots[slot].as_ref().is_some_and(|connection| connection.frames) {
            return self.write_frames(hosts, net, slot);
        }
        hosts.act(now, sender, Action::Write(transfer.size));
        hosts.pump(net, sender)
    }

    /// Gives a new connection a slot.
    fn open(
        &mut self,
        hosts: &mut FlowHosts,
        net: &Network,
        entry: usize,
        variant: u16,
    ) -> Result<usize, Box<crate::error::Fault>> {
        self.clear(hosts, net.now());
        let slot = self.free.pop().map_or(self.slots.len(), |slot| slot as usize);
        if slot == MOST {
            let name = self.entries[entry].name.clone();
            return Err(net.fault(name, "has at most 1,000,000 connections at once"));
        }
        let first = self.first_socket + 2 * slot;
        let owner = &mut self.entries[entry];
        let numbered = owner.number();
        let full = || net.fault(owner.name.clone(), "has at most 16,777,216 connections in all");
        let (flow, random) = numbered.ok_or_else(full)?;
        let path = &owner.paths[usize::from(variant)];
        let address = |own: Address, socket: usize, tuple: FiveTuple| Address {
            flow,
            socket: socket as u32,
            tuple: FiveTuple { ports: flow, ..tuple },
            ..own
        };
        let [there, back] = path.addresses;
        let init = TransportInit {
            flow: &path.flow,
            addresses: [address(there, first + 1, there.tuple), address(back, first, back.tuple)],
            base_rtt: path.base_rtt,
            small_queue: path.small_queue,
            copied: self.copied,
            random,
            memory: self.memory.as_ref(),
            now: net.now(),
        };
        let transport = &path.flow.transport;
        let made = self
            .catalogue
            .find::<Transport>(&transport.kind)
            .and_then(|kind| (kind.make)(&transport.params, &init, &self.catalogue));
        let ends = made.map_err(|error| net.fault(owner.name.clone(), &error.to_string()))?;
        hosts.seat(first, ends);
        let connection = Connection::new(entry, flow, !path.datagrams);
        owner.counts.connections += 1;
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot] = Some(connection);
        Ok(slot)
    }

    /// Frees the slots of connections that were over long enough ago.
    fn clear(&mut self, hosts: &mut FlowHosts, now: Time) {
        while let Some((_, slot)) =
            self.lingering.front().copied().filter(|(since, _)| *since + LINGER <= now)
        {
            self.lingering.pop_front();
            hosts.clear(self.first_socket + 2 * slot as usize);
            self.slots[slot as usize] = None;
            self.free.push(slot);
        }
    }

    fn slot(&self, socket: usize) -> Option<&Connection> {
        self.slots.get((socket - self.first_socket) / 2)?.as_ref()
    }

    /// Whether a packet belongs to the connection that has its socket now.
    pub(super) fn admits(&mut self, flow: u32, socket: usize) -> bool {
        let admits = self.slot(socket).is_some_and(|connection| connection.flow == flow);
        self.late_packets += u64::from(!admits);
        admits
    }

    /// A socket of a connection was called: its transfers may be over.
    pub(super) fn after(
        &mut self,
        hosts: &mut FlowHosts,
        net: &mut Network,
        socket: usize,
    ) -> Step {
        let slot = (socket - self.first_socket) / 2;
        let Some(connection) = &mut self.slots[slot] else { return Ok(()) };
        let first = self.first_socket + 2 * slot;
        let done = match connection.acknowledged {
            true => hosts.endpoints[first].acked(),
            false => hosts.endpoints[first + 1].arrived(),
        };
        if done > connection.progress.1 {
            connection.progress = (net.now(), done);
        }
        let (entry, frames) = (connection.entry, connection.frames);
        let mut over = false;
        while let Some(underway) = self.slots[slot].as_mut().and_then(|c| c.next_done(done)) {
            self.end(hosts, net.now(), slot, &underway, End::Finished);
            over = true;
        }
        if over {
            self.arm(net, entry);
            self.serve_waiting(hosts, net, slot)?;
        }
        if frames { self.write_frames(hosts, net, slot) } else { Ok(()) }
    }

    /// A transfer is over.
    fn end(
        &mut self,
        hosts: &mut FlowHosts,
        now: Time,
        slot: usize,
        underway: &Underway,
        end: End,
    ) {
        let row = self.row(hosts, now, slot, underway, end);
        let Some(connection) = &mut self.slots[slot] else { return };
        let counts = &mut self.entries[connection.entry].counts;
        counts.live -= 1;
        match end {
            End::Finished => counts.finished += 1,
            _ => counts.failed += 1,
        }
        let (owner, pooled) = (connection.entry, connection.pool.is_some());
        let empty = connection.underway.is_empty();
        let ended = self.entries[owner].on_end(now, &underway.transfer);
        if empty && (ended || !pooled) {
            self.leave_pool(slot);
            self.close(hosts, now, slot);
        }
        self.rows.push(now, &row);
    }

    /// No other transfer comes on a connection; it lingers.
    fn close(&mut self, hosts: &FlowHosts, now: Time, slot: usize) {
        let Some(connection) = &mut self.slots[slot] else { return };
        if std::mem::replace(&mut connection.over, true) {
            return;
        }
        let counts = &mut self.entries[connection.entry].counts;
        counts.connections -= 1;
        counts.carried_bytes += hosts.endpoints[self.first_socket + 2 * slot + 1].arrived();
        self.lingering.push_back((now, slot as u32));
    }

    /// What a connection has counted so far.
    fn counted(&self, hosts: &mut FlowHosts, now: Time, slot: usize) -> Counted {
        let first = self.first_socket + 2 * slot;
        let mut counters = FlowCounters::default();
        hosts.endpoints[first..first + 2].iter_mut().for_each(|e| e.report(now, &mut counters));
        Counted::from(&counters)
    }

    fn row(
        &self,
        hosts: &mut FlowHosts,
        now: Time,
        slot: usize,
        underway: &Underway,
        end: End,
    ) -> Row {
        let Transfer { variant, group, arrival, size, .. } = underway.transfer;
        Row {
            entry: self.slots[slot].as_ref().map_or(0, |connection| connection.entry),
            variant,
            group,
            arrival,
            start: Some(underway.start),
            completed: (end == End::Finished).then_some(now),
            size,
            ideal: underway.ideal,
            counted: self.counted(hosts, now, slot).since(&underway.before),
            end,
        }
    }

    /// Takes a sample, and checks that no transfer is lost or counted twice.
    pub(super) fn sample(&mut self, hosts: &mut FlowHosts, net: &Network, now: Time) -> Step {
        self.give_up(hosts, now);
        self.close_idle(hosts, now);
        let mut carried = vec![0; self.entries.len()];
        let mut live = vec![0; self.entries.len()];
        for (slot, connection) in self.slots.iter().enumerate() {
            let Some(connection) = connection.as_ref().filter(|connection| !connection.over) else {
                continue;
            };
            live[connection.entry] += connection.underway.len() as u64;
            let receiver = self.first_socket + 2 * slot + 1;
            carried[connection.entry] += hosts.endpoints[receiver].arrived();
        }
        for (index, entry) in self.entries.iter().enumerate() {
            let counts = &entry.counts;
            if counts.live != live[index]
                || counts.arrived != counts.finished + counts.failed + counts.live + counts.waiting
            {
                return Err(net.fault(entry.name.clone(), "conserves transfers"));
            }
            let mut sampled = *counts;
            sampled.carried_bytes += carried[index];
            self.samples.push(now, index, &sampled);
        }
        Ok(())
    }

    /// Transfers of datagrams end that wait for what was lost.
    fn give_up(&mut self, hosts: &mut FlowHosts, now: Time) {
        for slot in 0..self.slots.len() {
            let Some(connection) = &mut self.slots[slot] else { continue };
            if connection.acknowledged || now.since(connection.progress.0) < PATIENCE {
                continue;
            }
            while let Some(underway) =
                self.slots[slot].as_mut().and_then(|connection| connection.underway.pop_front())
            {
                let (_, underway) = underway;
                self.end(hosts, now, slot, &underway, End::Failed);
            }
        }
    }

    /// The rows of all transfers, those under way at `now` included, and the samples.
    pub(super) fn outcome(&mut self, hosts: &mut FlowHosts, now: Time) -> [Table; 2] {
        for slot in 0..self.slots.len() {
            let underway = self.slots[slot].as_ref().map(|c| c.underway.clone());
            for (_, underway) in underway.unwrap_or_default() {
                let row = self.row(hosts, now, slot, &underway, End::Live);
                self.rows.push(now, &row);
            }
        }
        let (rows, samples) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.samples));
        [rows.into_table(), samples.into_table()]
    }
}
