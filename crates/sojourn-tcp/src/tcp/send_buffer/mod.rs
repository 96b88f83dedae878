//! The send buffer: bytes that the application has written and the sender has not yet cut into
//! segments.
//!
//! Bytes are accepted while written but unacknowledged data is below the buffer's size; the
//! application is woken when a 64th of the buffer is free, so that few acceptance times need to be
//! remembered.
//!
//! For a stack whose rule is known, the buffer grows as Linux's does ([`Memory`]): the application
//! is woken after all that could be sent was sent, and writes buffers of 64 kB.
//!
//! A buffer without a configured size is Linux's without its maximum: twice the outstanding data,
//! where Linux makes it twice the congestion window (`tcp_sndbuf_expand`; a control may ask for
//! more, as BBR does), and never less than `tcp_wmem[2]` usually is. It thus always holds as much
//! unsent data as outstanding data, and a greedy application fills it.

use std::collections::VecDeque;

use super::profile::Profile;
use super::send_memory::{Memory, Stream};
use crate::spec::BufferSize;
use crate::units::Time;

mod writing;

pub(super) use writing::Wrote;

/// Linux's usual maximum of a send buffer (`tcp_wmem[2]`).
const USUAL: u64 = 4_000_000;
/// Least size of a buffer that is never the limit.
const LEAST: u64 = 4_000_000;
/// Default size in windows, unless the control sets another.
const WINDOWS: u32 = 2;

/// Rule for the size of the buffer.
#[derive(Debug)]
enum Size {
    /// A fixed number of bytes.
    Fixed(u64),
    /// As much unsent data as is outstanding.
    Open,
    /// As in Linux.
    Tuned(Memory),
}

/// A byte stream from the application.
#[derive(Debug)]
pub(super) struct SendBuffer {
    size: Size,
    /// Windows that it holds, if it grows.
    windows: u32,
    /// Bytes the application wants to send in all; `u64::MAX` is endless.
    offered: u64,
    accepted: u64,
    /// Bytes that had been accepted when the application took back what was not cut.
    discarded: u64,
    cut: u64,
    acked: u64,
    closed: bool,
    /// When the bytes that are being cut were accepted, and all bytes accepted up to then.
    accepted_first: (Time, u64),
    /// The same of later ones.
    later: VecDeque<(Time, u64)>,
}

impl SendBuffer {
    /// An empty buffer of this size, for segments of `mss` bytes.
    pub(super) fn new(profile: &Profile, mss: u32, size: BufferSize) -> Self {
        SendBuffer {
            size: match size {
                BufferSize::Auto => Size::Open,
                BufferSize::Bytes(bytes) => Size::Fixed(bytes),
                BufferSize::Stack if profile.tunes_exactly => Size::Tuned(Memory::new(mss)),
                BufferSize::Stack => Size::Fixed(USUAL),
            },
            windows: WINDOWS,
            offered: 0,
            accepted: 0,
            discarded: 0,
            cut: 0,
            acked: 0,
            closed: false,
            accepted_first: (Time::ZERO, 0),
            later: VecDeque::new(),
        }
    }

    /// The application offers more bytes; `u64::MAX` is endless. A buffer that grows takes them when its
    /// application is woken.
    pub(super) fn write(&mut self, now: Time, bytes: u64) {
        if !self.closed {
            self.offered = self.offered.saturating_add(bytes);
            if !matches!(self.size, Size::Tuned(_)) {
                self.accept(now);
            }
        }
    }

    /// No more will be offered.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Discards what has not been cut.
    pub(super) fn truncate(&mut self) {
        self.discarded += self.accepted - self.cut;
        self.offered = self.cut;
        self.accepted = self.cut;
        self.later.clear();
        self.closed = true;
    }

    /// Sets the size in multiples of the outstanding data.
    #[inline]
    pub(super) fn hold(&mut self, windows: Option<u32>) {
        self.windows = windows.unwrap_or(WINDOWS);
    }

