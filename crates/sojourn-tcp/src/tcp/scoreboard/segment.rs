//! A segment and its state.

use crate::recovery::rate::{Delivered, Snapshot};
use crate::units::Time;

/// State of a segment, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    /// SACKed by the receiver.
    pub(crate) const SACKED: Marks = Marks(1);
    /// Marked lost.
    pub(crate) const LOST: Marks = Marks(1 << 1);
    /// A retransmission of it is in flight.
    pub(crate) const RETRANSMITTED: Marks = Marks(1 << 2);
    /// It was retransmitted at some time: its RTT is ambiguous.
    pub(crate) const EVER_RETRANSMITTED: Marks = Marks(1 << 3);
    /// Its delivery has been counted in a rate sample.
    pub(crate) const RATE_SAMPLED: Marks = Marks(1 << 4);
    /// At its last transmission, the application limited the sending.
    pub(crate) const APP_LIMITED: Marks = Marks(1 << 5);

    /// Whether all of `other` is set.
    #[inline]
    pub(crate) fn has(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether nothing has happened to the segment since it was first sent.
    #[inline]
    pub(super) fn is_fresh(self) -> bool {
        Marks::APP_LIMITED.has(self)
    }

    #[inline]
    pub(super) fn set(&mut self, other: Marks) {
        self.0 |= other.0;
    }

    #[inline]
    pub(super) fn put(&mut self, other: Marks, on: bool) {
        self.0 = self.0 & !other.0 | if on { other.0 } else { 0 };
    }

    #[inline]
    pub(super) fn clear(&mut self, other: Marks) {
        self.0 &= !other.0;
    }
}

/// One outstanding segment: exactly one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Segment {
    /// State at its last transmission.
    pub snapshot: Snapshot,
    /// When the application wrote it.
    pub written_at: Time,
    /// Bytes of payload.
    pub payload: u16,
    /// Its state.
    pub marks: Marks,
    /// Neighbours in the order of transmission. `earlier` of the first one is meaningless, so that
    /// removing it touches no other segment.
    pub(super) earlier: u32,
    pub(super) later: u32,
    /// If SACKed: all segments from this one up to here are SACKed.
    pub(super) run_end: u32,
}

impl Segment {
    /// Input of a rate sample, if its delivery has not been counted in one.
    #[inline]
    pub(crate) fn rate_candidate(&self, seq: u32) -> Option<Delivered> {
        (!self.marks.has(Marks::RATE_SAMPLED)).then(|| Delivered {
            seq,
            snapshot: self.snapshot,
            app_limited: self.marks.has(Marks::APP_LIMITED),
            retransmitted: self.marks.has(Marks::EVER_RETRANSMITTED),
        })
    }
}
