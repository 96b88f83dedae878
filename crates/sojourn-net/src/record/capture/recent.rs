//! Packets that were written lately: each passes several interfaces with the same bytes, and finding
//! them takes less time than making them.

use crate::packet::Packet;

/// So many are kept, in the place that flow and index give them: a few round trips of most paths.
const PLACES: usize = 1 << 10;
/// Bytes that are kept of one; those with more share the place after all others.
const MOST: usize = 128;

/// A packet that was written.
#[derive(Clone, Debug, Default)]
struct Kept {
    /// How many conversations had begun, since a flow's number may be used again; 0 if nothing is kept.
    begun: u64,
    packet: Packet,
    snap: usize,
    bytes: Vec<u8>,
}

/// The packets that are kept.
#[derive(Debug)]
pub(super) struct Recent {
    kept: Vec<Kept>,
    begun: u64,
}

impl Default for Recent {
    fn default() -> Self {
        Recent { kept: vec![Kept::default(); PLACES + 1], begun: 1 }
    }
}

impl Recent {
    /// What was kept does not hold any more.
    pub(super) fn begin(&mut self) {
        self.begun += 1;
    }

    /// Whether the bytes of a packet of which `snap` are kept are here.
    #[inline]
    pub(super) fn has(&self, packet: &Packet, snap: usize) -> bool {
        let kept = &self.kept[place(packet, snap)];
        kept.begun == self.begun && kept.snap == snap && is_written_as(&kept.packet, packet)
    }

    /// The bytes of a packet that is here.
    #[inline]
    pub(super) fn bytes(&self, packet: &Packet, snap: usize) -> &[u8] {
        &self.kept[place(packet, snap)].bytes
    }

    /// Memory for the bytes of a packet, whose place is empty now.
    #[inline]
    pub(super) fn take(&mut self, packet: &Packet, snap: usize) -> Vec<u8> {
        let kept = &mut self.kept[place(packet, snap)];
        kept.begun = 0;
        kept.bytes.clear();
        std::mem::take(&mut kept.bytes)
    }

    /// A packet was written with these bytes.
    #[inline]
    pub(super) fn keep(&mut self, packet: &Packet, snap: usize, bytes: Vec<u8>) {
        let kept = &mut self.kept[place(packet, snap)];
        *kept = Kept { begun: self.begun, packet: *packet, snap, bytes };
    }
}

/// Whether all is equal that bytes depend on.
#[inline]
fn is_written_as(a: &Packet, b: &Packet) -> bool {
    (a.index, a.flow, a.size, a.way, a.ecn) == (b.index, b.flow, b.size, b.way, b.ecn)
        && a.route == b.route
        && a.tuple == b.tuple
        && a.header == b.header
}

#[inline]
fn place(packet: &Packet, snap: usize) -> usize {
    if snap.min(packet.size as usize) > MOST {
        return PLACES;
    }
    let flow = packet.flow.wrapping_mul(0x9e37_79b9) >> 22;
    (packet.index ^ flow ^ (packet.direction() as u32) << 9) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;

    fn keep(recent: &mut Recent, packet: &Packet, snap: usize) {
        let mut bytes = recent.take(packet, snap);
        assert!(bytes.is_empty() && !recent.has(packet, snap));
        bytes.resize(snap, 7);
        recent.keep(packet, snap, bytes);
    }

    #[test]
    fn bytes_are_those_of_the_same_packet_in_the_same_conversation() {
        let mut recent = Recent::default();
        let packet = Packet { flow: 3, index: 70, size: 1500, ..Packet::default() };
        assert!(!recent.has(&packet, 96));
        keep(&mut recent, &packet, 96);
        assert!(recent.has(&packet, 96));
        assert_eq!(recent.bytes(&packet, 96), [7; 96]);
        let others = [
            Packet { index: 71, ..packet },
            Packet { index: 70 + PLACES as u32, ..packet },
            Packet { flow: 4, ..packet },
            Packet { ecn: Ecn::Ce, ..packet },
            Packet { size: 1499, ..packet },
        ];
        assert!(others.iter().all(|other| !recent.has(other, 96)));
        assert!(!recent.has(&packet, 80));
        recent.begin();
        assert!(!recent.has(&packet, 96));
    }

    #[test]
    fn of_long_ones_the_last_is_kept() {
        let mut recent = Recent::default();
        let packet = Packet { size: 1500, ..Packet::default() };
        keep(&mut recent, &packet, 96);
        keep(&mut recent, &packet, 200);
        assert_eq!(recent.bytes(&packet, 200), [7; 200]);
        let next = Packet { index: 1, ..packet };
        keep(&mut recent, &next, 300);
        assert!(recent.has(&packet, 96) && recent.has(&next, 300) && !recent.has(&packet, 200));
    }
}
