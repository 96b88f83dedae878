//! Opens a connection for each transfer that arrives, at the instants and with the sizes that the
//! simulator draws, and follows it to its end.
//!
//! A connection is over when its receiver, which closes when it has read all, has closed: that comes
//! with the acknowledgment of the last byte, and wakes the users and sessions that wait for it.
//! Senders' ports are chosen here, so that whoever sees the packets knows their transfer from the SYN
//! on; Linux lets a bound port be used again while earlier connections of it linger.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use sojourn_base::units::{Span, Time};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::arrivals::{Entry, Transfer};
use sojourn_sim::spec::Flow;
use sojourn_sim::traffic::Action;

use crate::error::Error;
use crate::news::{Closed, News, Opened};
use crate::outlet::Outlet;
use crate::{sockets, sys};

/// Ports of senders; those that the kernel chooses for declared flows are above them.
const PORTS: RangeInclusive<u16> = 1024..=32_767;
/// `tcpi_min_rtt` of a connection without an RTT.
const NO_RTT: u32 = u32::MAX;

/// Takes what is told of connections.
pub(crate) type Tell<'a> = Box<dyn FnMut(News) -> Result<(), Error> + 'a>;

/// The transfers of a run.
pub(crate) struct Opener<'a> {
    entries: Vec<Entry>,
    /// Of each entry, what the connections of its variants have in common.
    variants: Vec<Vec<Flow<'a>>>,
    carried: Vec<Carried<'a>>,
    ports: Ports,
    tell: Tell<'a>,
}

/// A transfer and its connection.
struct Carried<'a> {
    outlet: Outlet<'a>,
    port: u16,
    entry: usize,
    transfer: Transfer,
}

impl<'a> Opener<'a> {
    /// The transfers of a scenario's entries before the first arrivals; `tell` hears of connections
    /// before their first packets.
    pub(crate) fn new(scenario: &'a Scenario, entries: Vec<Entry>, tell: Tell<'a>) -> Self {
        let mut variants = vec![Vec::new(); entries.len()];
        for flow in scenario.paths().into_iter().filter(|flow| flow.arrives) {
            variants[flow.entry].push(flow);
        }
        Opener { entries, variants, carried: Vec::new(), ports: Ports::default(), tell }
    }

    /// Opens and ends what is due.
    ///
    /// # Errors
    /// If the kernel refuses something unexpectedly, or there are too many connections.
    pub(crate) fn work(&mut self, now: Time) -> Result<(), Error> {
        self.attend(now)?;
        for entry in 0..self.entries.len() {
            while let Some(transfer) = self.entries[entry].arrive(now) {
                self.open(now, entry, transfer)?;
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
        self.carried.iter_mut().map(|carried| &mut carried.outlet)
    }

    /// Writes what sockets accept, and ends what is over.
    fn attend(&mut self, now: Time) -> Result<(), Error> {
        let mut at = 0;
        while let Some(Carried { outlet, .. }) = self.carried.get_mut(at) {
            if outlet.is_writable() {
                outlet.write()?;
            }
            if outlet.is_over() {
                let over = self.carried.swap_remove(at);
                self.end(now, &over)?;
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    fn open(&mut self, now: Time, entry: usize, transfer: Transfer) -> Result<(), Error> {
        let owner = &mut self.entries[entry];
        let Some(port) = self.ports.take() else {
            return Err(too_many(owner, "31,744 connections at once"));
        };
        let Some((number, _)) = owner.number() else {
            return Err(too_many(owner, "16,777,216 connections in all"));
        };
        let ideal = owner.ideal(&transfer, true);
        let flow = self.variants[entry][usize::from(transfer.variant)];
        let socket = sockets::open_at(&flow, port)?;
        let Transfer { variant, group, arrival, size, .. } = transfer;
        (self.tell)(News::Opened(Opened {
            port,
            entry: entry as u16,
            variant,
            flow: number,
            group,
            arrival,
            start: now,
            size,
            ideal,
        }))?;
        let mut outlet = Outlet::watched(flow, socket);
        for action in [Action::Open, Action::Write(size), Action::Close] {
            outlet.act(action)?;
        }
        outlet.write()?;
        self.carried.push(Carried { outlet, port, entry, transfer });
        Ok(())
    }

    fn end(&mut self, now: Time, over: &Carried<'_>) -> Result<(), Error> {
        self.ports.give_back(over.port);
        self.entries[over.entry].on_end(now, &over.transfer);
        let info = sys::tcp_info(over.outlet.ends().0).ok();
        let least = info.map(|info| info.tcpi_min_rtt).filter(|least| *least != NO_RTT);
        (self.tell)(News::Closed(Closed {
            port: over.port,
            timeouts: info.map_or(0, |info| info.tcpi_total_rto),
            min_rtt: Span::from_micros(least.unwrap_or(0).into()),
        }))
    }
}

fn too_many(owner: &Entry, most: &str) -> Error {
    Error::System(format!("{}: a kernel has at most {most}", owner.name))
}

/// Ports of senders, in turn.
#[derive(Debug, Default)]
struct Ports {
    taken: BTreeSet<u16>,
    latest: u16,
}

impl Ports {
    /// The next one that is free.
    fn take(&mut self) -> Option<u16> {
        let (first, last) = (*PORTS.start(), *PORTS.end());
        for _ in PORTS {
            let next = if self.latest < last { self.latest + 1 } else { first };
            self.latest = next.max(first);
            if self.taken.insert(self.latest) {
                return Some(self.latest);
            }
        }
        None
    }

    fn give_back(&mut self, port: u16) {
        self.taken.remove(&port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_taken_in_turn_and_not_twice() {
        let mut ports = Ports::default();
        let number = PORTS.count();
        let first: Vec<u16> = (0..number).filter_map(|_| ports.take()).collect();
        assert_eq!((first[0], first[number - 1], first.len()), (1024, 32_767, 31_744));
        assert_eq!(ports.take(), None);
        ports.give_back(2000);
        ports.give_back(1500);
        assert_eq!([ports.take(), ports.take(), ports.take()], [Some(1500), Some(2000), None]);
    }
}
