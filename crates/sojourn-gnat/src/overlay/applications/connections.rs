//! All connections of a node: which packets are whose, and when each is looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::Event;
use super::connection::{Connection, Fate, RESET, signal};
use super::pipe::Pipe;
use super::shared::{Applications, Asked};
use crate::overlay::message::{Carried, Parcel};
use crate::overlay::numbers::opener;
use sojourn_base::packet::{Direction, Flags, Header};
use sojourn_base::units::{Span, Time};

/// Connections at most.
const MOST: usize = 4_096;

/// The connections of a node.
pub(in crate::overlay) struct Connections {
    shared: Arc<Applications>,
    me: u16,
    /// Weighs utility against queues.
    k: f64,
    /// By flow: when each is looked at, too.
    all: BTreeMap<u32, (Connection, Time)>,
    looks: BTreeSet<(Time, u32)>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} connections", self.all.len())
    }
}

impl Connections {
    /// None yet, of this member.
    pub(in crate::overlay) fn new(shared: Arc<Applications>, me: u16, k: f64) -> Self {
        Connections { shared, me, k, all: BTreeMap::new(), looks: BTreeSet::new() }
    }

    /// Hears what the daemon has done; there are so many members.
    pub(in crate::overlay) fn attend(&mut self, now: Time, members: usize) {
        while let Some(Asked { flow, to, class }) = self.shared.take_asked() {
            if to == self.me || usize::from(to) >= members || self.all.len() >= MOST {
                self.end(flow);
            } else {
                self.add(now, flow, to, class, true);
            }
        }
        for flow in self.shared.take_touched() {
            self.look(flow, now);
        }
    }

    fn add(&mut self, now: Time, flow: u32, peer: u16, class: usize, asks: bool) {
        let service = self.shared.service(class);
        let connection = Connection::new(now, flow, [self.me, peer], asks, service, self.k);
        self.all.insert(flow, (connection, Time::NEVER));
        self.look(flow, now);
    }

    /// A flow is looked at then.
    fn look(&mut self, flow: u32, at: Time) {
        let Some((_, before)) = self.all.get_mut(&flow) else { return };
        self.looks.remove(&(*before, flow));
        *before = at;
        self.looks.insert((at, flow));
    }

    /// When the next is looked at.
    pub(in crate::overlay) fn next(&self) -> Time {
        self.looks.first().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// The next to be pumped now, and the member at its other end.
    pub(in crate::overlay) fn due(&mut self, now: Time) -> Option<(u32, u16)> {
        let (_, flow) = *self.looks.first().filter(|(at, _)| *at <= now)?;
        self.looks.pop_first();
        let (connection, _) = self.all.get(&flow)?;
        Some((flow, connection.peer))
    }

    /// A packet of a connection has come. What is to be sent at once is put into `out`.
    pub(in crate::overlay) fn on_packet(
        &mut self,
        now: Time,
        packet: &Carried,
        out: &mut Vec<Parcel>,
    ) {
        let flow = packet.flow;
        let (Some(opener), from) = (opener(flow), packet.index as u16) else { return };
        let resets = matches!(packet.header, Header::Opaque(opaque) if opaque.payload == RESET);
        let asked = matches!(
            packet.header,
            Header::Segment(segment) if segment.flags.has(Flags::SYN)
        ) && opener == from
            && from != self.me;
        let room = self.all.len() < MOST;
        match self.all.get_mut(&flow) {
            Some((connection, _)) if connection.peer != from => {}
            Some(_) if resets => self.end(flow),
            Some((connection, _)) => {
                let heard = connection.on_packet(now, packet, &self.shared);
                match heard {
                    Ok(()) => self.look(flow, now),
                    Err(_) => self.reset(flow, out),
                }
            }
            None if resets => {}
            None if asked && room => {
                self.shared.inner().pipes.insert(flow, Pipe::default());
                self.add(now, flow, from, 0, false);
                if let Some((connection, _)) = self.all.get_mut(&flow) {
                    // A request has no bytes that could be broken.
                    connection.on_packet(now, packet, &self.shared).unwrap_or_default();
                }
            }
            None => {
                let back = match packet.direction() {
                    Direction::Forward => Direction::Backward,
                    Direction::Backward => Direction::Forward,
                };
                out.push(signal(flow, [self.me, from], back, RESET));
            }
        }
    }

    /// Sends what a connection that is due has to send; `depth` is that of the queue to its other end,
    /// in bits.
    pub(in crate::overlay) fn pump(
        &mut self,
        now: Time,
        flow: u32,
        depth: f64,
        out: &mut Vec<Parcel>,
    ) {
        let Some((connection, at)) = self.all.get_mut(&flow) else { return };
        *at = Time::NEVER;
        match connection.pump(now, depth, &self.shared, out) {
            Fate::Goes(at) => self.look(flow, at.max(now + Span::from_nanos(1))),
            Fate::Over => self.end(flow),
            Fate::Broken => self.reset(flow, out),
        }
    }

    /// A connection is no more, which the other end is told.
    fn reset(&mut self, flow: u32, out: &mut Vec<Parcel>) {
        if let Some((connection, _)) = self.all.get(&flow) {
            out.push(connection.signal(RESET));
        }
        self.end(flow);
    }

    /// A connection is no more: what is unread of one that has ended in order stays, and of another
    /// one nothing, which the daemon is told.
    fn end(&mut self, flow: u32) {
        let over = match self.all.remove(&flow) {
            Some((connection, at)) => {
                self.looks.remove(&(at, flow));
                connection.is_over()
            }
            None => false,
        };
        let mut inner = self.shared.inner();
        let Some(pipe) = inner.pipes.get_mut(&flow) else { return };
        pipe.gone = true;
        let (by_daemon, done) = (pipe.reset, pipe.is_done());
        if over && !by_daemon && !done {
            return;
        }
        inner.pipes.remove(&flow);
        if !over {
            inner.counts.reset += 1;
        }
        drop(inner);
        if !over && !by_daemon {
            self.shared.tell(Event::Reset { flow });
        }
    }
}
