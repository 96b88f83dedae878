//! The memory of a send buffer that grows with the window (Linux `tcp_sndbuf_expand`,
//! `sk_stream_is_writeable`).
//!
//! Written data occupies memory until it is acknowledged: its bytes, and a head for each of the
//! kernel's buffers, which hold up to 64 kB of waiting data, or what was sent as one large segment.
//! The limit is made twice the congestion window, counted as if each segment had a buffer of its
//! own, but only when the application waits for room and the window is not full; it never shrinks.
//! The application is woken when a third of the limit is free, and then fills it up.
//!
//! A large segment that ends a buffer does not wait for more data.
//!
//! Deviation: buffers are not merged where neighbours are SACKed, nor split for retransmissions.

use std::collections::VecDeque;

/// The limit before the connection is open (`tcp_wmem[1]`), in bytes.
const FIRST: u64 = 16_384;
/// The largest limit (`tcp_wmem[2]`, usually), in bytes.
const MOST: u64 = 4 << 20;
/// Memory of a buffer beside its payload: its head with room for headers, its descriptors.
const HEAD: u64 = 832;
/// Bytes that one segment's headers, their room and its shared descriptor take; those of `sk_buff`.
const BESIDE: u64 = 192 + 320;
const DESCRIPTOR: u64 = 256;
/// Bytes that the timestamp option takes of a segment.
const TIMESTAMPS: u64 = 12;
/// Bytes of a buffer at most (`GSO_LEGACY_MAX_SIZE` without headers).
const LARGEST: u64 = 65_536 - 193;
/// The window of a receiver before its first update.
const FIRST_WINDOW: u64 = 65_160;
/// Smallest number of segments that the limit allows for (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u32 = 10;

/// Memory limit of a send buffer, and the buffers of sent data.
#[derive(Debug)]
pub(super) struct Memory {
    limit: u64,
    /// Memory of a segment that has a buffer of its own, as the limit counts it.
    per_segment: u64,
    mss: u64,
    /// Bytes in a buffer at most.
    largest: u64,
    /// Stream offsets at which the sent, unacknowledged buffers end.
    sent: VecDeque<u64>,
    /// The same of those waiting to be sent.
    waiting: VecDeque<u64>,
}

/// Stream offsets up to which data has been acknowledged, sent and written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub acked: u64,
    pub cut: u64,
    pub accepted: u64,
}

impl Memory {
    /// State before the connection is open, with segments of `mss` bytes.
    pub(super) fn new(mss: u32) -> Self {
        let segment = u64::from(mss) + TIMESTAMPS + BESIDE;
        let per_segment = segment.next_power_of_two() + DESCRIPTOR;
        let mss = u64::from(mss);
        let (sent, waiting) = (VecDeque::new(), VecDeque::new());
        let mut memory = Memory { limit: FIRST, per_segment, mss, largest: mss, sent, waiting };
        memory.expand(2, LEAST_SEGMENTS);
        memory.fit(FIRST_WINDOW);
        memory
    }

    /// Raises the limit to `windows` windows of `segments` segments.
    pub(super) fn expand(&mut self, windows: u32, segments: u32) {
        let segments = u64::from(segments.max(LEAST_SEGMENTS));
        self.limit = self.limit.max((u64::from(windows) * segments * self.per_segment).min(MOST));
    }

    /// Data up to stream offset `end` was sent; `joined`: in the buffer of the data before it.
    pub(super) fn on_sent(&mut self, end: u64, joined: bool) {
        while self.waiting.front().is_some_and(|&buffer| buffer <= end) {
            self.waiting.pop_front();
        }
        if joined {
            self.sent.pop_back();
        }
        self.sent.push_back(end);
    }

    /// Everything below `end` is acknowledged.
    pub(super) fn on_acked(&mut self, end: u64) {
        while self.sent.front().is_some_and(|&buffer| buffer <= end) {
            self.sent.pop_front();
        }
    }

    /// Limits the buffers that the application writes to what a receiver with this window permits
    /// (`tcp_xmit_size_goal`).
    pub(super) fn fit(&mut self, peer_window: u64) {
        self.largest = LARGEST.min(peer_window / 2) / self.mss * self.mss;
        self.largest = self.largest.max(self.mss);
    }

    /// Memory that `bytes` occupy in the present buffers.
    fn taken(&self, bytes: u64) -> u64 {
        bytes + HEAD * (self.sent.len() + self.waiting.len()) as u64
    }

    /// Bytes in a buffer at most.
    pub(super) fn largest_buffer(&self) -> u64 {
        self.largest
    }

    /// Number of bytes that the limit permits, when `bytes` are present.
    pub(super) fn capacity(&self, bytes: u64) -> u64 {
        bytes + self.limit.saturating_sub(self.taken(bytes))
    }

