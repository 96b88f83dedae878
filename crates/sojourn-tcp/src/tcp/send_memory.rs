//! The memory of a send buffer that grows with the window (Linux `tcp_sndbuf_expand`,
//! `sk_stream_is_writeable`).
//!
//! Written data occupies memory until it is acknowledged: its bytes, and a head for each of the
//! kernel's buffers, which hold up to 64 kB of waiting data, or what was sent as one large segment.
//! The limit is made twice the congestion window, counted as if each segment had a buffer of its
//! own, but only when the application waits for room and the window is not full; it never shrinks.
//! The application is woken when a third of the limit is free, and then fills it up.
//!
//! A large segment that ends a buffer does not wait for more data. Before it is sent, the buffer is filled up
//! from the one behind it, to the largest segment that the congestion window allows (`tcp_grow_skb`).
//!
//! The last buffer has PSH when the application stops writing (`tcp_push`), until it gets more, and after
//! each half of the receiver's largest window that is written at a stretch (`forced_push`).

use std::collections::VecDeque;

use super::sent_buffers::SentBuffers;

/// The limit before the connection is open (`tcp_wmem[1]`), in bytes.
const FIRST: u64 = 16_384;
/// The largest limit (`tcp_wmem[2]`, usually), in bytes.
const MOST: u64 = 4 << 20;
/// Memory of a buffer beside its payload: its head with room for headers, its descriptors.
pub(super) const HEAD: u64 = 832;
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
    /// Bytes in a buffer at most, and the largest window of the receiver so far, which decides that.
    largest: u64,
    widest: u64,
    /// The sent, unacknowledged buffers.
    pub sent: SentBuffers,
    /// Those waiting to be sent.
    waiting: VecDeque<Waiting>,
    /// Stream offset of what was sent, and whether that ends a buffer with PSH.
    cut: u64,
    pushed: bool,
    /// Up to where it was written when a buffer last got PSH (`pushed_seq`).
    marked: u64,
}

