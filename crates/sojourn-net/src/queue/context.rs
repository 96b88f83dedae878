//! Context of a discipline's calls: counts its drops and marks and passes them to an observer.

use crate::packet::{Ecn, Packet};
use crate::units::Time;

/// Why a packet was dropped by a queue or a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// The queue was full.
    Overflow,
    /// A control law of active queue management signalled congestion.
    Aqm,
    /// A policer or shaper had no tokens.
    Policed,
    /// A node had no next hop for it.
    NoRoute,
}

impl DropReason {
    /// Number of reasons, for tables indexed by them.
    pub const COUNT: usize = 4;

    /// Name of the reason in records.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Overflow => "overflow",
            DropReason::Aqm => "aqm",
            DropReason::Policed => "policed",
            DropReason::NoRoute => "no_route",
        }
    }
}

/// Counters of a discipline's drops and marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// Packets dropped, by [`DropReason`].
    pub drops: [u64; DropReason::COUNT],
    /// Bytes of the dropped packets.
    pub dropped_bytes: u64,
    /// Packets marked CE.
    pub ce_marks: u64,
    /// Packets marked SCE.
    pub sce_marks: u64,
}

/// Observes each packet that a queue drops or marks; the link's recorders implement it.
pub trait QueueObserver {
    /// A packet was dropped.
    fn on_drop(&mut self, now: Time, packet: &Packet, reason: DropReason);
    /// A packet was marked; its ECN field tells which mark.
    fn on_mark(&mut self, now: Time, packet: &Packet);
}

/// Interface by which a discipline drops and marks; there is no other. Counts each and notifies the
/// observer, if any.
pub struct QueueContext<'a> {
    /// Totals so far.
    pub counters: &'a mut QueueCounters,
    /// Observer of each drop and mark.
    pub observer: Option<&'a mut dyn QueueObserver>,
}

impl<'a> QueueContext<'a> {
    /// Counts, and nobody watches.
    pub fn new(counters: &'a mut QueueCounters) -> Self {
        QueueContext { counters, observer: None }
    }
}

impl QueueContext<'_> {
    /// Drops `packet` for `reason`.
    pub fn drop(&mut self, now: Time, packet: Packet, reason: DropReason) {
        self.counters.drops[reason as usize] += 1;
        self.counters.dropped_bytes += u64::from(packet.size);
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.on_drop(now, &packet, reason);
        }
    }

    /// Marks `packet` CE if it is ECN-capable; returns whether it now carries CE.
    #[must_use]
    pub fn mark_ce(&mut self, now: Time, packet: &mut Packet) -> bool {
        if !packet.ecn.is_capable() {
            return false;
        }
        if packet.ecn != Ecn::Ce {
            packet.ecn = Ecn::Ce;
            self.counters.ce_marks += 1;
            self.tell_mark(now, packet);
        }
        true
    }

    /// Marks `packet` "some congestion experienced": ECT(0) becomes ECT(1), others stay.
    pub fn mark_sce(&mut self, now: Time, packet: &mut Packet) {
        if packet.ecn == Ecn::Ect0 {
            packet.ecn = Ecn::Ect1;
            self.counters.sce_marks += 1;
            self.tell_mark(now, packet);
        }
    }

    fn tell_mark(&mut self, now: Time, packet: &Packet) {
        if let Some(observer) = self.observer.as_deref_mut() {
            observer.on_mark(now, packet);
        }
    }
}