    /// Bytes up to segment `una` were acknowledged: room for more.
    #[inline]
    pub(super) fn on_acked(&mut self, now: Time, bytes: u64, una: u32) {
        self.acked += bytes;
        match &mut self.size {
            Size::Tuned(memory) => memory.sent.on_acked(una),
            _ => self.refill(now),
        }
    }

    fn capacity(&self) -> u64 {
        match &self.size {
            Size::Fixed(bytes) => *bytes,
            Size::Open => LEAST.max(u64::from(self.windows) * (self.cut - self.acked)),
            Size::Tuned(memory) => memory.capacity(self.accepted - self.acked),
        }
    }

    /// Bytes that wait to be sent.
    fn unsent(&self) -> u64 {
        self.accepted - self.cut
    }

    /// Wakes the application if there is room enough.
    #[inline]
    fn refill(&mut self, now: Time) {
        if self.is_full() {
            let capacity = self.capacity();
            let room = self.acked.saturating_add(capacity).saturating_sub(self.accepted);
            if room >= (capacity / 64).max(1) {
                self.accept(now);
            }
        }
    }

    fn accept(&mut self, now: Time) {
        let (at, offered) = (self.stream(), self.offered);
        let limit = match &mut self.size {
            Size::Tuned(memory) => memory.write(at, offered),
            _ => self.acked.saturating_add(self.capacity()),
        };
        self.accept_to(now, limit);
    }

    fn accept_to(&mut self, now: Time, limit: u64) {
        let accepted = self.offered.min(limit);
        if accepted > self.accepted {
            self.accepted = accepted;
            self.later.push_back((now, accepted));
        }
    }

    /// The memory of a buffer that grows.
    #[inline]
    pub(super) fn memory(&mut self) -> Option<&mut Memory> {
        if let Size::Tuned(memory) = &mut self.size { Some(memory) } else { None }
    }

    /// Whether what was cut last ends what was written.
    pub(super) fn is_pushed(&self) -> bool {
        match &self.size {
            Size::Tuned(memory) => memory.is_pushed(),
            _ => self.accepted == self.cut,
        }
    }

    /// Whether a buffer that gets no more ends within the next `bytes`.
    pub(super) fn ends_buffer(&self, bytes: u64) -> bool {
        matches!(&self.size, Size::Tuned(memory) if memory.ends_buffer(self.stream(), bytes))
    }

    fn stream(&self) -> Stream {
        Stream { acked: self.acked, cut: self.cut, accepted: self.accepted }
    }

