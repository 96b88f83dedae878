//! Receive-buffer memory that arriving segments occupy, as a virtio card's driver allocates it
//! (Linux `drivers/net/virtio_net.c`: `add_recvbuf_mergeable`, `page_to_skb`).
//!
//! The driver cuts fragments of 32 kB into buffers, one per frame. What is left at a fragment's end belongs to its
//! last buffer: of 1,448 bytes each segment takes 1,536, and every 21st of the card 512 more. The card
//! of the receiver has no other frames here than its connection's.

/// Bytes that are cut into buffers (`SKB_FRAG_PAGE_ORDER`).
const FRAGMENT: u64 = 32 << 10;
/// Memory of a segment of this size, and of the head of the buffer that it begins.
const MSS: u64 = 1448;
const SEGMENT: u64 = 1536;
const HEAD: u64 = 1280;

/// Share of its memory that a segment's payload is, in 256ths (`tcp_measure_rcv_mss`).
pub(super) const SHARE: f64 = (MSS * 256 / (SEGMENT + HEAD)) as f64 / 256.0;

/// Memory that segments of a connection occupy.
#[derive(Clone, Copy, Debug)]
pub(super) struct CardMemory {
    segment: u64,
    /// One in `period` segments occupies more memory.
    period: u32,
    rest: u64,
    /// Memory of a buffer's head, however many segments are in it.
    pub head: u64,
}

impl CardMemory {
    /// Memory of segments of `mss` bytes, in proportion to the measured ones.
    pub(super) fn of(mss: u32) -> Self {
        let share = |bytes: u64| (bytes * u64::from(mss)).div_ceil(MSS);
        let segment = share(SEGMENT).clamp(1, FRAGMENT);
        CardMemory {
            segment,
            period: (FRAGMENT / segment) as u32,
            rest: FRAGMENT % segment,
            head: share(HEAD),
        }
    }

    /// Memory of the card's `frame`th one, from 1 on.
    #[inline]
    pub(super) fn segment(&self, frame: u32) -> u64 {
        if frame.is_multiple_of(self.period) { self.segment + self.rest } else { self.segment }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_cut_without_a_rest() {
        for mss in [1448, 536, 8948, 65_000] {
            let memory = CardMemory::of(mss);
            let cut: u64 = (1..=memory.period).map(|frame| memory.segment(frame)).sum();
            assert_eq!(cut, FRAGMENT, "{mss}");
        }
        let memory = CardMemory::of(1448);
        assert_eq!([20, 21, 22, 42].map(|frame| memory.segment(frame)), [1536, 2048, 1536, 2048]);
        assert_eq!(SHARE, 131.0 / 256.0);
    }
}
