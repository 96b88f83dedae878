//! Bytes of the packets in the network.
//!
//! The network does not report drops, and copies packets that it duplicates. So bytes are stored in
//! a ring and overwritten when the ring wraps; a packet that waited longer is lost, which is
//! counted and makes a run invalid.

/// Capacity in packets: at 12,500 packets per second, ten seconds.
const KEPT: usize = 1 << 17;

/// A ring of packets.
#[derive(Debug, Default)]
pub(crate) struct Store {
    slots: Vec<Vec<u8>>,
    /// Number of packets stored so far.
    next: u32,
}

impl Store {
    /// Stores a packet; returns its handle.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> u32 {
        let handle = self.next;
        self.next = self.next.wrapping_add(1);
        let slot = handle as usize % KEPT;
        if slot == self.slots.len() {
            self.slots.push(Vec::new());
        }
        let kept = &mut self.slots[slot];
        kept.clear();
        kept.extend_from_slice(bytes);
        handle
    }

    /// The bytes of a packet, unless they have been overwritten.
    pub(crate) fn get(&mut self, handle: u32) -> Option<&mut Vec<u8>> {
        let age = self.next.wrapping_sub(handle) as usize;
        if age > KEPT { None } else { self.slots.get_mut(handle as usize % KEPT) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_written_over() {
        let mut store = Store::default();
        let first = store.keep(b"first");
        assert_eq!(store.get(first).unwrap(), b"first");
        for _ in 1..KEPT {
            store.keep(b"other");
        }
        assert_eq!(store.get(first).unwrap(), b"first");
        store.keep(b"one more");
        assert!(store.get(first).is_none());
    }
}
