//! Recorder of the packets of one link.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Log, Word};
use crate::packet::{Direction, Ecn, Packet};
use crate::queue::{DropReason, QueueObserver};
use crate::record::capture::LinkEnds;
use crate::units::{Span, Time};

/// Recorder of the packets of a link, as rows and in a capture; clones in other parts of the link share
/// its state.
#[derive(Clone, Debug)]
pub struct Tap {
    rows: Option<Passages>,
    ends: Option<LinkEnds>,
}

/// Rows of the packets of a link.
#[derive(Clone, Debug)]
struct Passages {
    log: Log,
    link: Word,
    waits: Waits,
}

/// How long packets on the link waited, and how many of each there are; packets that did not wait
/// are left out.
type Waits = Arc<Mutex<HashMap<Key, (Span, u32)>>>;

/// Identity of a packet on the link.
type Key = (Time, u32, Direction, u32);

fn key(packet: &Packet) -> Key {
    (packet.enqueued_at, packet.flow, packet.direction(), packet.index)
}

impl Tap {
    /// A recorder of `link` in the rows of a log, at the ends of a capture, or in both; none in neither.
    pub(super) fn new(link: &str, log: Option<&Log>, ends: Option<LinkEnds>) -> Option<Self> {
        let rows = log.map(|log| {
            let word = log.rows().word(link);
            Passages { log: log.clone(), link: word, waits: Arc::default() }
        });
        (rows.is_some() || ends.is_some()).then_some(Tap { rows, ends })
    }

    /// A packet reaches the link.
    pub fn enqueue(&self, now: Time, packet: &Packet) {
        if let Some(rows) = &self.rows {
            rows.add(now, packet, "enqueue", None, None);
        }
        if let Some(ends) = &self.ends {
            ends.near(now, packet);
        }
    }

    /// A packet has left the queue and will be sent.
    pub fn dequeued(&self, now: Time, packet: &Packet) {
        if let Some(rows) = &self.rows {
            rows.dequeued(now, packet);
        }
    }

    /// A copy of a packet has been made, which takes the same path from here on.
    pub fn duplicate(&self, now: Time, packet: &Packet) {
        if let Some(rows) = &self.rows {
            rows.duplicate(now, packet);
        }
    }

    /// A packet is dropped before or in the queue.
    pub fn drop(&self, now: Time, packet: &Packet, reason: &str) {
        if let Some(rows) = &self.rows {
            rows.add(now, packet, "drop", Some(reason), None);
        }
        if let Some(ends) = &self.ends {
            ends.lost(now, packet, reason);
        }
    }

    /// A packet is lost after it has left the queue.
    pub fn lose(&self, now: Time, packet: &Packet, reason: &str) {
        if let Some(rows) = &self.rows {
            rows.wait(packet);
        }
        self.drop(now, packet, reason);
    }

    /// A packet arrives at the far end.
    pub fn deliver(&self, now: Time, packet: &Packet) {
        if let Some(rows) = &self.rows {
            let sojourn = rows.wait(packet);
            rows.add(now, packet, "deliver", None, Some(sojourn));
        }
        if let Some(ends) = &self.ends {
            ends.far(now, packet);
        }
    }
}

impl QueueObserver for Tap {
    fn on_drop(&mut self, now: Time, packet: &Packet, reason: DropReason) {
        self.drop(now, packet, reason.name());
    }

    fn on_mark(&mut self, now: Time, packet: &Packet) {
        if let Some(rows) = &self.rows {
            let mark = if packet.ecn == Ecn::Ce { "ce" } else { "sce" };
            rows.add(now, packet, "mark", Some(mark), None);
        }
    }
}

impl Passages {
    fn dequeued(&self, now: Time, packet: &Packet) {
        let sojourn = now.since(packet.enqueued_at);
        if sojourn > Span::ZERO {
            self.with_waits(|waits| waits.entry(key(packet)).or_insert((sojourn, 0)).1 += 1);
        }
    }

    fn duplicate(&self, now: Time, packet: &Packet) {
        self.with_waits(|waits| {
            waits.entry(key(packet)).and_modify(|wait| wait.1 += 1);
        });
        self.add(now, packet, "enqueue", Some("duplicate"), None);
    }

    /// Queueing time of a packet that leaves the link now.
    fn wait(&self, packet: &Packet) -> Span {
        self.with_waits(|waits| {
            let Some((sojourn, packets)) = waits.get_mut(&key(packet)) else { return Span::ZERO };
            *packets -= 1;
            let (sojourn, last) = (*sojourn, *packets == 0);
            if last {
                waits.remove(&key(packet));
            }
            sojourn
        })
    }

    fn with_waits<R>(&self, act: impl FnOnce(&mut HashMap<Key, (Span, u32)>) -> R) -> R {
        act(&mut self.waits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(
        &self,
        now: Time,
        packet: &Packet,
        event: &str,
        reason: Option<&str>,
        sojourn: Option<Span>,
    ) {
        let mut rows = self.log.rows();
        let event = rows.word(event);
        let reason = reason.map_or(0, |reason| rows.word(reason));
        rows.add_packet(now, [self.link, event, reason], packet, sojourn);
    }
}
