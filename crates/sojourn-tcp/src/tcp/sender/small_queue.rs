//! Small queues: a sender limits its data in the queues of its own host (Linux TSQ,
//! `tcp_small_queue_check`).
//!
//! Data sent that has not left the host is at most two large segments, or what the pacing rate
//! sends in a millisecond (Linux 4.9) or eight (on Wi-Fi since 4.17), or `tcp_limit_output_bytes`.
//! The rest waits in the socket, where it can still be sent later or not at all. On Wi-Fi this
//! limits aggregation.
//!
//! Elsewhere the host's card takes what is sent at once, and data in its ring does not count. Only
//! what finds the ring full does, in a burst of more than a hundred packets ([`Host`]): then the host
//! does all else first, such as letting the application write, of which nothing goes before what
//! waits.
//!
//! Deviations: what is sent again takes no place in the ring. On Wi-Fi, Linux counts the memory of
//! sent data, which is more than its bytes (a segment that is not part of a large one takes 2304 or
//! 4352 bytes, depending on the kernel's configured room for headers).

use super::Sender;
use crate::tcp::send_memory::HEAD;
use crate::units::Time;

/// What pacing sends in this part of a second, a millisecond, may be in a host (`sk_pacing_shift`).
const SHIFT: u32 = 10;
/// Packets in the ring of a card at most: 256 descriptors, of which 19 remain free (`MAX_SKB_FRAGS`
/// and 2); two for each packet, and one more where its data goes from one piece of 32 kB to the next.
const RING: u32 = 117;

/// What a stretch of sending has left in a host whose network is never busy: its card is emptied as
/// soon as the host is idle, at the same instant (Linux `drivers/net/virtio_net.c` with `napi_tx=0`,
/// `check_sq_full_and_disable`; `arch/um/drivers/virtio_uml.c`, `MAX_SUPPORTED_QUEUE_SIZE`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Host {
    /// Packets in the card's ring, and behind it.
    packets: u32,
    /// Memory of those behind it. What is in the ring does not count any more (`skb_orphan`).
    behind: u64,
}

impl Host {
    /// A large segment of `segments` goes there; one that is partly in the ring has been cut into
    /// packets.
    pub(super) fn take(&mut self, segments: u32, mss: u32) {
        let room = RING.saturating_sub(self.packets);
        self.behind += match segments.saturating_sub(room) {
            0 => 0,
            all if all == segments => memory(segments, mss),
            rest => u64::from(rest) * memory(1, mss),
        };
        self.packets += segments;
    }

    /// The card is emptied: what was behind its ring enters it.
    pub(super) fn empty_card(&mut self) {
        self.packets = self.packets.saturating_sub(RING);
        self.behind = 0;
    }
}

/// Memory of a large segment.
fn memory(segments: u32, mss: u32) -> u64 {
    HEAD + u64::from(segments) * u64::from(mss)
}

impl Sender {
    /// Whether too much sent data is still in the host.
    #[inline]
    pub(super) fn is_held_back(&self) -> bool {
        self.init.small_queue && self.exceeds_small_queue()
    }

    #[inline(never)] // few flows have one
    fn exceeds_small_queue(&self) -> bool {
        let Some((shift, most)) = self.profile.small_queue else { return false };
        let paced = self.paced_in(shift);
        let segments = || 2 * u64::from(self.batch_size()) * u64::from(self.init.mss);
        self.below > paced.min(most) && self.below > segments()
    }

    /// Bytes that the rate of pacing sends in a second halved `halvings` times.
    fn paced_in(&self, halvings: u32) -> u64 {
        self.pacing_rate().map_or(u64::MAX, |rate| (rate.as_bps() / 8) >> halvings)
    }

    /// Whether a large segment of `segments` waits until the host is idle, which has too much behind
    /// its card.
    pub(super) fn waits_for_card(&self, segments: u32) -> bool {
        let behind = self.burst.host.behind;
        if behind == 0 || self.init.small_queue || !self.app.grows() {
            return false;
        }
        behind >= self.paced_in(SHIFT).max(2 * memory(segments, self.init.mss))
    }

    /// The receiver at its end sends `bytes`, of whose departure it will be told as well.
    pub(in crate::tcp) fn shares_queue(&mut self, bytes: u32) {
        self.below += u64::from(bytes);
    }

    /// `bytes` have left the host.
    pub(super) fn on_left(&mut self, _now: Time, bytes: u32) {
        self.below = self.below.saturating_sub(u64::from(bytes));
        self.burst.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What counts is behind the ring: there a large segment is one buffer, the one across its end
    /// packets.
    #[test]
    fn only_what_the_ring_has_no_room_for_counts() {
        let mut host = Host::default();
        let mut behind = |segments| {
            host.take(segments, 1448);
            host.behind
        };
        assert_eq!((behind(100), behind(RING - 100)), (0, 0));
        assert_eq!(behind(24), HEAD + 24 * 1448);
        host.empty_card();
        assert_eq!((host.packets, host.behind), (24, 0));
        host.take(RING - 24 + 3, 1448);
        assert_eq!(host.behind, 3 * (HEAD + 1448));
    }
}
