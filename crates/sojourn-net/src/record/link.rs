//! Counters of a link.

use crate::packet::Backlog;
use crate::units::Span;

/// Use of a shared medium by a channel's transmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AirCounters {
    /// Airtime, acknowledgments included.
    pub airtime: Span,
    /// Frames sent, those that collided included.
    pub attempts: u64,
    /// Frames that collided.
    pub collisions: u64,
    /// Frames of which no part was received.
    pub failed: u64,
    /// MPDUs in all frames.
    pub mpdus: u64,
    /// MPDUs that were retransmissions.
    pub retries: u64,
}

/// Cumulative counters and present gauges of a link. Bytes count IP packets unless said otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkCounters {
    /// Packets that reached the link.
    pub offered_packets: u64,
    /// Bytes that reached the link.
    pub offered_bytes: u64,
    /// Packets transmitted.
    pub sent_packets: u64,
    /// Bytes transmitted, with the link's overhead.
    pub sent_bytes: u64,
    /// Packets that arrived at the far end.
    pub arrived_packets: u64,
    /// Bytes that arrived at the far end.
    pub arrived_bytes: u64,
    /// Sum of the times that packets spent in the queue discipline before transmission.
    pub sojourn_sum: Span,
    /// Packets counted in `sojourn_sum`.
    pub sojourn_count: u64,
    /// Integral of the packets waiting in the queue discipline, in packet-seconds.
    pub queue_time: f64,
    /// Packets dropped because the queue was full.
    pub drops_overflow: u64,
    /// Packets dropped by active queue management.
    pub drops_aqm: u64,
    /// Packets dropped by a policer or shaper.
    pub drops_policed: u64,
    /// Bytes of packets dropped for any of these reasons.
    pub dropped_bytes: u64,
    /// Packets lost on leaving the link.
    pub drops_loss: u64,
    /// Bytes lost on leaving the link.
    pub lost_bytes: u64,
    /// Copies that the link made of packets.
    pub duplicated_packets: u64,
    /// Bytes of these copies.
    pub duplicated_bytes: u64,
    /// Acknowledgments removed because a later one tells the same.
    pub thinned_packets: u64,
    /// Bytes of these acknowledgments.
    pub thinned_bytes: u64,
    /// Packets marked CE.
    pub ce_marks: u64,
    /// Packets marked SCE.
    pub sce_marks: u64,
    /// Packets waiting in the queue discipline.
    pub queue_packets: u64,
    /// Use of the shared medium, for a channel of one.
    pub air: Option<AirCounters>,
}

impl LinkCounters {
    /// Whether every packet and byte that came in, or was made as a copy, has gone out, been
    /// dropped for a reason, or is among the `held` ones.
    pub fn is_balanced(&self, held: Backlog) -> bool {
        let drops = self.drops_overflow + self.drops_aqm + self.drops_policed + self.drops_loss;
        let bytes = self.dropped_bytes + self.lost_bytes;
        self.offered_packets + self.duplicated_packets
            == self.arrived_packets + drops + self.thinned_packets + held.packets
            && self.offered_bytes + self.duplicated_bytes
                == self.arrived_bytes + bytes + self.thinned_bytes + held.bytes
    }
}