    /// Whether a waiting application is woken when `bytes` are present.
    pub(super) fn is_writable(&self, bytes: u64) -> bool {
        let taken = self.taken(bytes);
        taken + taken / 2 <= self.limit
    }

    /// The application writes what it has offered, as long as there is memory. Returns the offset
    /// reached.
    pub(super) fn write(&mut self, at: Stream, offered: u64) -> u64 {
        let mut accepted = self.top_up(at, offered);
        while let Some(next) = self.begin(Stream { accepted, ..at }, offered) {
            accepted = next;
        }
        accepted
    }

    /// The application writes the buffer that is sent next: fills up the last one, or begins the
    /// first.
    pub(super) fn write_head(&mut self, at: Stream, offered: u64) -> u64 {
        if self.waiting.is_empty() {
            return self.begin(at, offered).unwrap_or(at.accepted);
        }
        self.top_up(at, offered)
    }

    fn begin(&mut self, at: Stream, offered: u64) -> Option<u64> {
        let begins = at.accepted < offered && self.taken(at.accepted - at.acked) < self.limit;
        begins.then(|| {
            let end = offered.min(at.accepted + self.largest);
            self.waiting.push_back(end);
            end
        })
    }

    fn top_up(&mut self, at: Stream, offered: u64) -> u64 {
        let before = self.waiting.len().checked_sub(2).and_then(|n| self.waiting.get(n).copied());
        let begins = before.unwrap_or(at.cut);
        match self.waiting.back_mut() {
            Some(end) => {
                *end = offered.min((begins + self.largest).max(*end));
                *end
            }
            None => at.accepted,
        }
    }

    /// Whether at most one buffer waits: the next write then goes into the one being sent.
    pub(super) fn has_one_buffer(&self) -> bool {
        self.waiting.len() <= 1
    }

    /// Whether the buffer that is sent from gets no more, and all of it is in the next `bytes`.
    pub(super) fn ends_buffer(&self, at: Stream, bytes: u64) -> bool {
        self.waiting.len() > 1 && self.waiting.front().is_some_and(|&end| end <= at.cut + bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2304 bytes for each of two windows of segments, ten at least.
    #[test]
    fn the_limit_follows_the_largest_window() {
        let mut memory = Memory { limit: 0, ..Memory::new(1448) };
        memory.expand(2, 1);
        assert_eq!(memory.limit, 2 * 10 * 2304);
        memory.expand(3, 100);
        assert_eq!(memory.limit, 3 * 100 * 2304);
        memory.expand(2, 100);
        assert_eq!(memory.limit, 3 * 100 * 2304);
        memory.expand(2, u32::MAX);
        assert_eq!(memory.limit, MOST);
    }

    fn at(acked: u64, cut: u64, accepted: u64) -> Stream {
        Stream { acked, cut, accepted }
    }

    #[test]
    fn sent_buffers_take_memory_until_they_are_acknowledged_whole() {
        let mut memory = Memory::new(1448);
        for (end, joined) in [(1448, false), (2896, true), (4344, false)] {
            memory.on_sent(end, joined);
        }
        assert_eq!(memory.taken(4344), 4344 + 2 * HEAD);
        memory.on_acked(1448);
        assert_eq!(memory.taken(2896), 2896 + 2 * HEAD);
        memory.on_acked(2896);
        assert_eq!(memory.taken(1448), 1448 + HEAD);
    }

    #[test]
    fn the_application_is_woken_when_a_third_is_free() {
        let memory = Memory { limit: 120_000, ..Memory::new(1448) };
        assert!(memory.is_writable(80_000) && !memory.is_writable(80_002));
    }

    #[test]
    fn the_application_fills_whole_buffers() {
        let mut memory = Memory { limit: 120_000, ..Memory::new(1448) };
        memory.fit(u64::from(u32::MAX));
        let whole = 45 * 1448;
        assert_eq!(memory.write(at(0, 0, 0), u64::MAX), 2 * whole);
        assert!(!memory.has_one_buffer());
        assert!(!memory.ends_buffer(at(0, 1448, 2 * whole), whole - 2 * 1448));
        assert!(memory.ends_buffer(at(0, 1448, 2 * whole), whole - 1448));
        memory.on_sent(whole + 1448, false);
        let sent = at(0, whole + 1448, 2 * whole);
        assert!(memory.has_one_buffer() && !memory.ends_buffer(sent, whole));
        assert_eq!(memory.write_head(sent, u64::MAX), 2 * whole + 1448);
        assert_eq!(memory.write_head(sent, 2 * whole + 7), 2 * whole + 7);
    }
}
