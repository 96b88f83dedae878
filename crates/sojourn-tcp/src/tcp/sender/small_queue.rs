//! Small queues: a sender limits its data in the queues of its own host (Linux TSQ,
//! `tcp_small_queue_check`).
//!
//! Data sent that has not left the host is at most two large segments, or what the pacing rate
//! sends in a millisecond (Linux 4.9) or eight (on Wi-Fi since 4.17), or `tcp_limit_output_bytes`.
//! The rest waits in the socket, where it can still be sent later or not at all. On Wi-Fi this
//! limits aggregation.
//!
//! Deviation: Linux counts the memory of sent data, which is more than its bytes (a segment that is
//! not part of a large one takes 2304 or 4352 bytes, depending on the kernel's configured room for
//! headers).

use super::Sender;
use crate::units::Time;

impl Sender {
    /// Whether too much sent data is still in the host.
    #[inline]
    pub(super) fn is_held_back(&self) -> bool {
        self.init.small_queue && self.exceeds_small_queue()
    }

    fn exceeds_small_queue(&self) -> bool {
        let Some((shift, most)) = self.profile.small_queue else { return false };
        let paced = self.pacing_rate().map_or(u64::MAX, |rate| (rate.as_bps() / 8) >> shift);
        let segments = || 2 * u64::from(self.batch_size()) * u64::from(self.init.mss);
        self.below > paced.min(most) && self.below > segments()
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