    /// Whether the application waits until the buffer has room.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.accepted < self.offered
    }

    /// Bytes that it would accept at once.
    pub(super) fn room(&self) -> u64 {
        self.acked.saturating_add(self.capacity()).saturating_sub(self.offered)
    }

    /// Payload of the next segment of at most `mss` bytes; zero if nothing is left.
    #[inline]
    pub(super) fn available(&self, mss: u32) -> u32 {
        (self.accepted - self.cut).min(u64::from(mss)) as u32
    }

    /// Whether all that will ever be sent is among the next `bytes`.
    pub(super) fn ends_within(&self, bytes: u64) -> bool {
        self.closed && self.offered - self.cut <= bytes
    }

    /// Removes `bytes` from the front for the segment before `end`, `joined` to those before in a large
    /// segment or not; returns when the first was written.
    #[inline(always)] // once per segment
    pub(super) fn cut(&mut self, now: Time, bytes: u32, end: u32, joined: bool) -> Time {
        while self.accepted_first.1 <= self.cut
            && let Some(next) = self.later.pop_front()
        {
            self.accepted_first = next;
        }
        self.cut += u64::from(bytes);
        match &mut self.size {
            Size::Tuned(memory) => memory.on_sent(self.cut, end, joined),
            Size::Open if self.accepted - self.cut < self.cut - self.acked => self.refill(now),
            _ => {}
        }
        self.accepted_first.0
    }

    /// Bytes accepted from the application, those among them that were discarded later.
    pub(super) fn accepted(&self) -> u64 {
        self.accepted + self.discarded
    }

    /// Bytes offered and not sent yet, whether there is room for them or not.
    pub(super) fn ahead(&self) -> u64 {
        self.offered - self.cut
    }

    /// Bytes acknowledged.
    #[inline]
    pub(super) fn acked(&self) -> u64 {
        self.acked
    }

    /// Whether all that will ever be offered has been acknowledged.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.closed && self.acked >= self.offered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    pub(super) fn buffer(size: BufferSize) -> SendBuffer {
        SendBuffer::new(Profile::named("linux-6").unwrap(), 1448, size)
    }

    #[test]
    fn endless_data_fills_the_buffer_and_waits_in_it() {
        let mut buffer = buffer(BufferSize::Bytes(6400));
        buffer.write(Time::ZERO, u64::MAX);
        assert_eq!(buffer.accepted(), 6400);
        for _ in 0..64 {
            assert_eq!(buffer.cut(Time::ZERO, 100, 0, false), Time::ZERO);
        }
        assert_eq!(buffer.available(100), 0);
        let later = Time::ZERO + Span::from_millis(5);
        buffer.on_acked(later, 100, 0);
        assert_eq!(buffer.available(1000), 100);
        assert_eq!(buffer.cut(later + Span::from_millis(1), 100, 0, false), later);
    }

    /// What an application has written it has written, even if it takes it back.
    #[test]
    fn what_is_discarded_was_accepted() {
        let mut buffer = buffer(BufferSize::Bytes(6400));
        buffer.write(Time::ZERO, u64::MAX);
        buffer.cut(Time::ZERO, 1448, 0, false);
        buffer.truncate();
        assert_eq!(buffer.accepted(), 6400);
        assert_eq!(buffer.available(1448), 0);
        buffer.truncate();
        assert_eq!(buffer.accepted(), 6400);
        buffer.on_acked(Time::ZERO, 1448, 0);
        assert!(buffer.is_complete());
    }

    /// However much is outstanding, as much again is ready to be sent, in few pieces.
    #[test]
    fn a_buffer_without_a_size_never_runs_out() {
        let mut buffer = buffer(BufferSize::Auto);
        buffer.write(Time::ZERO, u64::MAX);
        assert_eq!(buffer.accepted(), LEAST);
        for sent in 1..=100_000_u64 {
            let now = Time::ZERO + Span::from_micros(sent);
            assert_eq!(buffer.available(1448), 1448);
            let waited = now.since(buffer.cut(now, 1448, 0, false));
            assert!(waited > Span::ZERO);
            let unsent = buffer.accepted() - sent * 1448;
            assert!(unsent as f64 >= 0.95 * (sent * 1448) as f64, "{unsent} after {sent} segments");
            assert!(buffer.later.len() < 1000);
        }
        buffer.on_acked(Time::ZERO, 100_000 * 1448, 0);
        assert!(buffer.is_full());
    }

    #[test]
    fn a_control_says_how_many_windows_are_held() {
        for (windows, held) in [(None, 2.0), (Some(3), 3.0)] {
            let mut buffer = buffer(BufferSize::Auto);
            buffer.hold(windows);
            buffer.write(Time::ZERO, u64::MAX);
            (0..10_000).for_each(|_| _ = buffer.cut(Time::ZERO, 1448, 0, false));
            buffer.on_acked(Time::ZERO, 1448, 0);
            let outstanding = f64::from(9_999 * 1448);
            let share = (buffer.accepted() - 1448) as f64 / outstanding;
            assert!((share - held).abs() < 0.02 * held, "{windows:?}: {share}");
        }
    }

    #[test]
    fn a_transfer_completes_when_all_is_acknowledged() {
        let mut buffer = buffer(BufferSize::Auto);
        buffer.write(Time::ZERO, 2000);
        buffer.close();
        assert_eq!(
            (buffer.available(1448), buffer.cut(Time::ZERO, 1448, 0, false)),
            (1448, Time::ZERO)
        );
        assert_eq!(buffer.available(1448), 552);
        buffer.cut(Time::ZERO, 552, 0, false);
        buffer.on_acked(Time::ZERO, 1448, 0);
        assert!(!buffer.is_complete());
        buffer.on_acked(Time::ZERO, 552, 0);
        assert!(buffer.is_complete());
    }
}
