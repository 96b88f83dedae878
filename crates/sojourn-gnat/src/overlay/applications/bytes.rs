//! The bytes of a connection by the numbers of segments, which the core's TCP counts.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use sojourn_base::packet::TcpAck;

/// Segments that may be under way: more than a sender's window has.
const MOST_AHEAD: u32 = 4_096;

/// Bytes that this end sends.
#[derive(Debug)]
pub(super) struct Sending {
    /// Admitted, and not yet in a segment.
    uncut: VecDeque<u8>,
    /// Those of segments from this number on, until they are acknowledged.
    first: u32,
    kept: VecDeque<Arc<[u8]>>,
}

impl Sending {
    pub(super) fn new() -> Self {
        Sending { uncut: VecDeque::new(), first: 1, kept: VecDeque::new() }
    }

    /// More are admitted.
    pub(super) fn extend(&mut self, bytes: impl Iterator<Item = u8>) {
        self.uncut.extend(bytes);
    }

    /// The bytes of a segment that is sent; of the next number, they are cut off.
    pub(super) fn segment(&mut self, seq: u32, payload: u16) -> Option<Arc<[u8]>> {
        let place = seq.checked_sub(self.first)? as usize;
        if place == self.kept.len() {
            let most = usize::from(payload).min(self.uncut.len());
            self.kept.push_back(self.uncut.drain(..most).collect());
        }
        self.kept.get(place).cloned()
    }

    /// Whether an acknowledgment is of segments that have been sent.
    pub(super) fn covers(&self, ack: &TcpAck) -> bool {
        let end = self.first + self.kept.len() as u32;
        ack.next <= end && ack.sacks().iter().all(|block| block.end <= end)
    }

    /// Segments before this one have arrived.
    pub(super) fn acked(&mut self, next: u32) {
        while self.first < next && self.kept.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// Whether all has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.uncut.is_empty() && self.kept.is_empty()
    }
}

/// Bytes that come.
#[derive(Debug)]
pub(super) struct Arriving {
    next: u32,
    held: BTreeMap<u32, Arc<[u8]>>,
}

impl Arriving {
    pub(super) fn new() -> Self {
        Arriving { next: 1, held: BTreeMap::new() }
    }

    /// Whether a segment with this number is one that the other end may send now.
    pub(super) fn expects(&self, seq: u32) -> bool {
        seq > 0 && seq < self.next.saturating_add(MOST_AHEAD)
    }

    /// A segment's bytes have come, perhaps again.
    pub(super) fn hold(&mut self, seq: u32, bytes: &Arc<[u8]>) {
        if seq >= self.next {
            self.held.entry(seq).or_insert_with(|| Arc::clone(bytes));
        }
    }

    /// The bytes that are next in order, if they are here.
    pub(super) fn pop(&mut self) -> Option<Arc<[u8]>> {
        let bytes = self.held.remove(&self.next)?;
        self.next += 1;
        Some(bytes)
    }
}
