//! What the daemon and the node have in common.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pipe::Pipe;
use super::{ApplicationCounts, DatagramKey, Event, Opening, To, records};
use crate::ServiceSpec;
use crate::overlay::numbers::{FIRST_APPLICATION, SERIALS};

/// Datagrams that wait for the node, and events that wait for the daemon, beyond which datagrams are
/// refused.
const MOST_WAITING: usize = 16_384;

/// A datagram on its way from an application.
#[derive(Debug)]
pub(in crate::overlay) struct Outgoing {
    pub key: DatagramKey,
    pub to: To,
    pub class: usize,
    pub bytes: Box<[u8]>,
}

/// A connection that is to be opened.
#[derive(Debug)]
pub(super) struct Asked {
    pub flow: u32,
    pub to: u16,
    pub class: usize,
}

#[derive(Debug, Default)]
pub(super) struct Inner {
    serial: u32,
    pub pipes: BTreeMap<u32, Pipe>,
    asked: VecDeque<Asked>,
    datagrams: VecDeque<Outgoing>,
    /// Flows for which the node has something to do.
    touched: BTreeSet<u32>,
    pub events: VecDeque<Event>,
    pub counts: ApplicationCounts,
}

/// What a node exchanges with applications. In the simulator there is none.
#[derive(Debug)]
pub struct Applications {
    /// By class.
    services: Vec<ServiceSpec>,
    member: u16,
    inner: Mutex<Inner>,
}

impl Applications {
    /// For the node at a place among the members, with these services by class, of which the first is
    /// the default. Connections are numbered from `random` on: a node that is started again must not
    /// use the numbers that others remember of it.
    pub fn new(services: Vec<ServiceSpec>, member: u16, random: u32) -> Self {
        let serial = random % SERIALS;
        Applications { services, member, inner: Mutex::new(Inner { serial, ..Inner::default() }) }
    }

    /// An application sends a whole IP packet.
    pub fn datagram(&self, key: DatagramKey, to: To, class: usize, bytes: Box<[u8]>) {
        let mut inner = self.inner();
        inner.counts.datagrams_in += 1;
        if inner.datagrams.len() < MOST_WAITING {
            inner.datagrams.push_back(Outgoing { key, to, class, bytes });
        } else {
            inner.counts.datagrams_refused += 1;
        }
    }

    /// Opens a connection to a member; returns the number of its flow. What is written may be so at
    /// once.
    pub fn open(&self, to: u16, class: usize, opening: &Opening) -> u32 {
        let mut inner = self.inner();
        let flow = loop {
            inner.serial = inner.serial % (SERIALS - 1) + 1;
            let flow = FIRST_APPLICATION + u32::from(self.member) * SERIALS + inner.serial;
            if !inner.pipes.contains_key(&flow) {
                break flow;
            }
        };
        let mut pipe = Pipe::default();
        pipe.out.extend(records::opening(opening, class.try_into().unwrap_or(0)));
        inner.pipes.insert(flow, pipe);
        inner.asked.push_back(Asked { flow, to, class });
        inner.counts.opened += 1;
        flow
    }

    /// Writes as many bytes as a connection's buffer takes; returns how many.
    pub fn write(&self, flow: u32, bytes: &[u8]) -> usize {
        let written = self.change(flow, |pipe| pipe.write(bytes)).unwrap_or(0);
        self.inner().counts.bytes_in += written as u64;
        written
    }

    /// Nothing more is written to a connection.
    pub fn finish(&self, flow: u32) {
        self.change(flow, Pipe::finish);
    }

    /// Ends a connection at once; the other end is told so.
    pub fn reset(&self, flow: u32) {
        let gone = self.change(flow, |pipe| {
            pipe.reset = true;
            pipe.gone
        });
        // The node has ended it before; what was still to be read is not.
        if gone == Some(true) {
            self.inner().pipes.remove(&flow);
        }
    }

    /// The next thing that the daemon is told.
    pub fn next(&self) -> Option<Event> {
        self.inner().events.pop_front()
    }

    /// Reads what has come over a connection; returns how many bytes.
    pub fn read(&self, flow: u32, out: &mut [u8]) -> usize {
        let mut inner = self.inner();
        let Some(pipe) = inner.pipes.get_mut(&flow) else { return 0 };
        let (read, ends) = (pipe.read(out), pipe.tells_end());
        let over = pipe.gone && pipe.is_done();
        inner.counts.bytes_out += read as u64;
        if ends {
            inner.events.push_back(Event::Finished { flow });
        }
        if over {
            inner.pipes.remove(&flow);
        } else if read > 0 {
            inner.touched.insert(flow);
        }
        read
    }

    /// Whether the node has something to do.
    pub fn waits(&self) -> bool {
        let inner = self.inner();
        !(inner.asked.is_empty() && inner.datagrams.is_empty() && inner.touched.is_empty())
    }

    /// What has passed.
    pub fn counts(&self) -> ApplicationCounts {
        let inner = self.inner();
        ApplicationCounts { open: inner.pipes.len() as u64, ..inner.counts }
    }

    /// The services by class.
    pub(in crate::overlay) fn services(&self) -> &[ServiceSpec] {
        &self.services
    }

    /// The service of a class; of an unknown one, that of the first.
    pub(super) fn service(&self, class: usize) -> ServiceSpec {
        self.services.get(class).or(self.services.first()).cloned().unwrap_or_default()
    }

    /// The next datagram from an application.
    pub(in crate::overlay) fn take_datagram(&self) -> Option<Outgoing> {
        self.inner().datagrams.pop_front()
    }

    /// A datagram from an application has no way.
    pub(in crate::overlay) fn refuse(&self) {
        self.inner().counts.datagrams_refused += 1;
    }

    /// An IP packet has come for an application.
    pub(in crate::overlay) fn deliver(&self, bytes: &[u8]) {
        let mut inner = self.inner();
        if inner.events.len() < MOST_WAITING {
            inner.counts.datagrams_out += 1;
            inner.events.push_back(Event::Datagram(bytes.into()));
        } else {
            inner.counts.datagrams_refused += 1;
        }
    }

    /// The next connection that is to be opened.
    pub(super) fn take_asked(&self) -> Option<Asked> {
        self.inner().asked.pop_front()
    }

    /// Flows for which there is something to do.
    pub(super) fn take_touched(&self) -> BTreeSet<u32> {
        std::mem::take(&mut self.inner().touched)
    }

    /// Tells the daemon.
    pub(super) fn tell(&self, event: Event) {
        self.inner().events.push_back(event);
    }

    fn change<T>(&self, flow: u32, change: impl FnOnce(&mut Pipe) -> T) -> Option<T> {
        let mut inner = self.inner();
        let changed = change(inner.pipes.get_mut(&flow)?);
        inner.touched.insert(flow);
        Some(changed)
    }

    /// What may be changed.
    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
