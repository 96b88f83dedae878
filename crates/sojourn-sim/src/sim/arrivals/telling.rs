//! What is told of transfers and entries: rows, samples.

use super::connection::{Transfer, Underway};
use super::rows::{Counted, End, Row};
use super::{Driver, PATIENCE};
use crate::net::{Network, Step};
use crate::record::{FlowCounters, Table};
use crate::sim::sockets::Sockets;
use crate::units::Time;

impl Driver {
    /// What a connection has counted so far.
    pub(super) fn counted(&self, hosts: &mut dyn Sockets, now: Time, slot: usize) -> Counted {
        let first = self.first_socket + 2 * slot;
        let mut counters = FlowCounters::default();
        (first..first + 2).for_each(|socket| hosts.end(socket).report(now, &mut counters));
        Counted::from(&counters)
    }

    pub(super) fn row(
        &self,
        hosts: &mut dyn Sockets,
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

    /// The row of a transfer that has no connection yet.
    fn waiting(&self, entry: usize, transfer: &Transfer) -> Row {
        let Transfer { variant, group, arrival, size, .. } = *transfer;
        let ideal = self.entries[entry].ideal(transfer, false);
        let (start, completed, counted) = (None, None, Counted::default());
        let end = End::Live;
        Row { entry, variant, group, arrival, start, completed, size, ideal, counted, end }
    }

    /// Takes a sample, and checks that no transfer is lost or counted twice.
    pub(in crate::sim) fn sample(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &Network,
        now: Time,
    ) -> Step {
        self.give_up(hosts, now);
        self.close_idle(hosts, now);
        let mut carried = vec![0; self.entries.len()];
        let mut live = vec![0; self.entries.len()];
        for (slot, connection) in self.slots.iter().enumerate() {
            let Some(connection) = connection.as_deref().filter(|connection| !connection.over)
            else {
                continue;
            };
            live[connection.entry] += connection.underway.len() as u64;
            let receiver = self.first_socket + 2 * slot + 1;
            carried[connection.entry] += hosts.end(receiver).arrived();
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
    fn give_up(&mut self, hosts: &mut dyn Sockets, now: Time) {
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
    pub(in crate::sim) fn outcome(&mut self, hosts: &mut dyn Sockets, now: Time) -> [Table; 2] {
        for slot in 0..self.slots.len() {
            let underway = self.slots[slot].as_deref().map(|c| c.underway.clone());
            for (_, underway) in underway.unwrap_or_default() {
                let row = self.row(hosts, now, slot, &underway, End::Live);
                self.rows.push(now, &row);
            }
        }
        for index in 0..self.entries.len() {
            for transfer in self.entries[index].pools.waiting() {
                self.rows.push(now, &self.waiting(index, &transfer));
            }
        }
        let (rows, samples) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.samples));
        [rows.into_table(), samples.into_table()]
    }
}
