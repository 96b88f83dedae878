//! Opens connections for the transfers that arrive, at the instants and with the sizes that the
//! simulator draws, and follows them to their ends.
//!
//! What it does is what the simulated driver does (`sojourn_sim::sim::arrivals`), on real sockets: both
//! choose connections of pools by the same rules, and take turns in the same frames. Senders' ports are
//! chosen here, so that whoever sees the packets knows their connection from the SYN on; Linux lets a
//! bound port be used again while earlier connections of it linger.

use std::collections::BTreeMap;
use std::mem;

use sojourn_base::units::Time;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::arrivals::{Choice, Connection, Counted, Entry, Transfer, Underway};
use sojourn_sim::spec::Flow;

use crate::error::Error;
use crate::line::Line;
use crate::namespace::Namespaces;
use crate::news::{News, Tell, Waits};
use crate::outlet::Outlet;
use crate::ports::Ports;
use crate::sockets;

/// The transfers of a run.
pub(crate) struct Opener<'a> {
    entries: Vec<Entry>,
    /// Of each entry, what the connections of its variants have in common.
    variants: Vec<Vec<Flow<'a>>>,
    /// Connections, by number: how many had been opened before.
    lines: BTreeMap<usize, Line<'a>>,
    opened: usize,
    ports: Ports,
    namespaces: &'a Namespaces,
    tell: Tell<'a>,
}

impl<'a> Opener<'a> {
    /// The transfers of a scenario's entries before the first arrivals, for a thread in the senders'
    /// namespace; `tell` hears of connections before their first packets.
    pub(crate) fn new(
        scenario: &'a Scenario,
        entries: Vec<Entry>,
        namespaces: &'a Namespaces,
        tell: Tell<'a>,
    ) -> Self {
        let mut variants = vec![Vec::new(); entries.len()];
        for flow in scenario.paths().into_iter().filter(|flow| flow.arrives) {
            variants[flow.entry].push(flow);
        }
        let (lines, opened, ports) = (BTreeMap::new(), 0, Ports::default());
        Opener { entries, variants, lines, opened, ports, namespaces, tell }
    }

    /// Opens, carries on and ends what is due.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly, or there are too many connections.
    pub(crate) fn work(&mut self, now: Time) -> Result<(), Error> {
        let called = self.lines.iter().filter(|(_, line)| line.is_called());
        let called: Vec<usize> = called.map(|(number, _)| *number).collect();
        called.into_iter().try_for_each(|number| self.attend(now, number))?;
        self.close_idle(now)?;
        for entry in 0..self.entries.len() {
            while let Some(transfer) = self.entries[entry].arrive(now) {
                self.carry(now, entry, transfer, false)?;
            }
            while let Some((number, transfer)) = self.entries[entry].respond(now) {
                // Unless the connection has broken since.
                if let Some(line) = self.lines.get_mut(&number) {
                    line.write(transfer, &mut self.tell)?;
                }
            }
        }
        Ok(())
    }

    /// Latest time at which it must be called.
    pub(crate) fn wakeup(&self) -> Time {
        self.entries.iter().filter_map(Entry::next).fold(Time::NEVER, Time::min)
    }

