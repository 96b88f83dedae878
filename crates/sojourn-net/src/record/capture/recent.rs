//! Packets that were written lately: each passes several interfaces with the same bytes, and finding
//! them takes less time than making them.

use crate::packet::{Ecn, FiveTuple, Header, Packet, Route, Way};

/// So many are kept, in the place that flow and index give them: a few round trips of most paths.
const PLACES: usize = 1 << 10;
/// Bytes that are kept of one; what is longer is made each time.
const MOST: usize = 128;

/// All that a packet's bytes depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Key {
    /// How many conversations had begun: a flow's number may be used again.
    begun: u64,
    flow: u32,
    index: u32,
    size: u32,
    snap: usize,
    route: Route,
    tuple: FiveTuple,
    way: Way,
    ecn: Ecn,
    header: Header,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    key: Key,
    length: usize,
    bytes: [u8; MOST],
}

/// The packets that are kept.
#[derive(Debug, Default)]
pub(super) struct Recent {
    kept: Vec<Kept>,
    begun: u64,
}

impl Recent {
    /// What was kept does not hold any more.
    pub(super) fn begin(&mut self) {
        self.begun += 1;
    }

    /// The bytes of a packet of which `snap` are kept, if it was written lately.
    #[inline]
    pub(super) fn find(&self, packet: &Packet, snap: usize) -> Option<&[u8]> {
        let kept = self.kept.get(place(packet))?;
        (kept.key == self.key(packet, snap)).then(|| &kept.bytes[..kept.length])
    }

    /// A packet was written with these bytes.
    #[inline]
    pub(super) fn keep(&mut self, packet: &Packet, snap: usize, bytes: &[u8]) {
        if bytes.len() > MOST {
            return;
        }
        if self.kept.is_empty() {
            let nothing = Kept { key: Key::default(), length: 0, bytes: [0; MOST] };
            self.kept = vec![nothing; PLACES];
        }
        let key = self.key(packet, snap);
        let kept = &mut self.kept[place(packet)];
        (kept.key, kept.length) = (key, bytes.len());
        kept.bytes[..bytes.len()].copy_from_slice(bytes);
    }

    #[inline]
    fn key(&self, packet: &Packet, snap: usize) -> Key {
        let Packet { flow, index, size, route, tuple, way, ecn, header, .. } = *packet;
        Key { begun: self.begun, flow, index, size, snap, route, tuple, way, ecn, header }
    }
}

#[inline]
fn place(packet: &Packet) -> usize {
    let flow = packet.flow.wrapping_mul(0x9e37_79b9) >> 22;
    (packet.index ^ flow ^ (packet.direction() as u32) << 9) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_same_packet_in_the_same_conversation() {
        let mut recent = Recent::default();
        recent.begin();
        let packet = Packet { flow: 3, index: 70, size: 1500, ..Packet::default() };
        assert_eq!(recent.find(&packet, 96), None);
        recent.keep(&packet, 96, &[7; 96]);
        assert_eq!(recent.find(&packet, 96), Some(&[7; 96][..]));
        let others = [
            Packet { index: 71, ..packet },
            Packet { index: 70 + PLACES as u32, ..packet },
            Packet { flow: 4, ..packet },
            Packet { ecn: Ecn::Ce, ..packet },
            Packet { size: 1499, ..packet },
        ];
        assert!(others.iter().all(|other| recent.find(other, 96).is_none()));
        assert_eq!(recent.find(&packet, 80), None);
        recent.begin();
        assert_eq!(recent.find(&packet, 96), None);
        recent.keep(&packet, 200, &[7; 200]);
        assert_eq!(recent.find(&packet, 200), None, "it is too long");
    }
}
