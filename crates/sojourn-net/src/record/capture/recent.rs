//! Packets that were written lately: each passes several interfaces with the same bytes, and finding
//! them takes less time than making them.

use crate::packet::Packet;

/// So many are kept of each direction, in the place that flow and index give them: more than most paths
/// have on their way.
const PLACES: usize = 1 << 9;
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
        Recent { kept: vec![Kept::default(); 2 * PLACES + 1], begun: 1 }
    }
}

impl Recent {
    /// What was kept does not hold any more.
    pub(super) fn begin(&mut self) {
        self.begun += 1;
    }

    /// The bytes of a packet of which `snap` are kept, as they are here or as `write` appends them;
    /// `None` if it could not.
    #[inline]
    pub(super) fn bytes(
        &mut self,
        packet: &Packet,
        snap: usize,
        write: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> Option<&[u8]> {
        let kept = &mut self.kept[place(packet, snap)];
        let is_here =
            kept.begun == self.begun && kept.snap == snap && is_written_as(&kept.packet, packet);
        if !is_here {
            kept.begun = 0;
            kept.bytes.clear();
            if !write(&mut kept.bytes) {
                return None;
            }
            (kept.begun, kept.snap, kept.packet) = (self.begun, snap, *packet);
        }
        Some(&kept.bytes)
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
        return 2 * PLACES;
    }
    let flow = packet.flow.wrapping_mul(0x9e37_79b9) >> 22;
    (packet.index ^ flow) as usize % PLACES + packet.direction() as usize * PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;

    /// Whether a packet is here, which is kept if not.
    fn was_here(recent: &mut Recent, packet: &Packet, snap: usize) -> bool {
        let mut was_here = true;
        let bytes = recent.bytes(packet, snap, |bytes| {
            was_here = false;
            assert!(bytes.is_empty());
            bytes.resize(snap, packet.index as u8);
            true
        });
        assert_eq!(bytes.unwrap(), vec![packet.index as u8; snap]);
        was_here
    }

    #[test]
    fn bytes_are_those_of_the_same_packet_in_the_same_conversation() {
        let packet = Packet { flow: 3, index: 70, size: 1500, ..Packet::default() };
        let others = [
            Packet { index: 71, ..packet },
            Packet { index: 70 + PLACES as u32, ..packet },
            Packet { flow: 4, ..packet },
            Packet { ecn: Ecn::Ce, ..packet },
            Packet { size: 1499, ..packet },
        ];
        for other in others {
            let mut recent = Recent::default();
            assert!(!was_here(&mut recent, &packet, 96));
            assert!(was_here(&mut recent, &packet, 96));
            assert!(!was_here(&mut recent, &other, 96));
        }
        let mut recent = Recent::default();
        assert!(!was_here(&mut recent, &packet, 96));
        assert!(!was_here(&mut recent, &packet, 80));
        recent.begin();
        assert!(!was_here(&mut recent, &packet, 80));
    }

    #[test]
    fn of_long_ones_the_last_is_kept() {
        let mut recent = Recent::default();
        let packet = Packet { size: 1500, ..Packet::default() };
        let next = Packet { index: 1, ..packet };
        assert!(
            [(&packet, 96), (&packet, 200), (&next, 200)].iter().all(|(packet, snap)| !was_here(
                &mut recent,
                packet,
                *snap
            ))
        );
        assert!(was_here(&mut recent, &packet, 96) && was_here(&mut recent, &next, 200));
        assert!(!was_here(&mut recent, &packet, 200));
    }

    #[test]
    fn what_could_not_be_written_is_not_here() {
        let (mut recent, packet) = (Recent::default(), Packet::default());
        assert!(!was_here(&mut recent, &packet, 96));
        let next = Packet { size: 7, ..packet };
        assert_eq!(recent.bytes(&next, 96, |_| false), None);
        assert!(!was_here(&mut recent, &packet, 96));
    }
}