    /// The ends of its connections.
    pub(crate) fn outlets(&mut self) -> impl Iterator<Item = &mut Outlet<'a>> {
        self.lines.values_mut().flat_map(|line| line.outlets())
    }

    /// A transfer, which `waited` before, takes a connection, or waits for one.
    fn carry(
        &mut self,
        now: Time,
        entry: usize,
        transfer: Transfer,
        waited: bool,
    ) -> Result<(), Error> {
        let (owner, lines) = (&mut self.entries[entry], &self.lines);
        let find = |number: usize| lines.get(&number).map(|line| &line.carries);
        let choice = match owner.is_pooled() {
            true => owner.pools.choose(now, &transfer, find),
            false => Choice::Open,
        };
        match choice {
            Choice::Use(number) => self.send(now, number, transfer, waited),
            Choice::Open => {
                let number = self.open(entry, &transfer)?;
                self.send(now, number, transfer, waited)
            }
            Choice::Wait => {
                let ideal = owner.ideal(&transfer, false);
                owner.pools.put_off(transfer);
                if waited {
                    return Ok(());
                }
                let Transfer { variant, group, arrival, size, .. } = transfer;
                let entry = entry as u16;
                (self.tell)(News::Waits(Waits { entry, variant, group, arrival, size, ideal }))
            }
        }
    }

    /// Makes the sockets of a connection for a transfer; returns its number.
    fn open(&mut self, entry: usize, transfer: &Transfer) -> Result<usize, Error> {
        let owner = &mut self.entries[entry];
        let Some(port) = self.ports.take() else {
            return Err(too_many(owner, "31,744 connections at once"));
        };
        let Some((flow, _)) = owner.number() else {
            return Err(too_many(owner, "16,777,216 connections in all"));
        };
        let number = self.opened;
        self.opened += 1;
        let path = self.variants[entry][usize::from(transfer.variant)];
        let mut carries = Connection::new(entry, flow, sockets::is_tcp(&path));
        if owner.is_pooled() {
            owner.pools.join(transfer, number, &mut carries);
        }
        let line = Line::new(path, port, carries, owner.asks());
        self.lines.insert(number, line.map_err(|error| error.of(&owner.name))?);
        Ok(number)
    }

    /// A connection carries a transfer; a new one is opened for it.
    fn send(
        &mut self,
        now: Time,
        number: usize,
        transfer: Transfer,
        waited: bool,
    ) -> Result<(), Error> {
        let Some(line) = self.lines.get_mut(&number) else { return Ok(()) };
        let new = line.carries.is_new();
        let ideal = self.entries[line.carries.entry].ideal(&transfer, new);
        let (ends, before) = (u64::MAX, Counted::default());
        let begun = line.take(Underway { transfer, start: now, ends, ideal, before }, waited);
        (self.tell)(News::Begun(begun))?;
        if new {
            let opened = line.open(self.namespaces);
            let owner = &self.entries[line.carries.entry];
            opened.map_err(|error| error.of(&owner.name))?;
        }
        match transfer.request {
            Some(request) => line.ask(request)?,
            None => line.write(begun.number.into(), &mut self.tell)?,
        }
        if line.is_sent() { self.finish(now, number) } else { Ok(()) }
    }

    /// Does what has become possible on a connection.
    fn attend(&mut self, now: Time, number: usize) -> Result<(), Error> {
        let Some(line) = self.lines.get_mut(&number) else { return Ok(()) };
        let acked = line.attend()?;
        let owner = &mut self.entries[line.carries.entry];
        while let Some((transfer, server_time)) = line.next_asked() {
            owner.work(now + server_time, number, transfer);
        }
        if let Some(acked) = acked {
            line.carries.advance(now, acked);
            self.end_done(now, number, acked)?;
        }
        let Some(line) = self.lines.get_mut(&number) else { return Ok(()) };
        line.write_frames(&mut self.tell)?;
        if line.is_over() { self.finish(now, number) } else { Ok(()) }
    }

    /// Ends the transfers of a persistent connection that have been acknowledged.
    fn end_done(&mut self, now: Time, number: usize, acked: u64) -> Result<(), Error> {
        while let Some(line) = self.lines.get_mut(&number)
            && let Some((transfer, underway)) = line.carries.next_done(acked)
        {
            let ended = line.ended(transfer, &underway);
            (self.tell)(News::Ended(ended))?;
            self.end(now, number, &underway)?;
        }
        // One that is found dead ends next: what waits then takes another.
        let lives = |line: &&Line<'_>| !line.carries.over && !line.is_over();
        let Some(line) = self.lines.get(&number).filter(lives) else { return Ok(()) };
        let next = self.entries[line.carries.entry].pools.next_waiting(&line.carries);
        next.map_or(Ok(()), |next| self.send(now, number, next, true))
    }

    /// A transfer of a persistent connection is over. That of a session is closed with the session.
    fn end(&mut self, now: Time, number: usize, underway: &Underway) -> Result<(), Error> {
        let Some(line) = self.lines.get(&number) else { return Ok(()) };
        let empty = line.carries.underway.is_empty();
        let over = self.entries[line.carries.entry].on_end(now, &underway.transfer);
        if over && empty { self.close(number) } else { Ok(()) }
    }

    /// Closes persistent connections that have been idle for long.
    fn close_idle(&mut self, now: Time) -> Result<(), Error> {
        if !self.entries.iter().any(Entry::is_pooled) {
            return Ok(());
        }
        let is_idle =
            |line: &Line<'_>| self.entries[line.carries.entry].pools.is_idle(now, &line.carries);
        let idle = self.lines.iter().filter(|(_, line)| is_idle(line));
        let idle: Vec<usize> = idle.map(|(number, _)| *number).collect();
        idle.into_iter().try_for_each(|number| self.close(number))
    }

    /// A persistent connection carries no more.
    fn close(&mut self, number: usize) -> Result<(), Error> {
        let Some(line) = self.lines.get_mut(&number) else { return Ok(()) };
        if mem::replace(&mut line.carries.over, true) {
            return Ok(());
        }
        self.entries[line.carries.entry].pools.leave(number, &line.carries);
        (self.tell)(News::Closed(line.closed()))?;
        line.close()
    }

    /// Both ends of a connection have closed it, or it is broken: then what waits for it takes another. Of
    /// datagrams all are sent.
    fn finish(&mut self, now: Time, number: usize) -> Result<(), Error> {
        let Some(mut line) = self.lines.remove(&number) else { return Ok(()) };
        self.ports.give_back(line.port);
        if line.carries.over || !line.carries.acknowledged {
            return Ok(());
        }
        let entry = line.carries.entry;
        let owner = &mut self.entries[entry];
        for (transfer, underway) in mem::take(&mut line.carries.underway) {
            if line.carries.pool.is_some() {
                (self.tell)(News::Ended(line.ended(transfer, &underway)))?;
            }
            owner.on_end(now, &underway.transfer);
        }
        owner.pools.leave(number, &line.carries);
        (self.tell)(News::Closed(line.closed()))?;
        let next = self.entries[entry].pools.next_waiting(&line.carries);
        next.map_or(Ok(()), |next| self.carry(now, entry, next, true))
    }
}

fn too_many(owner: &Entry, most: &str) -> Error {
    Error::System(format!("{}: a kernel has at most {most}", owner.name))
}
