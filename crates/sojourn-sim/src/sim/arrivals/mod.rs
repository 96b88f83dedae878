//! Connections that come and go: who opens them, what they carry, when they are over.
//!
//! | part | file |
//! | --- | --- |
//! | an entry of the scenario: what arrives when | `entry` |
//! | what connections of one kind have in common | `path` |
//! | a connection and its transfers | `connection` |
//! | their sockets | `opening` |
//! | persistent connections | `pool` |
//! | requests, and servers that work on them | `request` |
//! | rows of transfers, counts over time | `rows`, `telling` |
//!
//! A connection has two sockets behind those of the declared flows. They are used again a second
//! after its last transfer is over; a packet that comes later finds them closed. Its flow number is
//! its own, so that no link, queue or record takes it for another one. Its ends are let go as soon as
//! nothing can happen to them any more: mostly at once, so that memory is that of live connections.
//!
//! Real hosts open theirs for the same arrivals ([`entries`]), choose among them in the same way
//! ([`Pools`]), and tell of them in the same tables.

mod build;
mod connection;
mod entry;
mod opening;
mod path;
mod pool;
mod request;
mod rows;
mod telling;
#[cfg(test)]
mod tests;

pub use build::entries;
pub use connection::{Connection, Key, Transfer, Underway};
pub use entry::Entry;
pub use pool::{AHEAD, Choice, Pools};
pub use rows::{Counted, End, EntryCounters, EntrySamples, Row, TransferRows};

pub(super) use build::Place;

use std::collections::VecDeque;
use std::sync::Arc;

use super::sockets::Sockets;
use super::timer::Timer;
use crate::net::{Network, Step, Wake};
use crate::record::capture::Capture;
use crate::registry::Catalogue;
use crate::tcp::HostMemory;
use crate::traffic::Action;
use crate::units::{Span, Time};

/// A connection's ends answer late packets for so long after its last transfer.
const LINGER: Span = Span::from_secs(1);
/// A transfer of datagrams that makes no progress for so long has failed.
pub const PATIENCE: Span = Span::from_secs(60);

/// Opens connections and follows them.
pub(super) struct Driver {
    entries: Vec<Entry>,
    /// By slot: two sockets each, from the first one that is not of a declared flow.
    slots: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    /// Since when connections are over, their slots and flow numbers.
    lingering: VecDeque<(Time, u32, u32)>,
    first_socket: usize,
    catalogue: Arc<Catalogue>,
    memory: Option<HostMemory>,
    /// The capture that their packets are in, if there is one.
    capture: Option<Capture>,
    copied: bool,
    /// End of the run, up to which a transfer that never ends grows old.
    end: Time,
    rows: TransferRows,
    samples: EntrySamples,
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
        hosts: &mut dyn Sockets,
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
            hosts.count_step(net, timer)?;
        }
        while let Some((slot, number)) = self.entries[entry].respond(net.now()) {
            self.respond(hosts, net, slot, number)?;
            hosts.count_step(net, timer)?;
        }
        self.arm(net, entry);
        Ok(())
    }

    /// A transfer gets a connection.
    fn carry(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        entry: usize,
        transfer: Transfer,
    ) -> Step {
        if self.entries[entry].is_pooled() {
            return self.carry_in_pool(hosts, net, entry, transfer);
        }
        let slot = self.open(hosts, net, entry, transfer.variant)?;
        self.send(hosts, net, slot, transfer, true)?;
        self.write_no_more(hosts, net, self.opener(slot, &transfer))
    }

    /// The application at a socket closes the connection.
    fn write_no_more(&mut self, hosts: &mut dyn Sockets, net: &mut Network, socket: usize) -> Step {
        hosts.act(net.now(), socket, Action::Close);
        hosts.pump(net, socket)
    }

    /// The socket that opens a connection for a transfer: whoever asks for it, or else sends it.
    fn opener(&self, slot: usize, transfer: &Transfer) -> usize {
        self.first_socket + 2 * slot + usize::from(transfer.request.is_some())
    }

    /// A connection carries a transfer; a `new` one is opened for it.
    fn send(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        slot: usize,
        transfer: Transfer,
        new: bool,
    ) -> Step {
        let (now, opener) = (net.now(), self.opener(slot, &transfer));
        let before = if new { Counted::default() } else { self.counted(hosts, now, slot) };
        let connection = self.slots[slot].as_mut().expect("it is open");
        let owner = &mut self.entries[connection.entry];
        owner.counts.live += 1;
        let ideal = owner.ideal(&transfer, new);
        let underway = Underway { transfer, start: now, ends: u64::MAX, ideal, before };
        let number = connection.carry(underway);
        connection.progress.0 = now;
        if new {
            hosts.act(now, opener, Action::Open);
            hosts.pump(net, opener)?;
        }
        let Some(request) = transfer.request else {
            return self.write(hosts, net, slot, number);
        };
        hosts.act(now, opener, Action::Write(request));
        hosts.pump(net, opener)
    }

    /// The data of a transfer is written: at once, or in frames that take turns with those of others.
    fn write(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        slot: usize,
        number: u64,
    ) -> Step {
        let sender = self.first_socket + 2 * slot;
        let connection = self.slots[slot].as_mut().expect("it carries a transfer");
        let Some(bytes) = connection.begin(number) else {
            return self.write_frames(hosts, net, slot);
        };
        hosts.act(net.now(), sender, Action::Write(bytes));
        hosts.pump(net, sender)
    }

    /// Whether a packet belongs to the connection that has its socket now.
    pub(super) fn admits(&self, flow: u32, socket: usize) -> bool {
        let slot = self.slots.get((socket - self.first_socket) / 2).and_then(Option::as_deref);
        slot.is_some_and(|connection| connection.flow == flow)
    }

    /// A socket of a connection was called: its transfers may be over.
    pub(super) fn after(
        &mut self,
        hosts: &mut dyn Sockets,
        net: &mut Network,
        socket: usize,
    ) -> Step {
        let slot = (socket - self.first_socket) / 2;
        let Some(connection) = &mut self.slots[slot] else { return Ok(()) };
        if connection.over {
            self.let_go(hosts, slot);
            return Ok(());
        }
        let first = self.first_socket + 2 * slot;
        if connection.acknowledged && !connection.frames && socket != first {
            // What comes to the receiver changes nothing that its sender's end knows.
            return Ok(());
        }
        let done = match connection.acknowledged {
            true => hosts.end(first).acked(),
            false => hosts.end(first + 1).arrived(),
        };
        connection.advance(net.now(), done);
        let (entry, frames) = (connection.entry, connection.frames);
        self.receive_requests(hosts, net, slot);
        let mut over = false;
        while let Some((_, underway)) = self.slots[slot].as_mut().and_then(|c| c.next_done(done)) {
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
        hosts: &mut dyn Sockets,
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
            self.close(hosts, now, slot);
        }
        self.rows.push(self.end, &row);
    }

    /// No other transfer comes on a connection; it lingers.
    fn close(&mut self, hosts: &mut dyn Sockets, now: Time, slot: usize) {
        self.leave_pool(slot);
        let Some(connection) = &mut self.slots[slot] else { return };
        if std::mem::replace(&mut connection.over, true) {
            return;
        }
        let counts = &mut self.entries[connection.entry].counts;
        counts.connections -= 1;
        counts.carried_bytes += hosts.end(self.first_socket + 2 * slot + 1).arrived();
        self.lingering.push_back((now, slot as u32, connection.flow));
        self.let_go(hosts, slot);
    }
}