/// A buffer that waits to be sent: the stream offset at its end, and whether it has PSH.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    end: u64,
    is_pushed: bool,
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
        let (sent, waiting) = (SentBuffers::new(1), VecDeque::new());
        let mut memory = Memory {
            limit: FIRST,
            per_segment,
            mss,
            largest: mss,
            widest: 0,
            sent,
            waiting,
            cut: 0,
            pushed: false,
            marked: 0,
        };
        memory.expand(2, LEAST_SEGMENTS);
        memory.fit(FIRST_WINDOW);
        memory
    }

    /// Raises the limit to `windows` windows of `segments` segments.
    pub(super) fn expand(&mut self, windows: u32, segments: u32) {
        let segments = u64::from(segments.max(LEAST_SEGMENTS));
        self.limit = self.limit.max((u64::from(windows) * segments * self.per_segment).min(MOST));
    }

    /// Data up to stream offset `cut` was sent, with the segment before `end`; `joined`: in the buffer of
    /// the one before it.
    pub(super) fn on_sent(&mut self, cut: u64, end: u32, joined: bool) {
        self.cut = cut;
        self.pushed = false;
        while let Some(buffer) = self.waiting.front().filter(|buffer| buffer.end <= cut) {
            self.pushed |= buffer.is_pushed;
            self.waiting.pop_front();
        }
        self.sent.push(end, joined);
    }

    /// Whether the segment sent last has PSH.
    pub(super) fn is_pushed(&self) -> bool {
        self.pushed
    }

    /// Limits the buffers that the application writes to what a receiver permits whose largest window is
    /// this or was an earlier one (`tcp_xmit_size_goal`, `max_window`).
    pub(super) fn fit(&mut self, peer_window: u64) {
        self.widest = self.widest.max(peer_window);
        self.largest = LARGEST.min(self.widest / 2) / self.mss * self.mss;
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

    /// Whether the application may write more when `bytes` are present.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.taken(bytes) < self.limit
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
            self.is_forced(accepted);
        }
        self.mark(accepted);
        accepted
    }

    /// Gives the last buffer PSH, up to whose end it was written.
    pub(super) fn mark(&mut self, accepted: u64) {
        if let Some(last) = self.waiting.back_mut() {
            last.is_pushed = true;
            self.marked = accepted;
        }
    }

    /// Whether so much was written since a buffer last got PSH that the last one gets it now, and all
    /// that can be is sent (Linux `forced_push`).
    pub(super) fn is_forced(&mut self, accepted: u64) -> bool {
        let forced = accepted > self.marked + self.widest / 2;
        if forced {
            self.mark(accepted);
        }
        forced
    }

    /// The application writes the buffer that is sent next: fills up the last one, or begins the
    /// first.
    pub(super) fn write_head(&mut self, at: Stream, offered: u64) -> u64 {
        if self.waiting.is_empty() {
            return self.begin(at, offered).unwrap_or(at.accepted);
        }
        self.top_up(at, offered)
    }

    /// Whether one buffer waits, of which so much was cut, that takes no more.
    pub(super) fn waits_full(&self, cut: u64) -> bool {
        self.waiting.len() == 1 && self.waiting[0].end >= cut + self.largest
    }

    fn begin(&mut self, at: Stream, offered: u64) -> Option<u64> {
        let begins = at.accepted < offered && self.has_room(at.accepted - at.acked);
        begins.then(|| {
            let end = offered.min(at.accepted + self.largest);
            self.waiting.push_back(Waiting { end, is_pushed: false });
            end
        })
    }

    fn top_up(&mut self, at: Stream, offered: u64) -> u64 {
        let before = self.waiting.len().checked_sub(2).map(|before| self.waiting[before].end);
        let begins = before.unwrap_or(at.cut);
        let Some(last) = self.waiting.back_mut() else { return at.accepted };
        let end = offered.min((begins + self.largest).max(last.end));
        last.is_pushed &= end == last.end;
        last.end = end;
        end
    }

    /// Whether at most one buffer waits: the next write then goes into the one being sent.
    pub(super) fn has_one_buffer(&self) -> bool {
        self.waiting.len() <= 1
    }

    /// Gives the buffer that is sent from the next `bytes`, as far as the one behind it has them.
    pub(super) fn fill_head(&mut self, bytes: u64) {
        let end = self.cut + bytes;
        let Some(next) = self.waiting.get(1).copied() else { return };
        let head = &mut self.waiting[0];
        if end >= next.end {
            let is_pushed = head.is_pushed | next.is_pushed;
            self.waiting.pop_front();
            self.waiting[0].is_pushed = is_pushed;
        } else {
            head.end = head.end.max(end);
        }
    }

    /// Makes the next `bytes` a buffer of their own, which are about to be sent (`tso_fragment`).
    pub(super) fn split_head(&mut self, bytes: u64) {
        let end = self.cut + bytes;
        if self.waiting.front().is_some_and(|head| head.end > end) {
            self.waiting.push_front(Waiting { end, is_pushed: false });
        }
    }

    /// Whether the buffer that is sent from gets no more, and all of it is in the next `bytes`.
    pub(super) fn ends_buffer(&self, at: Stream, bytes: u64) -> bool {
        self.waiting.len() > 1
            && self.waiting.front().is_some_and(|head| head.end <= at.cut + bytes)
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
        for (seq, joined) in [(2, false), (3, true), (4, false)] {
            memory.on_sent(1448 * u64::from(seq - 1), seq, joined);
        }
        assert_eq!(memory.taken(4344), 4344 + 2 * HEAD);
        memory.sent.on_acked(2);
        assert_eq!(memory.taken(2896), 2896 + 2 * HEAD);
        memory.sent.on_acked(3);
        assert_eq!(memory.taken(1448), 1448 + HEAD);
    }

    #[test]
    fn the_application_is_woken_when_a_third_is_free() {
        let memory = Memory { limit: 120_000, ..Memory::new(1448) };
        assert!(memory.is_writable(80_000) && !memory.is_writable(80_002));
    }

    /// Linux `tcp_grow_skb`: the next buffer's data does not make a large segment end a buffer.
    #[test]
    fn the_buffer_that_is_sent_from_is_filled_from_the_next() {
        let mut memory = Memory { limit: 120_000, ..Memory::new(1448) };
        memory.fit(u64::from(u32::MAX));
        let whole = 45 * 1448;
        let end = memory.write(at(0, 0, 0), u64::MAX);
        memory.on_sent(whole - 1448, 45, false);
        let sent = at(0, whole - 1448, end);
        assert!(memory.ends_buffer(sent, 2 * 1448));
        memory.fill_head(3 * 1448);
        assert!(!memory.ends_buffer(sent, 2 * 1448) && memory.ends_buffer(sent, 3 * 1448));
        memory.fill_head(end);
        assert!(memory.has_one_buffer() && memory.taken(end) == end + 2 * HEAD);
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
        memory.on_sent(whole + 1448, 47, false);
        let sent = at(0, whole + 1448, 2 * whole);
        assert!(memory.has_one_buffer() && !memory.ends_buffer(sent, whole));
        assert_eq!(memory.write_head(sent, u64::MAX), 2 * whole + 1448);
        assert_eq!(memory.write_head(sent, 2 * whole + 7), 2 * whole + 7);
    }

    /// Linux `forced_push`: of buffers of half the largest window every second one.
    #[test]
    fn what_is_written_at_a_stretch_has_psh_now_and_then() {
        let mut memory = Memory { limit: 1 << 20, ..Memory::new(1448) };
        let largest = memory.largest_buffer();
        memory.write(at(0, 0, 0), 6 * largest + 1448);
        let pushed: Vec<bool> = memory.waiting.iter().map(|buffer| buffer.is_pushed).collect();
        assert_eq!(pushed, [false, true, false, true, false, true, true]);
    }

    /// Linux `tcp_push`, `tcp_sendmsg_locked`: what was written last has PSH unless more joins it.
    #[test]
    fn the_end_of_what_was_written_has_psh() {
        let mut memory = Memory { limit: 60_000, ..Memory::new(1448) };
        memory.fit(u64::from(u32::MAX));
        assert_eq!(memory.write(at(0, 0, 0), 3 * 1448), 3 * 1448);
        memory.on_sent(1448, 2, false);
        assert!(!memory.is_pushed());
        assert_eq!(memory.write(at(0, 1448, 3 * 1448), 4 * 1448), 4 * 1448);
        memory.on_sent(3 * 1448, 4, false);
        assert!(!memory.is_pushed(), "it has got more");
        memory.on_sent(4 * 1448, 5, false);
        assert!(memory.is_pushed());
    }
}
